"""Candidate causes of spikes: the right one is named, and none where spikes come by chance."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np
import pytest

from hettop import events
from hettop.events import AnyEvent
from hettop.record.window_coalescer import WindowCoalescer
from hettop.session import causes
from hettop.session.causes import CAUSES, LAG_SLOTS, SLOT_NS, Causes, Marks, clock_changed
from hettop.session.session import Session
from hettop.session.spikes import Spikes
from hettop.stats.causes import Judged, Verdict
from tests.session.storms import Storm, folded
from tests.streams import MS, S, header, window

INJECTED = (*causes.OF_MACHINE, *causes.OF_ENGINE)


def judged(session: Session) -> dict[int, Judged]:
    (condition,) = session.conditions.values()
    return condition.found.judged(session.causes.of(condition.key.unit))


def named(found: dict[int, Judged]) -> set[int]:
    return {cause for cause, each in found.items() if each.verdict is Verdict.MORE}


def test_random_spikes_are_called_chance() -> None:
    """Were one in eight called correlated, 96 of 100 such sets of seeds would show it."""
    alarms = 0
    for seed in range(50):
        storm = Storm(seed)
        spikes = storm.random_spikes(int(storm.rng.integers(5, 120)))
        alarms += bool(named(judged(folded(storm.events(spikes)))))
    assert alarms <= 2


def test_the_right_cause_is_named_among_all_that_happens() -> None:
    found = strongest = 0
    for seed in range(50):
        cause = INJECTED[seed % len(INJECTED)]
        storm = Storm(seed)
        # Four of five times there is a spike when it happens; ten spikes come by chance.
        spikes = sorted(storm.spikes_of(cause, 0.8) + storm.random_spikes(10))
        told = judged(folded(storm.events(spikes)))
        found += cause in named(told)
        likeliest = min(told, key=lambda each: 1.0 if told[each].p is None else told[each].p or 0.0)
        strongest += likeliest == cause
    assert found >= 45
    assert strongest >= 48


def test_spikes_and_events_that_are_both_frequent_at_first_are_not_correlated() -> None:
    alarms = 0
    for seed in range(20):
        storm = Storm(seed)
        for cause, n in ((causes.MINOR, 300), (causes.SWITCH, 120)):
            storm.at[cause] = sorted((2_000 + storm.rng.integers(0, 20_000, n)).tolist())
        spikes = sorted((2_000 + storm.rng.integers(0, 20_000, 40)).tolist())
        alarms += bool(named(judged(folded(storm.events(spikes)))))
    assert alarms <= 1


def test_spikes_every_two_seconds_are_not_correlated_with_redraws_in_step_with_them() -> None:
    storm = Storm(1)
    spikes = [t + 5 for t in storm.at[causes.REDRAW][8::8]]
    found = judged(folded(storm.events(spikes)))
    assert (found[causes.REDRAW].inside or 0.0) > 0.9
    assert found[causes.REDRAW].verdict is Verdict.TOO_FEW


def test_what_chance_gives_is_that_of_the_same_ten_seconds() -> None:
    """A spike in each of two strata: one where every moment has the event, one where a tenth has it."""
    marks, spikes = Marks((causes.SWITCH,)), Spikes()
    marks.add(causes.SWITCH, 0, 199)
    marks.add(causes.SWITCH, 240, 259)
    spikes.ran(np.arange(1, 2_000) * 10 * MS, 10 * MS, None, 0)
    for at_s in (5, 15):
        spikes.add(at_s * S + 10 * MS, MS, idle=False, settled=0)
    found = spikes.judged((marks,))[causes.SWITCH]
    assert found.inside == 0.5
    assert found.outside == pytest.approx((1 + 0.1) / 2)


def test_long_stalls_meet_more_of_everything_by_chance_too() -> None:
    """A stall of a second has nearly always a redraw and a power sample in it, which proves nothing."""
    alarms = 0
    for seed in range(20):
        storm = Storm(seed)
        told = judged(folded(storm.events(storm.random_spikes(25), (600 * MS, 1200 * MS))))
        assert (told[causes.REDRAW].inside or 0.0) > 0.9
        alarms += bool(named(told))
    assert alarms <= 1


def test_a_first_call_after_a_pause_is_distinguished_from_the_others() -> None:
    session = Session()
    t = 0
    for i in range(200):
        slow = i in (40, 50, 70, 80, 110, 120, 150, 190)
        # A pause of 20 ms before every tenth block of samples, whose first call then is slow.
        t += 20 * MS if i % 10 == 0 else 1_000
        latencies = [8 * MS if slow else 2 * MS, *[2 * MS] * 49]
        session.fold(window(latencies, t0=t))
        t += sum(latencies) + 49 * 1_000
    found = judged(session)
    assert named(found) == {causes.IDLE}
    assert found[causes.IDLE].inside == 1.0
    # Of 50 samples one is after a pause, in the ten seconds of each spike.
    assert found[causes.IDLE].outside == pytest.approx(1 / 500, rel=0.1)


@pytest.mark.parametrize("stop_at", [5, 130, 222, 301])
def test_going_on_from_a_keyframe_counts_the_same(stop_at: int) -> None:
    storm = Storm(7)
    told = list(storm.events(storm.spikes_of(causes.SWITCH, 0.8)))
    whole = folded(iter([header(), *told]))
    first = folded(iter([header(), *told[:stop_at]]))
    state = first.keyframe(first.t, 0)
    line = events.encode(state)
    again = events.decode(line)
    assert isinstance(again, events.Keyframe)
    restored = Session.restored(header(), again)
    for event in told[stop_at:]:
        restored.fold(event)
    assert judged(restored) == judged(whole)
    assert events.encode(restored.keyframe(whole.t, 0)) == events.encode(whole.keyframe(whole.t, 0))


def test_a_recording_reports_the_same_as_the_live_screen() -> None:
    """A file gathers what engines report every 50 ms into a line a second."""
    storm = Storm(3)
    told = fine(storm.events(storm.spikes_of(causes.SWITCH, 0.9)))
    gatherer = WindowCoalescer()
    lines = [line for event in told for line in gatherer.add(event)]
    lines += gatherer.flush(told[-1].t)
    assert sum(isinstance(line, events.Usage) for line in lines) < 2 * 90
    live, replayed = folded(iter(told)), folded(iter(lines))
    assert judged(live) == judged(replayed)
    assert causes.SWITCH in named(judged(live))


def fine(told: Iterable[AnyEvent]) -> list[AnyEvent]:
    """The same, with each stretch that an engine was charged in as an event of its own."""
    found: list[AnyEvent] = []
    for event in told:
        if isinstance(event, events.Usage):
            found += [
                msgspec.structs.replace(event, t=span[1] * MS + 60 * MS, spans=[span])
                for span in event.spans  # reported 60 ms after its end
            ]
        else:
            found.append(event)
    return sorted(found, key=lambda event: event.t)


def test_what_is_reported_before_all_is_known_is_what_is_known() -> None:
    """Up to now, spikes are judged with what is known; nothing is final before four seconds have passed."""
    session = Session()
    session.fold(window([2 * MS] * 1000))
    session.fold(events.Usage(t=2 * S, unit="CPU_ONLY", spans=[(2_000, 2_050, events.SWITCHED)]))
    session.fold(window([9 * MS], t0=2_003 * MS))
    (condition,) = session.conditions.values()
    ((spike, present),) = condition.found.recent(0, session.causes.of("CPU_ONLY"))
    assert present == 1 << causes.SWITCH
    assert spike.causes is None
    session.fold(window([2 * MS], t0=(2_050 * MS) + (LAG_SLOTS + 20) * SLOT_NS))
    assert spike.causes == 1 << causes.SWITCH


def test_a_stretch_in_the_future_or_without_end_marks_no_more_than_the_past() -> None:
    found = Causes()
    found.frame(events.Frame(t=S, redraws=1, total_ns=1, worst_ns=1, spans=[(900, 2**52), (2**50, 2**51)]))
    assert found.machine.slots[causes.REDRAW] == [18, 19, 20]


def test_what_engines_of_unknown_units_were_charged_takes_no_memory() -> None:
    session = Session()
    session.fold(events.Usage(t=S, unit="X", spans=[(0, 50, events.SWITCHED)]))
    assert session.causes.engines == {}


def power(mhz: float | None, thermal: str | None = None) -> events.Power:
    return events.Power(t=S, source="s", elapsed_ns=S, clusters=[events.Cluster(name="P", mhz=mhz)], thermal=thermal)


def test_a_clock_change_is_a_tenth_or_another_thermal_state() -> None:
    assert not clock_changed(power(3000.0), power(3290.0))
    assert clock_changed(power(3000.0), power(3310.0))
    assert clock_changed(power(3000.0), power(2690.0))
    assert clock_changed(power(None, "Nominal"), power(None, "Heavy"))
    assert not clock_changed(power(None, None), power(None, "Heavy"))
    assert not clock_changed(power(None), power(3000.0))


def test_a_keyframe_with_causes_that_are_none_is_refused() -> None:
    state = events.CausesState(machine=[events.CauseMarks(len(CAUSES), None, [])])
    with pytest.raises(ValueError, match="cause that is none"):
        Causes.restored(state)
    counts = events.SpikesState(counts=[events.CauseCounts(0, 1, [1, 2])])
    with pytest.raises(ValueError, match="causes that are none"):
        Spikes.restored(1, [], counts, 0)


def test_spikes_close_to_each_other_count_once_as_evidence() -> None:
    session = Session()
    session.fold(window([2 * MS] * 1000))
    session.fold(window([9 * MS] * 30, t0=3 * S))  # .27 s of nothing but spikes
    session.fold(window([9 * MS], t0=5 * S))
    (condition,) = session.conditions.values()
    assert condition.spikes == 31
    assert condition.found.evidence() == 2


def test_ages_of_many_slots_are_since_the_last_presence_before_each() -> None:
    marks = causes.Marks()
    marks.add(causes.LOAD, 3, 4)
    marks.add(causes.LOAD, 10, 10)
    assert list(marks.ages(causes.LOAD, [1, 3, 4, 6, 9, 10, 12])) == [0, 0, 2, 5, 0, 2]
    marks.forget_before(8)
    assert list(marks.ages(causes.LOAD, [8, 9, 11])) == [4, 5, 1]
