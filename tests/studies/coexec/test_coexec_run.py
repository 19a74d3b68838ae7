"""A whole co-execution on a driven clock: gain and shares of units that sleep, order, deaths, hangs, interrupts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hettop.errors import HettopError
from hettop.processes.interruptions import STOPPED, Interruption
from hettop.sources.engine.watchdog import Timeouts
from hettop.studies.coexec.dispatch import CoexecRun
from hettop.studies.coexec.messages import CoexecJob, CoexecProgress, Work
from hettop.studies.coexec.rates import Result
from tests.clocks import FakeClock
from tests.studies.coexec.crews import MS, SleepingCrew

WORK = Work(backend="sleeping", model="none")
SECOND = 1_000 * MS


def run(latencies: dict[str, Any], *, duration: int | None = 6 * SECOND, depth: int = 64, **how: Any) -> Result:
    result, _ = run_on(latencies, duration=duration, depth=depth, **how)
    return result


def run_on(
    latencies: dict[str, Any],
    *,
    duration: int | None = 6 * SECOND,
    depth: int = 64,
    tell: Callable[[CoexecProgress], None] = lambda _: None,
    **how: Any,
) -> tuple[Result, SleepingCrew]:
    clock = FakeClock()
    crew = SleepingCrew(latencies, clock, **how)
    job = CoexecJob(units=tuple(latencies), work=WORK, duration_ns=duration, depth=depth)
    return CoexecRun(job, crew, clock, timeouts=Timeouts(load_s=5, predict_s=5), tell=tell).run(), crew


def test_sleeping_units_together_reach_the_sum_of_their_rates() -> None:
    """4, 2 and 1 ms are 250, 500 and 1,000 a second: 1,750 together, three quarters more than the best."""
    result = run({"A": 4 * MS, "B": 2 * MS, "C": MS})
    assert [unit.alone_per_s for unit in result.units] == pytest.approx([250, 500, 1000], rel=0.01)
    assert result.of_ideal == pytest.approx(1, abs=0.02)
    assert result.gain == pytest.approx(0.75, abs=0.03)
    assert [unit.share for unit in result.units] == pytest.approx([1 / 7, 2 / 7, 4 / 7], abs=0.01)
    assert result.in_order
    assert result.rounds
    assert result.gain_by_round


def test_units_of_very_different_speed_reach_it_too() -> None:
    result = run({"slow": 40 * MS, "fast": MS})
    assert result.of_ideal is not None
    assert result.of_ideal >= 0.9
    assert result.in_order
    assert result.max_reorder <= 63


def test_a_unit_with_rare_long_calls_keeps_the_order_and_has_its_waiting_number_stolen() -> None:
    result = run({"spiky": lambda call: 100 * MS if call % 50 == 0 else MS, "steady": MS}, depth=16)
    assert result.in_order
    assert result.steals > 0
    assert result.max_reorder == 15  # the buffer was full: 15 waited for the oldest of 16


def test_a_buffer_without_room_costs_what_it_holds_up() -> None:
    """With room for two numbers, the fast unit waits for the slow one after each."""
    narrow, wide = run({"A": 4 * MS, "B": MS}, depth=2), run({"A": 4 * MS, "B": MS}, depth=64)
    assert narrow.of_ideal is not None
    assert wide.of_ideal is not None
    assert narrow.of_ideal < 0.6 < 0.95 < wide.of_ideal


def test_the_latency_counts_from_handing_out_to_leaving_in_order() -> None:
    """Two at once in a worker of 1 ms: each waits one call and is served one, 2 ms and little more."""
    result = run({"A": MS, "B": MS})
    assert result.p90_ms == pytest.approx(2.05, abs=0.1)
    assert result.latencies > 1_000


def test_a_dead_unit_has_its_work_done_by_the_others_in_order() -> None:
    result, crew = run_on({"A": 2 * MS, "B": MS}, dies={"B": 400})
    a, b = result.units
    assert b.error is not None
    assert "SIGKILL" in b.error.message
    assert b.redone == 2 == result.redone
    assert a.error is None
    assert result.in_order
    assert sorted(crew.done["A"] + crew.done["B"]) == list(range(result.delivered))


def test_a_unit_that_hangs_is_killed_and_taken_for_dead() -> None:
    result, crew = run_on({"A": 2 * MS, "B": MS}, hangs={"B": 400})
    assert crew.killed == ["B"]
    assert result.units[1].error is not None
    assert "hung running" in result.units[1].error.message
    assert result.in_order


def test_a_block_during_which_the_process_was_stopped_runs_again_and_no_silence_is_a_hang() -> None:
    """Stopped for 8 s in the second block; a worker that says nothing for 5 s would be taken for hung."""
    clock = FakeClock()
    crew = SleepingCrew({"A": 2 * MS, "B": MS}, clock)
    begin, stops = clock.now(), list[int]()

    def interruption() -> Interruption | None:
        if stops or clock.now() < begin + SECOND:
            return None
        stops.append(clock.now())
        clock.moment += 8 * SECOND
        return Interruption(STOPPED)

    job = CoexecJob(units=("A", "B"), work=WORK, duration_ns=6 * SECOND, depth=64)
    timeouts = Timeouts(load_s=5, predict_s=5)
    result = CoexecRun(job, crew, clock, timeouts=timeouts, interruption=interruption).run()
    assert len(stops) == 1
    assert crew.killed == []
    assert [unit.alone_per_s for unit in result.units] == pytest.approx([500, 1000], rel=0.01)
    assert result.of_ideal == pytest.approx(1, abs=0.02)
    assert result.round_count == 6


def test_when_all_are_dead_there_is_what_was_measured_before() -> None:
    result = run({"A": 2 * MS, "B": MS}, dies={"A": 300, "B": 700})
    assert result.units[1].alone_per_s == pytest.approx(1000, rel=0.02)
    assert all(unit.error is not None for unit in result.units)
    assert not result.interrupted


def test_when_all_die_at_once_it_is_an_error_with_the_reason_of_one() -> None:
    with pytest.raises(HettopError, match="A: worker process killed by SIGKILL"):
        run({"A": MS, "B": MS}, dies={"A": 1, "B": 1})


def test_a_unit_that_dies_before_it_was_measured_leaves_the_ideal_unknown() -> None:
    result = run({"A": MS, "B": MS}, dies={"B": 1})
    assert result.units[1].alone_per_s is None
    assert (result.of_ideal, result.ideal_per_s) == (None, None)
    assert result.gain == pytest.approx(0, abs=0.02)  # A alone, twice


def test_an_interrupt_leaves_what_was_measured_until_then() -> None:
    result = run({"A": MS, "B": MS}, ends_at=3 * SECOND)
    assert result.interrupted
    assert result.units[0].alone_per_s == pytest.approx(1000, rel=0.02)


def test_an_interrupt_before_anything_was_measured_says_so() -> None:
    with pytest.raises(HettopError, match="nothing was measured yet"):
        run({"A": MS, "B": MS}, ends_at=1)


def test_after_each_round_all_that_is_known_is_reported_with_a_true_share() -> None:
    """Six rounds of three blocks: each begins with a share of so many eighteenths."""
    told: list[CoexecProgress] = []
    result, _ = run_on({"A": 2 * MS, "B": MS}, tell=told.append)
    shares = [word.share for word in told if word.text.startswith("round")]
    assert shares == pytest.approx([i / 18 for i in range(18)])
    assert [word.text for word in told[:2]] == ["loading", "round 1 of 6: A"]
    results = [word.result for word in told if word.result is not None]
    assert [each.round_count for each in results] == [0, 0, 1, 2, 3, 4, 5, 6], "in the first round after each block"
    assert results[0].together_per_s is None
    assert [unit.alone_per_s is None for unit in results[0].units] == [False, True]
    assert results[2].of_ideal == pytest.approx(1, abs=0.02)
    assert results[-1] == result
    delivered = [each.delivered for each in results]
    assert delivered == sorted(set(delivered)), "it grows"


def test_without_a_duration_it_goes_on_until_it_is_ended_and_that_is_no_interruption() -> None:
    """A round is three blocks of 250 ms and three rests of 50: 66 whole ones in a minute."""
    told: list[CoexecProgress] = []
    result, _ = run_on({"A": 2 * MS, "B": MS}, duration=None, ends_at=SECOND + 60 * SECOND, tell=told.append)
    assert result.round_count == 66
    assert not result.interrupted
    assert result.of_ideal == pytest.approx(1, abs=0.02)
    assert result.in_order
    assert {word.share for word in told} == {None}, "nobody knows when it ends"
    assert told[-2].text.startswith("round 67: ") or told[-1].text.startswith("round 67: ")


def test_what_it_keeps_does_not_grow_with_the_time_it_goes_on() -> None:
    result, _ = run_on({"A": 20 * MS, "B": 20 * MS}, duration=None, ends_at=SECOND + 900 * SECOND)
    assert result.round_count > 500
    assert len(result.rounds) == 240
    assert len(result.together_ns) == 64
    assert result.units[0].alone_per_s == pytest.approx(50, rel=0.02)


def test_after_a_death_the_course_goes_on_and_figures_of_all_are_of_the_time_before() -> None:
    """2 ms and 1 ms are 1,500 a second; B dies in the fifth second or so, and A alone does 500."""
    result, _ = run_on({"A": 2 * MS, "B": MS}, duration=None, dies={"B": 3_000}, ends_at=SECOND + 30 * SECOND)
    assert result.units[1].error is not None
    assert result.together_per_s == pytest.approx(1_500, rel=0.02)
    assert result.of_ideal == pytest.approx(1, abs=0.02)
    assert result.gain == pytest.approx(0.5, abs=0.03)
    assert [unit.share for unit in result.units] == pytest.approx([1 / 3, 2 / 3], abs=0.01)
    assert result.rounds[-1].together_per_s == pytest.approx(500, rel=0.02)
    assert result.rounds[-1].alone_per_s == {"A": pytest.approx(500, rel=0.02)}
    assert result.ideal_by_round[-1] is None
    assert result.in_order


def test_a_block_in_which_a_unit_died_is_no_rate_of_anybody() -> None:
    """B does 250 calls alone, and dies in the midst of the first block of both: all of both there is, is A."""
    result = run({"A": 2 * MS, "B": MS}, dies={"B": 400})
    assert result.rounds[0].together_per_s is None
    assert result.rounds[1].together_per_s == pytest.approx(500, rel=0.02)
    assert (result.units[1].together_calls, result.units[1].share) == (0, 0.0)
    assert result.together_per_s == pytest.approx(500, rel=0.02)


def test_too_short_a_time_gives_rates_and_no_gain() -> None:
    """Blocks of six calls of the slowest unit: of them five count, and ten are needed."""
    result = run({"A": 100 * MS, "B": 50 * MS}, duration=SECOND)
    assert result.units[0].alone_per_s == pytest.approx(10, rel=0.05)
    assert result.too_few
    assert (result.gain, result.of_ideal, result.gain_by_round) == (None, None, ())
    # Three blocks of 21 calls of 100 ms, and a rest of 50 ms before each.
    assert result.needs_ns == pytest.approx(3 * (21 * 100 + 50) * MS, rel=0.05)
    assert not run({"A": 100 * MS, "B": 50 * MS}, duration=result.needs_ns).too_few
