"""The line through networks, residuals and the Pareto front, by hand."""

from __future__ import annotations

import msgspec
import pytest

from hettop.report.page import Items
from hettop.studies.embench.findings import accuracy_front, best_rates, embench_result, expected_ms, time_fit
from hettop.studies.embench.page import blocks, headline
from hettop.studies.embench.result import EmBenchResult, NetRow, OpShares


def row(network: str, macs_g: float, ms: float | None, *, batch: int = 1, top1: float | None = None) -> NetRow:
    return NetRow(
        network=network,
        batch=batch,
        unit="CPU_ONLY",
        macs=round(macs_g * 1e9),
        n=0 if ms is None else 5,
        min_ms=ms,
        items_per_s=None if ms is None else 1e3 * batch / ms,
        top1_percent=top1,
        error="out of memory" if ms is None else None,
    )


def test_times_on_a_power_law_give_it_back() -> None:
    """8 ms at 1 G, 4 ms at a quarter of it, 16 ms at four times: t = 8 MACs^0.5."""
    fit = time_fit([row("a", 0.25, 4), row("b", 1, 8), row("c", 4, 16)])
    assert fit is not None
    assert [fit.exponent, fit.factor_ms, fit.r2] == pytest.approx([0.5, 8, 1])
    assert expected_ms(fit, 16 * 10**9) == pytest.approx(32)


def test_the_network_farthest_off_the_line_is_named_with_its_factor() -> None:
    """In powers of two: times 0, 0, 3, 0 at work 0, 1, 2, 3: slope 0.3, intercept 0.3, so c is 2.1 above, 2^2.1."""
    rows = [row("a", 1, 1), row("b", 2, 1), row("c", 4, 8), row("d", 8, 1)]
    fit = time_fit(rows)
    assert fit is not None
    assert fit.exponent == pytest.approx(0.3)
    assert fit.worst == "c"
    assert fit.worst_factor == pytest.approx(2**2.1)
    # Off by -0.3, -0.6, 2.1, -1.2: squares 6.3; about the mean of 0.75: 6.75.
    assert fit.r2 == pytest.approx(1 - 6.3 / 6.75)
    residuals = [each.residual for each in embench_result(rows, []).rows]
    assert residuals == pytest.approx([2**-0.3, 2**-0.6, 2**2.1, 2**-1.2])
    assert "c is 4.3 times slower than its MACs suggest" in headline(msgspec.structs.replace(fit, r2=0.5))


def test_a_line_that_does_not_fit_is_not_reported_as_growth() -> None:
    falling, flat = (
        time_fit([row("a", 1, 4), row("b", 2, 2), row("c", 4, 1)]),
        time_fit([row("a", 1, 1), row("b", 2, 8), row("c", 4, 2)]),
    )
    assert falling is not None
    assert flat is not None
    wanted = "CPU_ONLY: over 3 networks no line of time against MACs fits (MACs^-1.00, R² 1.00)"
    assert headline(falling) == wanted
    # In powers of two: 0, 3, 1 at 0, 1, 2: slope 0.5; squares about the mean 14/3, of it explained 0.5.
    assert flat.r2 == pytest.approx(0.5 / (14 / 3))
    assert "no line of time against MACs fits (MACs^0.50, R² 0.11)" in headline(flat)


def test_no_line_through_two_networks_and_none_of_larger_batches() -> None:
    assert time_fit([row("a", 1, 1), row("b", 2, 2), row("c", 4, 4, batch=2), row("d", 4, None)]) is None
    assert embench_result([row("c", 4, 4, batch=2)], []).rows[0].residual is None


def test_the_best_rate_of_a_network_is_over_its_batches() -> None:
    rows = [row("a", 1, 10, batch=1), row("a", 1, 25, batch=4), row("a", 1, None, batch=8), row("b", 1, None)]
    assert [(each.network, each.batch, each.items_per_s) for each in best_rates(rows)] == [("a", 4, 160.0)]


def test_the_front_has_what_no_other_beats_in_accuracy_and_rate() -> None:
    rows = [
        row("fast", 1, 2, top1=50.0),
        row("good", 1, 20, top1=80.0),
        row("between", 1, 10, top1=70.0),
        row("beaten", 1, 11, top1=69.0),
        row("unknown", 1, 1),
    ]
    assert accuracy_front(rows) == ["fast", "between", "good"]


def test_the_page_has_the_four_figures_and_survives_failures() -> None:
    rows = [row("a", 0.25, 4, top1=50.0), row("b", 1, 8, top1=60.0), row("c", 4, 16), row("c", 4, None, batch=2)]
    rows += [row("a", 0.25, 10, batch=4, top1=50.0)]
    result = embench_result(rows, [OpShares(network="a", unit="CPU_ONLY", by_op={"Conv": 0.9, "Gemm": 0.1})])
    shown = list(blocks(result))
    captions = [block.caption for block in shown if hasattr(block, "caption")]
    assert captions == [
        "Shortest call against MACs, batch 1.",
        "Items per second by batch.",
        "CPU_ONLY: published accuracy against rate. On the Pareto front: a, b.",
    ]
    tables = [block for block in shown if hasattr(block, "rows")]
    assert tables[0].rows == [("a", "CPU_ONLY", "Conv 90%, Gemm 10%")]
    assert tables[1].rows[3][-1] == "out of memory"
    (items,) = [block for block in shown if isinstance(block, Items)]
    assert "no published top-1 accuracy, so not in the figure of accuracy: c" in items.texts
    assert list(blocks(EmBenchResult()))


def test_a_result_survives_a_recording_and_a_document() -> None:
    result = embench_result([row("a", 0.25, 4), row("b", 1, 8), row("c", 4, 16), row("d", 4, None)], [])
    assert EmBenchResult.from_document(result.document()) == result
    assert EmBenchResult.from_line(result.line()).rows[3].error == "out of memory"
    assert result.failures() == {"d b1 CPU_ONLY": "out of memory"}
