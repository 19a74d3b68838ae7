"""Power becomes energy of a condition only where nothing else ran, and unknown stays unknown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import ClassVar

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop import events
from hettop.events import AnyEvent
from hettop.session.condition import ConditionKey
from hettop.session.energy import EnergyFigures
from hettop.session.log import in_words
from hettop.session.rails import RAILS, EnergyBatches, PowerWindow
from hettop.session.session import Session
from hettop.session.statistics import Statistics, energy_of, statistics
from tests.streams import MS, S, cut, header, window

BACK_TO_BACK = 1_000  # ns between two samples


def power(end: int, elapsed: int = 500 * MS, flags: Sequence[str] = (), **mw: float | None) -> events.Power:
    return events.Power(t=end, source="test", elapsed_ns=elapsed, mw=dict(mw), flags=list(flags))


def steady(start: int, end: int, *, unit: str = "A", load: str = "none", ms: int = 10) -> events.Samples:
    """Back-to-back samples of `ms` that fill [start, end) as far as whole samples do."""
    step = ms * MS + BACK_TO_BACK
    return window([ms * MS] * ((end - start) // step), t0=start, gap=BACK_TO_BACK, unit=unit, load=load)


def resume(start: int, *, unit: str = "A", load: str = "none", ms: int = 10, phase: str = "resume") -> events.Samples:
    return window([ms * MS], t0=start, unit=unit, load=load, phase=phase)


def engine(t: int, unit: str, state: str) -> events.Engine:
    return events.Engine(t=t, unit=unit, state=state)


def session_of(stream: Iterable[AnyEvent]) -> Session:
    session = Session()
    session.fold(header())
    for event in stream:
        session.fold(event)
    return session


def in_order(stream: Iterable[AnyEvent]) -> list[AnyEvent]:
    return sorted(stream, key=lambda event: event.t)


def rows(stream: Iterable[AnyEvent]) -> dict[str, Statistics]:
    """The statistics by unit, with the load behind it where there is one."""
    found = statistics(session_of(in_order(stream)))
    return {row.unit if row.load == "none" else f"{row.unit} {row.load}": row for row in found}


def row(stream: Iterable[AnyEvent], name: str = "A") -> Statistics:
    return rows(stream)[name]


class TestOverlap:
    def test_a_burst_covers_no_more_time_than_passed_and_is_reported_once(self) -> None:
        # Forty windows of .5 s heard of at once after 9.9 s: they can show the last half second alone.
        burst = [power(9_900 * MS, cpu=4000.0) for _ in range(40)]
        session = session_of([steady(0, 10 * S + 100_000), *burst])
        (found,) = statistics(session)
        assert found.energy_coverage == pytest.approx(0.05, rel=2e-3)
        assert found.energy_mj_per_inference is None
        assert session.energy.overlapping == 39
        assert [entry.text for entry in map(in_words, session.log) if "overlapping" in entry.text] == [
            "test reported overlapping samples: each moment is counted once"
        ]
        assert session.energy.total["cpu"].covered_ns == 500 * MS

    def test_what_is_heard_of_a_little_early_loses_that_little_alone(self) -> None:
        windows = [power(500 * MS, cpu=4000.0), power(980 * MS, cpu=4000.0), power(1480 * MS, cpu=4000.0)]
        session = session_of([steady(0, 2 * S), *windows])
        assert (session.energy.total["cpu"].covered_ns, session.energy.overlapping) == (1480 * MS, 0)

    def test_the_number_of_them_is_kept_in_keyframes(self) -> None:
        session = session_of([steady(0, S), power(S, cpu=1.0), power(S, cpu=1.0)])
        assert session.header is not None
        assert Session.restored(session.header, session.keyframe(S, 0)).energy.overlapping == 1


class TestByHand:
    def test_mean_power_times_the_time_of_one_inference(self) -> None:
        # 100 samples of 10 ms, 1 µs apart; two power samples of .4 s at 3 and 5 W: 4 W x 10.00099 ms = 40 mJ.
        found = row(
            [steady(0, S + 100_000), power(S // 2, 400 * MS, cpu=3000.0), power(9 * S // 10, 400 * MS, cpu=5000.0)]
        )
        active = 100 * 10 * MS + 99 * BACK_TO_BACK
        assert found.n == 100
        assert found.energy_mj_per_inference == pytest.approx(4000 * active / 1e9 / 100, rel=1e-12)
        assert found.energy_mj_per_inference == pytest.approx(40.0, rel=1e-4)
        assert found.inferences_per_joule == pytest.approx(25.0, rel=1e-4)
        assert found.energy_coverage == pytest.approx(0.8, rel=1e-4)
        assert found.energy_rails == ["cpu"]
        assert found.power_mean_mw == {rail: 4000.0 if rail == "cpu" else None for rail in RAILS}

    def test_less_than_half_of_the_time_gives_no_figure_and_the_reason(self) -> None:
        found = row([steady(0, 4 * S), power(2 * S, S, cpu=4000.0)])
        assert found.energy_coverage == pytest.approx(0.25, rel=1e-2)
        assert found.energy_mj_per_inference is None
        assert found.inferences_per_joule is None
        assert found.energy_by_rail_mj == dict.fromkeys(RAILS)
        assert found.energy_reason == "power samples cover 25% of its running time, 50% are needed"
        assert found.power_mean_mw is not None
        assert found.power_mean_mw["cpu"] == 4000.0, "what was measured stays"

    def test_power_that_never_met_the_unit_alone_says_so(self) -> None:
        found = row([steady(0, S), power(5 * S, S, cpu=4000.0)])
        assert (found.energy_coverage, found.energy_mj_per_inference) == (0.0, None)
        assert found.energy_reason == "no power sample lies entirely within its running time"

    def test_power_samples_weigh_by_their_time(self) -> None:
        found = row([steady(0, 2 * S), power(S, 900 * MS, cpu=1000.0), power(13 * S // 10, 300 * MS, cpu=5000.0)])
        assert found.power_mean_mw is not None
        assert found.power_mean_mw["cpu"] == pytest.approx(2000.0)  # (.9 x 1 + .3 x 5) / 1.2

    def test_waiting_between_paced_arrivals_costs_too(self) -> None:
        # Ten arrivals a second of 20 ms at 1 W all the time: 100 mJ each, not 20.
        paced = window([20 * MS] * 101, t0=0, gap=80 * MS, late=[0] * 101, unit="A")
        found = row([paced, *(power(k * S, S, cpu=1000.0) for k in range(1, 11))])
        assert found.energy_mj_per_inference == pytest.approx(1000 * (100 * 0.1 + 0.02) / 101)
        assert found.energy_coverage == pytest.approx(10 / 10.02)

    def test_the_wait_for_the_first_arrival_of_a_turn_costs_too(self) -> None:
        # A resume until 20 ms, then arrivals at 100, 200, ... 1,000 ms: ten calls, ten tenths of a second at 1 W.
        resume = window([20 * MS], t0=0, phase="resume", late=[0], unit="A")
        paced = window([20 * MS] * 10, t0=100 * MS, gap=80 * MS, late=[0] * 10, unit="A")
        meter = [power(k * 20 * MS, 20 * MS, cpu=1000.0) for k in range(1, 52)]
        found = row([*meter[:1], resume, paced, *meter[1:], power(10 * S, 10 * MS, cpu=0.0)])
        assert found.energy_mj_per_inference == pytest.approx(100.0)
        assert found.energy_coverage == pytest.approx(1.0)

    def test_the_first_power_sample_counts_where_all_of_it_was_one_stretch(self) -> None:
        found = row([steady(0, 10 * S), power(8 * S, 6 * S, cpu=1000.0)])
        assert found.energy_coverage == pytest.approx(0.6, rel=1e-3)

    def test_the_rest_between_rare_arrivals_is_a_part_of_the_stretch(self) -> None:
        # An arrival every 20 s, reported one by one: the spans of work in between are long forgotten otherwise.
        rare = cut(window([20 * MS] * 4, t0=0, gap=20 * S, late=[0] * 4, unit="A"), [1, 2, 3])
        meter = [power(k * S, S, ["stale"] if 20 < k < 30 else [], cpu=1000.0) for k in range(1, 63)]
        found = row([engine(0, "A", "running"), *rare, *meter])
        assert found.energy_coverage == pytest.approx(51 / 60.08)


class TestWhichSum:
    STRETCH = steady(0, 10 * S)

    def energy(self, **mw: float | None) -> Statistics:
        return row([self.STRETCH, *(power(k * S, S, flags=(), **mw) for k in range(1, 10))])

    def test_combined_is_taken_as_the_source_reports_it(self) -> None:
        found = self.energy(cpu=1000.0, gpu=500.0, ane=200.0, combined=1800.0, package=9000.0)
        assert found.energy_rails == ["combined"]
        assert found.energy_mj_per_inference == pytest.approx(18.0, rel=1e-3)
        assert found.energy_by_rail_mj == pytest.approx(
            {"cpu": 10.0, "gpu": 5.0, "ane": 2.0, "combined": 18.0, "package": 90.0, "dram": None}, rel=1e-3
        )

    def test_without_it_the_known_ones_are_added_and_named(self) -> None:
        found = self.energy(cpu=1000.0, gpu=500.0, ane=None)
        assert found.energy_rails == ["cpu", "gpu"]
        assert found.energy_mj_per_inference == pytest.approx(15.0, rel=1e-3)
        assert found.energy_by_rail_mj is not None
        assert found.energy_by_rail_mj["ane"] is None

    def test_the_package_is_better_than_nothing(self) -> None:
        assert self.energy(package=9000.0).energy_rails == ["package"]

    def test_the_package_of_a_pc_holds_its_cores(self) -> None:
        found = self.energy(cpu=1000.0, gpu=500.0, package=9000.0)
        assert found.energy_rails == ["package"]
        assert found.energy_mj_per_inference == pytest.approx(90.0, rel=1e-3)
        assert self.energy(cpu=1000.0, ane=0.0, package=9000.0).energy_rails == ["cpu", "ane"]

    def test_dram_alone_is_no_estimate(self) -> None:
        found = self.energy(dram=700.0)
        assert found.energy_rails is None
        assert found.energy_mj_per_inference is None
        assert found.energy_by_rail_mj is not None
        assert found.energy_by_rail_mj["dram"] == pytest.approx(7.0, rel=1e-3)


ACCELERATORS = [events.Accelerator(name=name, driver="x") for name in ("Intel GPU", "NVIDIA0", "NVIDIA1")]


class TestOwnRails:
    """A unit on a device of its own has that device's power and the package's, never the CPU's alone."""

    def energy(self, unit: str, **mw: float) -> Statistics:
        cards = {"NVIDIA0": 30_000.0, "NVIDIA1": 5_000.0, "Intel GPU": 8_000.0}
        event = msgspec.structs.replace(power(0, S), mw={**mw, **cards}, accelerators=ACCELERATORS)
        ticks = [msgspec.structs.replace(event, t=k * S) for k in range(1, 10)]
        return row([steady(0, 10 * S, unit=unit), *ticks], unit)

    @pytest.mark.parametrize(
        ("unit", "rails", "mw"),
        [
            ("CPU_ONLY", ["package"], 9_000),
            ("OV:CPU", ["package"], 9_000),
            ("OV:NPU", ["package"], 9_000),
            ("OV:GPU", ["package", "Intel GPU"], 17_000),
            ("CUDA:0", ["package", "NVIDIA0", "NVIDIA1"], 44_000),
            ("RTX:1", ["package", "NVIDIA0", "NVIDIA1"], 44_000),
        ],
    )
    def test_the_package_and_its_own(self, unit: str, rails: list[str], mw: float) -> None:
        found = self.energy(unit, cpu=1000.0, package=9000.0)
        assert sorted(found.energy_rails or ()) == sorted(rails)
        assert found.energy_mj_per_inference == pytest.approx(mw / 100, rel=1e-3)  # calls of 10 ms
        assert found.energy_ci_mj == pytest.approx((mw / 100, mw / 100), rel=1e-3)
        assert found.energy_by_rail_mj is not None
        assert found.energy_by_rail_mj["NVIDIA0"] == pytest.approx(300, rel=1e-3)

    @pytest.mark.parametrize(("unit", "mw"), [("OV:GPU", 8_000), ("CUDA:0", 35_000)])
    def test_without_a_package_its_own_alone(self, unit: str, mw: float) -> None:
        assert self.energy(unit, cpu=1000.0).energy_mj_per_inference == pytest.approx(mw / 100, rel=1e-3)

    def test_power_of_the_cpu_is_not_that_of_an_npu(self) -> None:
        found = self.energy("OV:NPU", cpu=1000.0)
        assert (found.energy_mj_per_inference, found.energy_rails) == (None, None)
        assert found.energy_reason == "no power reading is of the device that it runs on; hint: hettop doctor"
        assert self.energy("CPU_ONLY").energy_mj_per_inference is None

    def test_a_keyframe_holds_them(self) -> None:
        event = msgspec.structs.replace(
            power(S, S), mw={"package": 9000.0, "NVIDIA0": 1.5}, accelerators=ACCELERATORS[1:2]
        )
        session = session_of([steady(0, 2 * S), event])
        keyframe = events.decode(events.encode(session.keyframe(session.t, 0)))
        assert isinstance(keyframe, events.Keyframe)
        assert session.header is not None
        again = Session.restored(session.header, keyframe)
        assert again.energy.total["NVIDIA0"].energy_mj == 1.5
        assert events.encode(again.keyframe(0, 0)) == events.encode(session.keyframe(0, 0))


class TestNet:
    def net(self, baseline: events.Baseline, *more: AnyEvent, load: str = "none") -> Statistics:
        ticks = [power(k * S, S, cpu=3000.0, gpu=1000.0) for k in range(1, 10)]
        stream = [baseline, steady(0, 10 * S, load=load), *ticks, *more]
        return row(stream, "A" if load == "none" else f"A {load}")

    def test_the_idle_baseline_is_taken_off(self) -> None:
        found = self.net(events.Baseline(t=0, source="test", elapsed_ns=S, mw={"cpu": 400.0, "gpu": 100.0}, n=2))
        assert found.energy_mj_per_inference == pytest.approx(40.0, rel=1e-3)
        assert found.energy_net_mj_per_inference == pytest.approx(35.0, rel=1e-3)

    def test_a_baseline_of_another_load_is_none(self) -> None:
        idle = events.Baseline(t=0, source="test", elapsed_ns=S, mw={"cpu": 400.0, "gpu": 100.0}, n=2)
        assert self.net(idle, load="cpu:1").energy_net_mj_per_inference is None

    def test_the_last_one_counts(self) -> None:
        idle = events.Baseline(t=0, source="test", elapsed_ns=S, mw={"cpu": 400.0, "gpu": 100.0}, n=2)
        later = events.Baseline(t=9 * S, source="test", elapsed_ns=S, mw={"cpu": 900.0, "gpu": 100.0}, n=2)
        assert self.net(idle, later).energy_net_mj_per_inference == pytest.approx(30.0, rel=1e-3)

    def test_a_baseline_that_lacks_a_rail_of_the_sum_gives_nothing(self) -> None:
        idle = events.Baseline(t=0, source="test", elapsed_ns=S, mw={"cpu": 400.0, "gpu": None}, n=2)
        assert self.net(idle).energy_net_mj_per_inference is None


class TestInterval:
    def of(self, mw: Sequence[float]) -> Statistics:
        """A second of each power in turn, from 1 s on; the first second is at 10 W."""
        run = steady(0, (len(mw) + 1) * S + 20 * MS)
        return row([run, power(S, S, cpu=10_000.0), *(power((k + 2) * S, S, cpu=w) for k, w in enumerate(mw))])

    def test_students_t_of_the_windows_after_the_first_half_second(self) -> None:
        # 9, 11, 10, 11, 9, 10 W: mean 10, standard deviation sqrt(.8), t of 5 degrees 2.5706: +- .93865 W, times 10 ms.
        found = self.of([9000, 11000, 10000, 11000, 9000, 10000])
        assert found.energy_mj_per_inference == pytest.approx(100, rel=2e-4)
        assert found.energy_ci_mj == pytest.approx((90.6135, 109.3865), rel=2e-4)
        assert found.energy_windows == 6

    def test_fewer_than_six_have_none(self) -> None:
        found = self.of([9000, 11000, 10000, 11000, 9000])
        assert (found.energy_ci_mj, found.energy_windows) == (None, 5)

    def test_windows_that_lack_a_rail_of_others_have_none(self) -> None:
        more = [power((k + 1) * S, S, cpu=10_000.0, gpu=500.0 if k % 3 else None) for k in range(12)]
        found = row([steady(0, 13 * S), *more])
        assert found.energy_mj_per_inference is not None
        assert found.energy_ci_mj is None

    def test_many_windows_are_joined_and_none_is_lost(self) -> None:
        batches = EnergyBatches()
        mw = [1000.0 + 37 * (k * 7919 % 11) for k in range(1000)]
        for k, each in enumerate(mw):
            batches.add(PowerWindow((k + 1) * MS, MS, (each, *[None] * 5)))
        assert (batches.windows, batches.size, len(batches.batches)) == (1000, 16, 63)
        assert sum(pj for _, pj in batches.batches) == MS * sum(mw)
        assert batches.batches[1] == (16 * MS, MS * sum(mw[16:32]))
        assert EnergyBatches.restored(batches.state()) == batches

    @pytest.mark.parametrize(
        ("size", "windows", "held"),
        [(0, 1, [(5, "1")]), (1, 2, [(5, "1")]), (2, 3, [(5, "1")]), (1, 1, [(0, "1")]), (1, 1, [(5, "-1")])],
    )
    def test_a_keyframe_that_contradicts_itself_is_refused(
        self, size: int, windows: int, held: list[tuple[int, str]]
    ) -> None:
        with pytest.raises(ValueError, match="contradict"):
            EnergyBatches.restored(events.EnergyBatchesState(size=size, windows=windows, batches=held))


class TestRamps:
    """A at 1 W and B at 4 W in turns of 5 s; after each switch power approaches its level with 100 ms."""

    LEVELS: ClassVar = {"A": 1000.0, "B": 4000.0}

    def stream(self) -> list[AnyEvent]:
        stream: list[AnyEvent] = []
        for k in range(8):
            unit, other, start = "AB"[k % 2], "BA"[k % 2], k * 5 * S
            stream += [resume(start, unit=unit), steady(start + 11 * MS, start + 4990 * MS, unit=unit)]
            for j in range(10):  # the tenth straddles the next switch
                begin, end = (0.02 + j / 2, 0.52 + j / 2)
                left = 0.1 / 0.5 * (math.exp(-begin / 0.1) - math.exp(-end / 0.1))
                mw = self.LEVELS[unit] + (self.LEVELS[other] - self.LEVELS[unit]) * left
                stream.append(power(start + round(end * S), cpu=mw))
        return stream

    def test_the_interval_is_of_windows_without_the_ramp_and_holds_the_mean(self) -> None:
        # A's first window of nine has 3 W x .2 x (e^-.2 - e^-5.2) = .488 W more: the mean is 5.4% too high. From half a
        # second on, .6 W x e^-5.2 = 3.3 mW are left in one of eight windows: .04%.
        found = rows(self.stream())
        a, b = found["A"], found["B"]
        assert (a.energy_windows, b.energy_windows) == (32, 32)
        assert a.energy_mj_per_inference == pytest.approx(10 * 1.0542, rel=3e-3)
        assert b.energy_mj_per_inference == pytest.approx(40 * (1 - 0.0542 / 4), rel=3e-3)
        assert a.energy_ci_mj is not None
        assert b.energy_ci_mj is not None
        assert a.energy_ci_mj[0] == pytest.approx(10.0, rel=2e-3), "A is not said to need more than it does"
        assert a.energy_ci_mj[1] == a.energy_mj_per_inference
        assert b.energy_ci_mj[1] == pytest.approx(40.0, rel=2e-3)
        assert b.energy_ci_mj[0] == b.energy_mj_per_inference


class TestUncertainty:
    def test_each_power_sample_may_be_a_step_of_the_counter_off(self) -> None:
        # Nine windows of 1 s at 2 W are 18,000 mJ; nine steps of 1 mJ are .05% of that.
        status = events.PowerStatus(t=0, source="test", state="running", resolution_mj=1.0)
        gone = events.PowerStatus(t=9_900 * MS, source="test", state="stopped")
        ticks = [power(k * S, S, cpu=2000.0) for k in range(1, 10)]
        assert row([status, steady(0, 10 * S), *ticks, gone]).energy_uncertainty == pytest.approx(0.0005)

    def test_a_step_above_all_that_was_counted_leaves_no_figure(self) -> None:
        # Two power samples of 400 ms at 1 mW count .8 mJ; steps of 1 mJ leave ±250% open.
        samples = [power(S // 2, 400 * MS, cpu=1.0), power(9 * S // 10, 400 * MS, cpu=1.0)]
        status = events.PowerStatus(t=0, source="test", state="running", resolution_mj=1.0)
        found = row([status, steady(0, S + 100_000), *samples])
        assert (found.energy_mj_per_inference, found.energy_uncertainty) == (None, None)
        status = events.PowerStatus(t=0, source="test", state="running", resolution_mj=0.25)
        found = row([status, steady(0, S + 100_000), *samples])
        assert found.energy_uncertainty == pytest.approx(0.625)

    def test_a_source_that_reports_no_step_leaves_it_unknown(self) -> None:
        assert row([steady(0, 10 * S), power(2 * S, cpu=1.0)]).energy_uncertainty is None


def curve_mw(t_s: float) -> float:
    """2 W and a sine of 1.5 W with a period of 3.7 s."""
    return 2000 + 1500 * math.sin(2 * math.pi * t_s / 3.7)


def curve_integral(a_ns: int, b_ns: int) -> float:
    """The curve's integral from a to b, in mJ."""
    a, b, w = a_ns / S, b_ns / S, 2 * math.pi / 3.7
    return 2000 * (b - a) + 1500 / w * (math.cos(w * a) - math.cos(w * b))


def metered(until: int, every: int, jitter: int = 0) -> list[events.Power]:
    """Power samples of the curve, without gaps: each is the curve's exact mean over its window."""
    found: list[events.Power] = []
    end = step = 0
    while True:
        elapsed = every + (step * 7919) % (jitter + 1)
        step, end = step + 1, end + elapsed
        if end > until:
            return found
        found.append(power(end, elapsed, cpu=curve_integral(end - elapsed, end) * 1e9 / elapsed))


class TestAnalyticCurve:
    def test_one_unit_alone(self) -> None:
        run = steady(S // 3, 200 * S, ms=7)
        found = row([*in_order([*cut(run, range(0, 28000, 7)), *metered(200 * S, 100 * MS, jitter=3 * MS)])])
        end = run.t
        assert found.energy_mj_per_inference == pytest.approx(curve_integral(S // 3, end) / run.n, rel=1e-3)
        assert found.energy_coverage == pytest.approx(1.0, abs=2e-3)

    def test_units_in_turns_with_four_power_samples_a_block(self) -> None:
        # Blocks of 411 ms, power every 100 ms: at the least three of its windows lie inside each block.
        stream: list[AnyEvent] = []
        truth = {"A": 0.0, "B": 0.0}
        for k in range(1000):
            unit, start = "AB"[k % 2], k * 412 * MS
            run = steady(start + 10 * MS + BACK_TO_BACK, start + 411 * MS, unit=unit)
            stream += [resume(start, unit=unit), run]
            truth[unit] += curve_integral(run.t0, run.t)
        stream += metered(412 * S, 100 * MS)
        found = rows(stream)
        for unit in "AB":
            assert found[unit].energy_coverage == pytest.approx(0.75, abs=0.05)
            assert found[unit].energy_mj_per_inference == pytest.approx(truth[unit] / found[unit].n, rel=1e-3)


class TestWhatNeverCounts:
    def coverage(self, *stream: AnyEvent) -> float | None:
        return row(stream).energy_coverage

    def test_a_window_that_begins_before_the_stretch_or_ends_after_it(self) -> None:
        run = steady(S, 3 * S)
        assert self.coverage(run, power(3 * S // 2, S, cpu=1.0), power(7 * S // 2, S, cpu=1.0)) == 0.0
        assert self.coverage(run, power(2 * S, S, cpu=1.0)) == pytest.approx(0.5, rel=1e-2)

    def test_a_window_over_a_unit_switch(self) -> None:
        a, b = steady(0, 2 * S, unit="A"), steady(2 * S + 20 * MS, 4 * S, unit="B")
        found = rows([a, resume(2 * S, unit="B"), b, power(5 * S // 2, S, cpu=1.0)])
        assert (found["A"].energy_coverage, found["B"].energy_coverage) == (0.0, 0.0)
        assert found["A"].energy_mj_per_inference is None

    def test_a_window_over_a_pause(self) -> None:
        before, after = steady(0, 2 * S), steady(4 * S + 11 * MS, 6 * S)
        assert self.coverage(before, resume(4 * S), after, power(5 * S, 4 * S, cpu=1.0)) == 0.0

    @pytest.mark.parametrize("phase", ["first", "warmup", "resume", "transition"])
    def test_a_window_over_samples_that_are_not_steady(self, phase: str) -> None:
        between = window([20 * MS], t0=2 * S, unit="A", phase=phase)
        after = steady(2 * S + 21 * MS, 4 * S)
        assert self.coverage(steady(0, 2 * S), between, after, power(3 * S, 2 * S, cpu=1.0)) == 0.0

    def test_a_window_over_a_change_of_load(self) -> None:
        found = rows([steady(0, 2 * S), steady(2 * S, 4 * S, load="cpu:1"), power(3 * S, 2 * S, cpu=1.0)])
        assert (found["A"].energy_coverage, found["A cpu:1"].energy_coverage) == (0.0, 0.0)

    def test_a_window_over_lost_samples(self) -> None:
        lost = events.Dropped(t=2 * S, n=100, why="the reader stalled", unit="A")
        assert self.coverage(steady(0, 2 * S), lost, steady(3 * S, 5 * S), power(4 * S, 3 * S, cpu=1.0)) == 0.0

    @pytest.mark.parametrize("phase", ["first", "steady"])
    def test_a_window_during_which_another_unit_ran_too(self, phase: str) -> None:
        other = window([30 * MS], t0=3 * S, unit="B", phase=phase)
        ticks = [power(k * S, S, cpu=1000.0) for k in range(2, 6)]  # the third is from 3 to 4 s
        assert self.coverage(steady(0, 5 * S + 2 * MS), other, *ticks) == pytest.approx(0.6, rel=1e-2)

    def test_a_window_that_two_units_shared_from_end_to_end(self) -> None:
        found = rows([steady(0, 5 * S, unit="A"), steady(0, 5 * S, unit="B"), power(3 * S, S, cpu=1.0)])
        assert (found["A"].energy_coverage, found["B"].energy_coverage) == (0.0, 0.0)

    @pytest.mark.parametrize("flag", ["suspect-zero", "stale", "partial", "inconsistent"])
    def test_a_window_that_measured_nothing(self, flag: str) -> None:
        ticks = [power(2 * S, S, cpu=1000.0), power(3 * S, S, flags=[flag], cpu=0.0)]
        found = row([steady(0, 5 * S), *ticks])
        assert found.power_mean_mw is not None
        assert found.power_mean_mw["cpu"] == pytest.approx(1000.0)
        assert found.energy_coverage == pytest.approx(0.2, rel=1e-2)

    def test_an_estimated_window_counts(self) -> None:
        assert self.coverage(steady(0, 5 * S), power(2 * S, S, flags=["estimated"], cpu=9.0)) == pytest.approx(
            0.2, rel=1e-2
        )

    def test_windows_before_a_reset(self) -> None:
        run = cut(steady(0, 10 * S), [500])
        ticks = [power(k * S, S, cpu=1000.0 * k) for k in range(1, 10)]
        reset = events.Control(t=run[0].t, action="reset", units=["A"])
        found = row([run[0], *ticks[:5], reset, run[1], *ticks[5:]])
        assert found.power_mean_mw is not None
        assert found.power_mean_mw["cpu"] == pytest.approx(8000.0)  # of 7, 8 and 9 s: the sixth straddles the reset
        assert found.n == 499


class TestUnknown:
    def test_without_power_everything_is_null(self) -> None:
        found = row([steady(0, 5 * S)])
        values = [getattr(found, name) for name in found.__struct_fields__ if "energy" in name or "power" in name]
        assert values == [None] * len(values)
        assert len(values) == 10
        assert found.inferences_per_joule is None
        session = session_of([steady(0, 5 * S)])
        assert b"energy" not in events.encode(session.keyframe(0, 0))

    def test_a_source_that_knows_no_rail_covers_nothing(self) -> None:
        found = row([steady(0, 5 * S), power(2 * S, cpu=None, gpu=None)])
        assert found.energy_coverage == 0.0
        assert found.energy_mj_per_inference is None

    def test_a_unit_without_samples_has_no_energy(self) -> None:
        found = row([engine(0, "B", "running"), steady(0, 5 * S), power(2 * S, cpu=1.0)], "B")
        assert found.energy_coverage is None


class TestLateSamples:
    def test_a_slow_inference_is_reported_after_many_power_samples(self) -> None:
        # Three inferences of 20 s; the power samples of all that time come before the first of them.
        run = window([20 * S] * 3, unit="A", t0=0, gap=BACK_TO_BACK)
        ticks = [power(k * S // 2, cpu=1000.0) for k in range(1, 121)]
        session = session_of([engine(0, "A", "running"), *ticks, run])
        (found,) = statistics(session)
        assert found.energy_coverage == pytest.approx(1.0)
        assert found.energy_mj_per_inference == pytest.approx(20_000.0)

    def test_an_overlap_that_is_reported_late_still_spoils_the_power_sample(self) -> None:
        # B's second inference takes 9 s; A has long gone on by then. B's first one spoils the first half second.
        ticks = [power(k * S // 2, cpu=1000.0) for k in range(1, 41)]
        slow = window([9 * S], unit="B", t0=3 * S, phase="resume")
        stream: list[AnyEvent] = [engine(0, "A", "running"), engine(0, "B", "running"), resume(0, unit="B"), *ticks]
        told = [*cut(steady(0, 21 * S), range(0, 2100, 5)), slow]
        assert row([*stream, *told]).energy_coverage == pytest.approx(10.5 / 21, rel=1e-2)

    def test_what_can_be_judged_is_known_at_once(self) -> None:
        session = session_of([steady(0, 2 * S), power(3 * S // 2, S + MS, cpu=1000.0)])
        (found,) = statistics(session)
        assert found.energy_mj_per_inference == pytest.approx(10.0, rel=1e-3)

    def test_little_is_held_while_one_unit_runs(self) -> None:
        stream: list[AnyEvent] = [engine(0, "A", "running"), engine(0, "B", "paused")]
        stream += cut(steady(0, 100 * S), range(0, 10_000, 5))
        stream += [power(k * S // 2, cpu=1000.0) for k in range(1, 200)]
        state = session_of(in_order(stream)).keyframe(0, 0).energy
        assert state is not None
        assert len(state.pending) == 10
        assert len(state.spans) == 1

    def test_what_is_held_is_bounded(self) -> None:
        stream: list[AnyEvent] = [engine(0, "A", "running"), resume(0)]
        stream += [power(k * MS, MS, cpu=1.0) for k in range(1, 5000)]
        state = session_of(stream).keyframe(0, 0).energy
        assert state is not None
        assert len(state.pending) == 256
        busy: list[AnyEvent] = [power(0, cpu=1.0), *(resume(k * S, unit="B") for k in range(2000))]
        state = session_of(busy).keyframe(0, 0).energy
        assert state is not None
        assert len(state.spans) == 256


blocks = st.lists(
    st.tuples(
        st.sampled_from(["A", "B"]),
        st.sampled_from(["steady", "steady", "steady", "resume", "warmup", "transition"]),
        st.sampled_from(["none", "none", "cpu:1"]),
        st.integers(1, 60),
        st.integers(1, 30),  # ms of a sample
        st.integers(0, 400),  # ms of rest before it
    ),
    min_size=1,
    max_size=20,
)


def told(blocks: list[tuple[str, str, str, int, int, int]]) -> tuple[list[events.Samples], list[events.Power]]:
    """Windows of samples, one unit after the other, and power samples of 130 to 170 ms over all of it."""
    now, windows = S, []
    for unit, phase, load, n, ms, rest in blocks:
        now += rest * MS + 1
        windows.append(window([ms * MS] * n, t0=now, unit=unit, phase=phase, load=load))
        now = windows[-1].t
    meter = [
        power(end, 150 * MS, cpu=100.0 + 13.7 * (k % 11), gpu=None if k % 5 == 0 else 77.7)
        for k, end in enumerate(range(S // 2, now + S, 150 * MS))
    ]
    return windows, meter


def by_condition(session: Session) -> dict[ConditionKey, EnergyFigures | None]:
    return {key: energy_of(session, condition) for key, condition in session.conditions.items()}


@given(blocks, st.integers(1, 40), st.integers(0, 2000), st.integers(0, 2**32))
def test_however_samples_are_windowed_and_delayed_the_energy_is_the_same(
    blocks: list[tuple[str, str, str, int, int, int]], every: int, delay_ms: int, seed: int
) -> None:
    windows, meter = told(blocks)
    fine = [part for whole in windows for part in cut(whole, range(every, whole.n, every))]
    # As an engine flushes, and as a file holds back: every window later than the power samples by up to two seconds.
    late = [(part.t + (delay_ms * MS if seed >> (k % 32) & 1 else 0), part) for k, part in enumerate(windows)]
    held, latest = [], 0
    for t, part in late:
        latest = max(latest, t)
        held.append((latest, part))
    flushed = session_of(in_order([*fine, *meter]))
    gathered: list[tuple[int, AnyEvent]] = [*held, *((sample.t, sample) for sample in meter)]
    whole = session_of(event for _, event in sorted(gathered, key=lambda pair: pair[0]))
    assert by_condition(flushed) == by_condition(whole)


@given(blocks, st.integers(1, 40), st.integers(0, 200), st.booleans())
def test_going_on_from_a_keyframe_attributes_as_if_never_interrupted(
    blocks: list[tuple[str, str, str, int, int, int]], every: int, stop: int, reset: bool
) -> None:
    windows, meter = told(blocks)
    fine = [part for whole in windows for part in cut(whole, range(every, whole.n, every))]
    stream = in_order([*fine, *meter[3:]])
    if reset:
        half = stream[len(stream) // 2].t
        stream = in_order([*stream, events.Control(t=half, action="reset")])
    extras: list[AnyEvent] = [
        events.PowerStatus(t=0, source="test", state="running", resolution_mj=1.0, interval_ns=150 * MS),
        events.Baseline(t=0, source="test", elapsed_ns=S, mw={"cpu": 20.0}, n=3),
        events.HostLoad(t=0, cpu_percent=[1.0, 2.0], memory_percent=40.0),
    ]
    stream = [*extras, *stream]
    whole = session_of(stream)
    at = min(stop, len(stream))
    first = session_of(stream[:at])
    keyframe = events.decode(events.encode(first.keyframe(first.t, 0)))
    assert isinstance(keyframe, events.Keyframe)
    assert first.header is not None
    resumed = Session.restored(first.header, keyframe)
    for event in stream[at:]:
        resumed.fold(event)
    assert events.encode(resumed.keyframe(0, 0)) == events.encode(whole.keyframe(0, 0))
    assert by_condition(resumed) == by_condition(whole)


@pytest.mark.parametrize(
    "damage",
    [
        {"total": {"cpu": events.RailState(5, "-1", 1)}},
        {"total": {"cpu": events.RailState(5, "many", 1)}},
        {"total": {f"moon {n}": events.RailState(5, "1", 1) for n in range(40)}},
        {"pending": [events.PendingPower(5, 5, [1.0])]},
    ],
)
def test_a_keyframe_whose_energy_cannot_be_is_refused(damage: dict[str, object]) -> None:
    session = session_of([steady(0, S), power(S // 2, cpu=1.0)])
    keyframe = events.Keyframe(t=0, crc32=0, energy=events.EnergyState(**damage))  # type: ignore[arg-type]
    assert session.header is not None
    with pytest.raises(ValueError, match=r"energy is none|invalid literal|other rails"):
        Session.restored(session.header, keyframe)
