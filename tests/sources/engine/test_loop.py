from __future__ import annotations

import itertools

import pytest

from hettop.sources.engine.frames import DoubtReport, RetireReport, StateReport, UsageReport
from hettop.sources.engine.job import (
    AnyCommand,
    EndWarmup,
    Limits,
    Pause,
    Retire,
    Run,
    RunMode,
    SetLimits,
    SetLoad,
    Slots,
    Stop,
)
from hettop.sources.engine.loop import FLUSH_NS, Sampler
from tests.sources.engine.fakes import MS, FakeBackend, FakeClock, ListedOut, ScriptedState


def sample(
    latencies_ms: list[float],
    *,
    script: list[tuple[int, AnyCommand]] | None = None,
    doing: RunMode = RunMode.RUN,
    limits: Limits = Limits(),  # noqa: B008
    warmup: int = 0,
    rate_hz: float | None = None,
    rest_ms: int = 0,
    natives: tuple[int | None, ...] = (),
    recycle_after: int | None = None,
) -> tuple[ListedOut, FakeBackend]:
    """Runs a sampler to its end; script times are in ms."""
    clock, out = FakeClock(), ListedOut()
    backend = FakeBackend(clock, [round(latency * MS) for latency in latencies_ms], natives)
    state = ScriptedState(
        clock, [(moment * MS, command) for moment, command in script or []], doing=doing, limits=limits
    )
    sampler = Sampler(
        backend,
        {},
        out,
        state,
        warmup=warmup,
        rate_hz=rate_hz,
        rest_ns=rest_ms * MS,
        recycle_after=recycle_after,
    )
    sampler.first_call()
    sampler.run()
    return out, backend


def last_words(out: ListedOut) -> RetireReport:
    assert isinstance(out.frames[-1], RetireReport)
    return out.frames[-1]


def starts_ms(out: ListedOut, phase: str) -> list[float]:
    return [start / MS for start, _ in out.of_phase(phase)]


def test_phases_follow_by_count_first_warmup_steady() -> None:
    out, _ = sample([30, 5, 5, 2], warmup=2, limits=Limits(runs=3))
    assert [(frame.phase, (frame.latency // MS).tolist()) for frame in out.samples] == [
        ("first", [30]),
        ("warmup", [5, 5]),
        ("steady", [2, 2, 2]),
    ]


def test_the_first_call_returns_its_latency() -> None:
    clock = FakeClock()
    sampler = Sampler(FakeBackend(clock, [7 * MS]), {}, ListedOut(), ScriptedState(clock), warmup=0, rate_hz=None)
    assert sampler.first_call() == 7 * MS


@pytest.mark.parametrize("runs", [1, 20, 100])
@pytest.mark.parametrize("latency_ms", [0.4, 7, 51])
def test_a_limit_of_runs_is_kept_to_the_sample_whatever_the_flushes_do(runs: int, latency_ms: float) -> None:
    out, backend = sample([latency_ms], warmup=3, limits=Limits(runs=runs))
    assert len(out.of_phase("steady")) == runs
    assert backend.calls == 1 + 3 + runs


def test_reaching_the_limit_is_said_once_and_the_unit_then_idles_until_it_is_stopped() -> None:
    out, _ = sample([1], limits=Limits(runs=5), script=[(1000, SetLoad(condition="cpu:1"))])
    assert [(s.state, s.done) for s in out.reports(StateReport) if isinstance(s, StateReport)] == [
        ("warming", False),
        ("running", False),
        ("paused", True),
        ("stopped", False),
    ]


def test_a_warm_up_ends_when_told_so_and_steady_samples_follow() -> None:
    out, _ = sample([10], warmup=100, limits=Limits(runs=2), script=[(55, EndWarmup())])
    assert starts_ms(out, "warmup") == [10, 20, 30, 40, 50]
    assert starts_ms(out, "steady") == [60, 70]


def test_a_warm_up_that_was_ended_before_it_began_is_none() -> None:
    out, _ = sample([10], warmup=100, limits=Limits(runs=2), script=[(5, EndWarmup())])
    assert starts_ms(out, "warmup") == []
    assert starts_ms(out, "steady") == [10, 20]


def test_a_raised_limit_goes_on_from_where_it_was() -> None:
    out, _ = sample([1], limits=Limits(runs=5), script=[(1000, SetLimits(limits=Limits(runs=7)))])
    # The break before the last two makes one `resume` sample, which does not count.
    assert len(out.of_phase("steady")) == 7
    assert starts_ms(out, "resume") == [1000]
    assert starts_ms(out, "steady")[5:] == [1001, 1002]


def test_a_limit_of_duration_ends_with_the_sample_that_reaches_it() -> None:
    out, _ = sample([10], limits=Limits(duration_ns=95 * MS))
    assert len(out.of_phase("steady")) == 10  # ends at 100 ms of steady running, the first end at or after 95


def test_a_pause_does_not_count_towards_the_duration() -> None:
    out, _ = sample([10], limits=Limits(duration_ns=95 * MS), script=[(45, Pause()), (500, Run())])
    # First call 0..10, steady 10..50, pause, resume 500..510, steady 510..570: 40 + 60 ms.
    assert starts_ms(out, "resume") == [500]
    assert starts_ms(out, "steady") == [10, 20, 30, 40, 510, 520, 530, 540, 550, 560]


def test_the_first_sample_after_a_pause_is_a_resume() -> None:
    out, _ = sample([10], limits=Limits(runs=4), script=[(25, Pause()), (100, Run())])
    assert starts_ms(out, "steady") == [10, 20, 110, 120]
    assert starts_ms(out, "resume") == [100]


def test_a_unit_that_begins_paused_warms_up_and_waits() -> None:
    out, _ = sample([10], doing=RunMode.PAUSE, warmup=2, limits=Limits(runs=1), script=[(100, Run())])
    assert starts_ms(out, "warmup") == [10, 20]
    assert starts_ms(out, "resume") == [100]
    assert starts_ms(out, "steady") == [110]


def test_a_pause_interrupts_the_warm_up_which_goes_on_after_it() -> None:
    out, _ = sample([10], warmup=3, limits=Limits(runs=1), script=[(15, Pause()), (100, Run())])
    assert starts_ms(out, "warmup") == [10, 110, 120]
    assert starts_ms(out, "resume") == [100]


def test_samples_are_published_every_50_ms_of_the_samples_clock() -> None:
    out, _ = sample([4], limits=Limits(runs=100))
    assert FLUSH_NS == 50 * MS
    # A flush after the first call, at 4 ms; then the first end at or after 54 ms is 56: 13 samples.
    assert [len(frame.start) for frame in out.samples if frame.phase == "steady"] == [13] * 7 + [9]


def test_paced_samples_that_fit_start_as_planned() -> None:
    out, _ = sample([5, 4], rate_hz=100, limits=Limits(runs=4))
    # The first arrival is a period after the start of the call before it: four calls span four periods.
    assert starts_ms(out, "steady") == [10, 20, 30, 40]
    assert out.lateness() == [0, 0, 0, 0]


def test_a_slow_paced_sample_delays_the_next_ones_but_not_their_plan() -> None:
    out, _ = sample([5, 25, 4], rate_hz=100, limits=Limits(runs=5))
    # Planned 10, 20, 30, 40, 50. The first runs 10..35; then at once 35..39, 39..43, 43..47; the last waits for 50.
    assert starts_ms(out, "steady") == [10, 35, 39, 43, 50]
    assert [late / MS for late in out.lateness()] == [0, 15, 9, 3, 0]


def test_each_sample_is_taken_after_a_rest_but_those_of_the_warm_up() -> None:
    out, _ = sample([30, 5, 5, 2], warmup=2, rest_ms=100, limits=Limits(runs=3))
    # First call 0..30, warm-up 30..35 and 35..40; rests until 140, 242 and 344.
    assert starts_ms(out, "warmup") == [30, 35]
    assert starts_ms(out, "steady") == [140, 242, 344]
    assert out.lateness() == []


def test_samples_are_published_before_a_rest_and_not_after_it() -> None:
    out, backend = sample([2], rest_ms=1000, limits=Limits(runs=3))
    assert [len(frame.start) for frame in out.samples if frame.phase == "steady"] == [1, 1, 1]
    assert backend.calls == 4


def test_a_rest_is_broken_off_by_a_pause_and_counts_towards_the_duration() -> None:
    out, _ = sample([10], rest_ms=100, limits=Limits(duration_ns=250 * MS), script=[(150, Pause()), (400, Run())])
    # First call 0..10, steady 110..120, rest until 150 = 140 ms; resume 400..410, steady 510..520: 110 ms more.
    assert starts_ms(out, "resume") == [400]
    assert starts_ms(out, "steady") == [110, 510]


def test_the_least_number_of_samples_is_taken_even_if_the_time_is_over() -> None:
    out, _ = sample([10], limits=Limits(duration_ns=25 * MS, least_runs=6))
    assert len(out.of_phase("steady")) == 6
    out, _ = sample([10], limits=Limits(duration_ns=95 * MS, least_runs=6))
    assert len(out.of_phase("steady")) == 10


def test_warm_up_is_not_paced() -> None:
    out, _ = sample([5, 4], rate_hz=10, warmup=2, limits=Limits(runs=2))
    assert starts_ms(out, "warmup") == [5, 9]
    assert starts_ms(out, "steady") == [109, 209]


def test_paced_arrivals_that_were_due_and_never_started_are_unfinished() -> None:
    out, _ = sample([20], rate_hz=100, limits=Limits(runs=3))
    # Before 80 ms, the end of the third call, six arrivals were due (20, 30, ... 70).
    paused = [s for s in out.reports(StateReport) if isinstance(s, StateReport) and s.state == "paused"]
    assert [s.unfinished for s in paused] == [3]


def test_arrivals_that_a_pause_interrupted_are_served_after_it() -> None:
    script: list[tuple[int, AnyCommand]] = [(55, Pause()), (1000, Run()), (1022, Stop())]
    out, _ = sample([10, 50, 4], rate_hz=100, script=script)
    # Planned 10, 20, ... ms; the first runs 10..60. The four that are due by then wait for 40 ms and for those before.
    unfinished = [s.unfinished for s in out.reports(StateReport) if isinstance(s, StateReport)]
    assert starts_ms(out, "resume") == [1000]
    assert starts_ms(out, "steady") == [10, 1004, 1008, 1012, 1016, 1020]
    assert [late / MS for late in out.lateness()] == [0, 40, 34, 28, 22, 16]
    assert [each for each in unfinished if each is not None] == [4, 1]


def test_nothing_arrives_while_paused() -> None:
    out, _ = sample([10, 4], rate_hz=100, script=[(32, Pause()), (1000, Run()), (1024, Stop())])
    # The third call ends at 34, 6 ms before the next arrival.
    assert starts_ms(out, "resume") == [1000]
    assert starts_ms(out, "steady") == [10, 20, 30, 1010, 1020]
    assert out.lateness() == [0] * 5
    stopped = out.reports(StateReport)[-1]
    assert isinstance(stopped, StateReport)
    assert stopped.unfinished == 0


def test_a_paced_duration_ends_on_time_though_no_sample_does() -> None:
    out, _ = sample([5, 4], rate_hz=10, limits=Limits(duration_ns=250 * MS))
    assert starts_ms(out, "steady") == [100, 200]
    assert out.reports(StateReport)[-1] == StateReport(state="stopped", unfinished=0)


class SleepyClock(FakeClock):
    """Wakes 1 ms late."""

    def sleep_until(self, moment: int) -> None:
        super().sleep_until(moment + MS)


def test_what_arrives_after_the_end_of_a_turn_is_not_unfinished() -> None:
    clock, out = SleepyClock(), ListedOut()
    state = ScriptedState(clock, limits=Limits(duration_ns=24_500_000))
    backend = FakeBackend(clock, [5 * MS, 4 * MS])
    sampler = Sampler(backend, {}, out, state, warmup=0, rate_hz=100)
    sampler.first_call()
    sampler.run()
    # Arrivals at 10, 20 and 30; the time is over at 29.5, which is noticed at 30.5.
    assert starts_ms(out, "steady") == [11, 21]
    assert out.reports(StateReport)[-1] == StateReport(state="stopped", unfinished=0)


def test_samples_keep_to_their_slots_and_each_slot_begins_with_a_resume() -> None:
    slots = [(100 * MS, 155 * MS), (300 * MS, 355 * MS)]
    out, _ = sample([10], doing=RunMode.PAUSE, script=[(50, Slots(slots=slots))])
    # The last start at which 10 ms still fit is 145.
    assert starts_ms(out, "resume") == [100, 300]
    assert starts_ms(out, "steady") == [110, 120, 130, 140, 310, 320, 330, 340]


def test_a_slot_too_short_for_the_unit_gets_one_sample_so_that_its_slowness_becomes_known() -> None:
    slots = [(100 * MS, 155 * MS), (300 * MS, 355 * MS)]
    out, _ = sample([80], doing=RunMode.PAUSE, script=[(90, Slots(slots=slots))])
    assert starts_ms(out, "resume") == [100, 300]
    assert starts_ms(out, "steady") == []


def test_a_slot_that_is_almost_over_is_left_out() -> None:
    slots = [(100 * MS, 355 * MS), (600 * MS, 655 * MS)]
    out, _ = sample([10], doing=RunMode.PAUSE, script=[(350, Slots(slots=slots))])
    assert starts_ms(out, "resume") == [600]


def test_a_slot_that_is_sent_again_while_it_runs_is_not_begun_twice() -> None:
    slots = [(100 * MS, 155 * MS)]
    out, _ = sample([10], doing=RunMode.PAUSE, script=[(50, Slots(slots=slots)), (112, Slots(slots=slots))])
    assert starts_ms(out, "resume") == [100]
    assert starts_ms(out, "steady") == [110, 120, 130, 140]


def test_new_slots_replace_those_not_begun() -> None:
    first, second = [(100 * MS, 155 * MS), (200 * MS, 255 * MS)], [(400 * MS, 455 * MS)]
    out, _ = sample([10], doing=RunMode.PAUSE, script=[(50, Slots(slots=first)), (120, Slots(slots=second))])
    assert starts_ms(out, "resume") == [100, 400]


def test_paced_slots_share_one_plan_that_stands_still_between_them() -> None:
    slots = [(100 * MS, 200 * MS), (300 * MS, 400 * MS)]
    out, _ = sample([10, 4], rate_hz=20, doing=RunMode.PAUSE, script=[(50, Slots(slots=slots))])
    # Each arrival comes 46 ms after the end of the call before it, a resume of 4 ms.
    assert starts_ms(out, "resume") == [100, 300]
    assert starts_ms(out, "steady") == [150, 350]
    assert out.lateness() == [0] * 2


def responses_ms(out: ListedOut) -> list[float]:
    """Of all paced samples."""
    return [
        (late + latency) / MS
        for frame in out.samples
        if frame.late is not None
        for late, latency in zip(frame.late.tolist(), frame.latency.tolist(), strict=True)
    ]


def queued_ms(services_ms: list[float], period_ms: float) -> list[float]:
    """Response times of a queue with one server that is never paused (Lindley's recursion)."""
    found, wait = [], 0.0
    for service in services_ms:
        found.append(wait + service)
        wait = max(0.0, found[-1] - period_ms)
    return found


@pytest.mark.parametrize("stalls_at", range(16))
def test_turns_show_the_responses_of_a_unit_that_is_never_paused(stalls_at: int) -> None:
    """A stall of 95 ms, eight periods of backlog, at each place of turns of ten periods."""
    services = [5.0] * 40
    services[stalls_at] = 95.0
    slots = [(start * MS, (start + 120) * MS) for start in range(100, 5000, 400)]
    out, backend = sample([5, *services], rate_hz=83.0, doing=RunMode.PAUSE, script=[(50, Slots(slots=slots))])
    served = [latency / MS for _, latency in out.of_phase("steady")]  # a stall in a resume is none of theirs
    assert responses_ms(out) == pytest.approx(queued_ms(served, 1000 / 83), abs=1e-5)
    assert backend.calls == 1 + len(served) + len(starts_ms(out, "resume"))
    assert len(starts_ms(out, "resume")) > 3


def test_nothing_arrives_while_a_unit_that_ran_alone_waits_for_its_first_turn() -> None:
    slots = [(500 * MS, 600 * MS)]
    out, _ = sample([4], rate_hz=100, script=[(32, Slots(slots=slots)), (590, Stop())])
    assert starts_ms(out, "resume") == [500]
    assert set(out.lateness()) == {0}


def test_duration_counts_time_in_slots_alone() -> None:
    slots = [(start * MS, (start + 55) * MS) for start in range(100, 2000, 200)]
    out, _ = sample([10], doing=RunMode.PAUSE, limits=Limits(duration_ns=60 * MS), script=[(50, Slots(slots=slots))])
    # Steady from 110 to 150, then from 310 on: 40 ms + 20 ms.
    assert starts_ms(out, "steady") == [110, 120, 130, 140, 310, 320]


@pytest.mark.parametrize("rate_hz", [None, 20.0])
def test_what_comes_before_each_call_is_done_as_often_and_is_no_part_of_its_time(rate_hz: float | None) -> None:
    clock, out = FakeClock(), ListedOut()
    backend = FakeBackend(clock, [5 * MS])
    done_before: list[int] = []

    def before_each() -> None:
        done_before.append(backend.calls)
        clock.advance(3 * MS)

    state = ScriptedState(clock, [], limits=Limits(runs=4))
    sampler = Sampler(backend, {}, out, state, warmup=2, rate_hz=rate_hz, before_each=before_each)
    sampler.first_call()
    sampler.run()
    assert done_before == [0, 1, 2, 3, 4, 5, 6]
    assert {latency for frame in out.samples for latency in frame.latency.tolist()} == {5 * MS}


def test_native_times_stand_beside_wall_times() -> None:
    out, _ = sample([4], natives=(10, 11, 12), limits=Limits(runs=2))
    assert [frame.native.tolist() for frame in out.samples if frame.native is not None] == [[10], [11, 12]]


@pytest.mark.parametrize("wrong", [4 * MS + 1_001, -1, 2**53, 2**64, 1.5, float("nan")])
def test_a_native_time_longer_than_its_call_or_no_time_at_all_is_refused_and_counted(wrong: int) -> None:
    out, _ = sample([4], natives=(10, 11, wrong, 12), limits=Limits(runs=3))
    assert [frame.native is None for frame in out.samples] == [False, True]
    assert [report.n for report in out.frames if isinstance(report, DoubtReport)] == [1]


def test_a_native_time_as_long_as_its_call_is_believed_also_by_a_clock_that_counts_microseconds() -> None:
    out, _ = sample([4], natives=(4 * MS, 4 * MS + 1_000), limits=Limits(runs=1))
    assert [frame.native.tolist() for frame in out.samples if frame.native is not None] == [[4 * MS], [4 * MS + 1_000]]


def test_a_window_in_which_a_native_time_is_unknown_has_none() -> None:
    out, _ = sample([4], natives=(10, 11, None), limits=Limits(runs=2))
    assert [frame.native is None for frame in out.samples] == [False, True]


def test_the_backend_is_told_of_competing_load_between_two_samples() -> None:
    _, backend = sample([10], limits=Limits(runs=4), script=[(15, SetLoad(condition="cpu:2"))])
    assert backend.told == ["none", "cpu:2"]


def test_what_the_reader_left_is_written_on_while_paused() -> None:
    clock, out = FakeClock(), ListedOut()
    sampler = Sampler(
        FakeBackend(clock, [MS]), {}, out, ScriptedState(clock, limits=Limits(runs=1)), warmup=0, rate_hz=None
    )
    sampler.first_call()
    out.pending = True
    clock.at(MS * 1000, lambda: setattr(out, "pending", False))
    before = out.flushes
    sampler.run()
    assert out.flushes - before >= 1000 // 50


def test_usage_is_published_beside_the_samples_only_when_there_is_some() -> None:
    clock, out = FakeClock(), ListedOut()
    charges = itertools.chain([None, UsageReport(major_faults=2)], itertools.repeat(None))
    state = ScriptedState(clock, limits=Limits(runs=50))
    sampler = Sampler(
        FakeBackend(clock, [10 * MS]), {}, out, state, warmup=0, rate_hz=None, read_usage=lambda: next(charges)
    )
    sampler.first_call()
    sampler.run()
    assert out.reports(UsageReport) == [UsageReport(major_faults=2)]


@pytest.mark.parametrize("rate_hz", [None, 100.0])
def test_a_worn_process_retires_after_exactly_so_many_predictions(rate_hz: float | None) -> None:
    out, backend = sample([10], warmup=3, recycle_after=20, rate_hz=rate_hz)
    assert backend.calls == 20
    assert [len(out.of_phase(phase)) for phase in ("first", "warmup", "steady")] == [1, 3, 16]
    assert (last_words(out).predictions, last_words(out).steady_ns) == (20, 160 * MS)


def test_a_limit_that_is_reached_with_the_last_prediction_is_reached() -> None:
    out, _ = sample([10], recycle_after=20, limits=Limits(runs=19))
    assert [s.state for s in out.reports(StateReport) if isinstance(s, StateReport)][-2:] == ["paused", "stopped"]
    assert out.reports(RetireReport) == []


def test_a_worn_process_that_is_paused_retires_when_it_is_to_run_again() -> None:
    out, backend = sample([10], recycle_after=10, script=[(95, Pause()), (500, Run())])
    assert backend.calls == 10
    assert last_words(out).predictions == 10


def test_predictions_that_are_no_samples_wear_a_process_too() -> None:
    clock, out = FakeClock(), ListedOut()
    backend = FakeBackend(clock, [MS])
    sampler = Sampler(backend, {}, out, ScriptedState(clock), warmup=0, rate_hz=None, recycle_after=20)
    sampler.first_call()
    sampler.predicted_apart(7)
    sampler.run()
    assert (backend.calls, last_words(out).predictions) == (13, 20)


def test_a_warm_up_longer_than_a_process_lives_leaves_half_of_it_for_samples() -> None:
    out, _ = sample([10], warmup=1000, recycle_after=20)
    assert [len(out.of_phase(phase)) for phase in ("first", "warmup", "steady")] == [1, 10, 9]


def test_a_process_that_would_wear_out_at_once_takes_a_sample_all_the_same() -> None:
    out, _ = sample([10], warmup=1, recycle_after=1)
    assert len(out.of_phase("steady")) == 1
    assert last_words(out).predictions == 2


def test_a_process_that_is_told_to_retire_does_so_after_the_sample_that_runs() -> None:
    out, _ = sample([10], script=[(45, Retire())])
    assert starts_ms(out, "steady") == [10, 20, 30, 40]
    assert last_words(out).steady_ns == 40 * MS


def test_a_process_that_retires_tells_what_arrived_and_was_not_served() -> None:
    out, _ = sample([20], rate_hz=100, recycle_after=4)
    # Before 80 ms six arrivals were due (20, 30, ... 70), three were started; the next process has another plan.
    assert last_words(out).unfinished == 3


def test_an_order_to_retire_outlasts_later_orders() -> None:
    slots = [(100 * MS, 155 * MS)]
    out, _ = sample([10], script=[(25, Pause()), (50, Retire()), (60, Slots(slots=slots))])
    assert starts_ms(out, "resume") == []
    assert last_words(out).predictions == 3


def test_time_spent_before_sampling_is_no_running_time() -> None:
    clock, out = FakeClock(), ListedOut()
    state = ScriptedState(clock, limits=Limits(duration_ns=95 * MS))
    sampler = Sampler(FakeBackend(clock, [10 * MS]), {}, out, state, warmup=0, rate_hz=None)
    sampler.first_call()
    clock.advance(500 * MS)
    sampler.run()
    assert len(out.of_phase("steady")) == 10
