"""What an engine was charged becomes an event that says when."""

from __future__ import annotations

from hettop import events
from hettop.sources.engine.frames import UsageReport
from hettop.sources.engine.unit_events import usage_events

MS = 1_000_000


def test_a_charge_has_its_stretch_on_the_clock_of_the_session() -> None:
    report = UsageReport(
        major_faults=1, involuntary_switches=2, voluntary_switches=9, since_ns=1_050 * MS, until_ns=1_100 * MS
    )
    (event,) = usage_events("A", report, origin_ns=1_000 * MS)
    assert event.spans == [(50, 100, events.FAULTED_MAJOR + events.SWITCHED)]
    assert (event.major_faults, event.involuntary_switches, event.voluntary_switches) == (1, 2, 9)


def test_what_began_before_the_session_begins_with_it() -> None:
    report = UsageReport(collections=1, since_ns=0, until_ns=1_020 * MS)
    (event,) = usage_events("A", report, origin_ns=1_000 * MS)
    assert event.spans == [(0, 20, events.COLLECTED)]


def test_a_report_without_times_says_how_much_and_not_when() -> None:
    (event,) = usage_events("A", UsageReport(minor_faults=3), origin_ns=0)
    assert (event.minor_faults, event.spans) == (3, [])


def test_memory_alone_is_no_charge() -> None:
    assert usage_events("A", UsageReport(resident_mb=3.0, voluntary_switches=5, since_ns=0, until_ns=1), 0) == []
