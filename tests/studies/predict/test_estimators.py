"""Lines through work and time, by hand and against another solver."""

from __future__ import annotations

import numpy as np
import pytest

from hettop.studies.predict.estimators import ANY, Work, fit_line, fit_types, predict, unseen_share

G = 10**9


def test_times_on_a_line_give_it_back() -> None:
    """t = 0.5 ms + 10 ms a GMAC + 40 ms a GB."""
    works = [Work("Conv", m * G, n * G, 0.5 + 10 * m + 40 * n) for m, n in ((1, 1), (2, 1), (1, 3), (5, 2))]
    line = fit_line(works)
    assert [line.a_ms, line.b_ms, line.c_ms, line.n] == pytest.approx([0.5, 10, 40, 4])
    assert line.of(Work("Conv", 3 * G, G // 2, 0)) == pytest.approx(50.5)


def test_bytes_can_be_left_out() -> None:
    """1, 2 and 6 ms at 0, 1 and 2 GMACs: slope 2.5 and intercept 0.5 by least squares."""
    works = [Work("", m * G, (7 - m) * G, ms) for m, ms in ((0, 1.0), (1, 2.0), (2, 6.0))]
    line = fit_line(works, by_bytes=False)
    assert [line.a_ms, line.b_ms, line.c_ms] == pytest.approx([0.5, 2.5, 0])


def test_no_coefficient_is_below_zero() -> None:
    """Times that fall with the work: the mean is the best constant; a negative intercept becomes none."""
    falling = fit_line([Work("", m * G, 0, ms) for m, ms in ((1, 9.0), (2, 6.0), (3, 3.0))])
    assert [falling.a_ms, falling.b_ms, falling.c_ms] == pytest.approx([6, 0, 0])
    steep = fit_line([Work("", m * G, 0, ms) for m, ms in ((1, 1.0), (2, 4.0))])
    # Through the origin: (1 x 1 + 2 x 4) / (1 + 4).
    assert [steep.a_ms, steep.b_ms] == pytest.approx([0, 1.8])


def test_it_is_the_solution_of_lawson_and_hanson() -> None:
    optimize = pytest.importorskip("scipy.optimize")
    for seed in range(200):
        rng = np.random.default_rng(seed)
        values = rng.lognormal(0, 2, (6, 2))
        times = rng.normal(2, 2, 6)
        works = [Work("", round(m * G), round(n * G), float(t)) for (m, n), t in zip(values, times, strict=True)]
        columns = np.array([[1.0, work.macs / G, work.nbytes / G] for work in works])
        wanted, _ = optimize.nnls(columns, times)
        line = fit_line(works)
        assert [line.a_ms, line.b_ms, line.c_ms] == pytest.approx(wanted.tolist(), rel=1e-5, abs=1e-6), seed


def test_each_type_has_its_line_and_others_that_of_all() -> None:
    works = [Work("Conv", G, 0, 10.0), Work("Conv", 2 * G, 0, 20.0), Work("Relu", 0, G, 4.0)]
    lines = fit_types(works)
    assert set(lines) == {ANY, "Conv", "Relu"}
    assert lines["Conv"].n == 2
    of_all = lines[ANY].of(Work("Gemm", G, 0, 0))
    assert predict(lines, [Work("Conv", 3 * G, 0, 0), Work("Relu", 0, G, 0), Work("Gemm", G, 0, 0)]) == pytest.approx(
        34 + of_all
    )
    assert unseen_share(lines, [Work("Gemm", 0, 0, 0), Work("Conv", 0, 0, 0)]) == 0.5


def test_without_times_there_is_no_line() -> None:
    with pytest.raises(ValueError, match="at least one"):
        fit_line([])
    assert fit_line([Work("", 0, 0, 3.0)]).of(Work("", 5, 5, 0)) == pytest.approx(3)
