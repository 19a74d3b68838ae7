"""Power of the blocks in which all units worked, while blocks and power samples come in, in whatever order."""

from __future__ import annotations

import pytest

from hettop.events import Power, PowerStatus
from hettop.studies.coexec.measure import TogetherPower
from hettop.studies.coexec.run_totals import MOST_BLOCKS

S = 10**9


def power(end_s: float, mw: float, source: str = "rapl") -> Power:
    return Power(t=round(end_s * S), source=source, elapsed_ns=S // 2, mw={"package": mw})


def block(since_s: float) -> tuple[int, int]:
    return round(since_s * S), round((since_s + 2) * S)


def test_a_sample_that_comes_before_word_of_its_block_waits_for_it() -> None:
    spent = TogetherPower()
    spent.take(power(11, 10_000))
    assert spent.energy(100.0).mj is None
    spent.block([block(10)])
    assert spent.energy(100.0).mj == pytest.approx(100)


def test_a_sample_that_comes_after_it_counts_too_and_none_counts_twice() -> None:
    """10 and 20 W: 15 W at 100 a second are 150 mJ."""
    spent = TogetherPower()
    spent.block([block(10), block(20)])
    spent.take(power(11, 10_000))
    spent.block([block(10), block(20)])
    spent.take(power(21, 20_000))
    assert spent.energy(100.0).mj == pytest.approx(150)
    assert spent.energy(100.0).mw == pytest.approx(15_000)


def test_hours_of_blocks_and_samples_are_summed_up_and_forgotten() -> None:
    """Each block has one sample of its own power: 1, 2, 3 … 1,000 W, 500.5 W in the mean."""
    spent = TogetherPower()
    for i in range(1_000):
        spent.take(power(10 * i + 1, 1_000.0 * (i + 1)))
        spent.take(power(10 * i + 5, 9e9))  # between two blocks
        spent.block([block(10 * max(0, i - 1)), block(10 * i)])
    assert spent.energy(1_000.0).mj == pytest.approx(500.5)
    assert MOST_BLOCKS < 1_000


def test_without_a_rate_there_is_no_energy() -> None:
    spent = TogetherPower()
    spent.block([block(10)])
    spent.take(power(11, 10_000))
    assert spent.energy(None).mj is None


def test_the_last_reason_of_a_source_is_reported() -> None:
    spent = TogetherPower()
    for reason in ("one", "", "another"):
        spent.take(PowerStatus(t=0, source="rapl", state="failed", reason=reason))
    assert spent.energy(1.0).why == "another"
