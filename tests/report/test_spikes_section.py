"""What went with spikes, in words."""

from __future__ import annotations

from hettop.report.page import Items, Table
from hettop.report.spikes_section import cause_notes, spikes_section
from hettop.session import causes
from hettop.session.session import Session
from hettop.session.statistics import statistics
from tests.session.storms import Storm, folded
from tests.streams import MS, S, window


def test_without_spikes_there_is_nothing_to_report() -> None:
    session = Session()
    session.fold(window([2 * MS] * 100))
    assert spikes_section(session) is None
    assert cause_notes(session) == []


def test_the_cause_is_named_with_its_rates_and_the_others_are_called_chance() -> None:
    storm = Storm(3)
    session = folded(storm.events(storm.spikes_of(causes.SWITCH, 0.9)))
    (note,) = cause_notes(session)
    whose = "involuntary context switch in hettop's engine process"
    assert note.startswith(f"spikes of CPU_ONLY correlate with: {whose} (100% of them, ")
    section = spikes_section(session)
    assert section is not None
    (text,) = next(block for block in section.blocks if isinstance(block, Items)).texts
    assert f"correlated with {whose} (at 100% of spikes" in text
    table, listed = (block for block in section.blocks if isinstance(block, Table))
    verdicts = {row[0]: row[4] for row in table.rows}
    assert verdicts.pop("involuntary context switch") == "significant"
    assert set(verdicts.values()) <= {"not significant", "insufficient data"}
    assert len(listed.rows) == 12


def test_random_spikes_are_shown_to_be_chance() -> None:
    storm = Storm(8)
    session = folded(storm.events(storm.random_spikes(60)))
    assert cause_notes(session) == []
    section = spikes_section(session)
    assert section is not None
    (text,) = next(block for block in section.blocks if isinstance(block, Items)).texts
    assert text.endswith("no significant correlation")


def test_a_few_spikes_report_nothing() -> None:
    session = Session()
    session.fold(window([2 * MS] * 100))
    session.fold(window([9 * MS], t0=S))
    section = spikes_section(session)
    assert section is not None
    (text,) = next(block for block in section.blocks if isinstance(block, Items)).texts
    assert text.startswith(
        "CPU_ONLY: 1 spike, insufficient data: too few spikes, or at a fixed interval (not observed: screen redraw, "
    )


def test_the_statistics_object_holds_the_same_figures() -> None:
    storm = Storm(3)
    (row,) = statistics(folded(storm.events(storm.spikes_of(causes.SWITCH, 0.9))))
    assert row.spike_causes is not None
    first = row.spike_causes[0]
    assert (first.cause, first.inside, first.verdict) == ("involuntary_switch", 1.0, "significant")
    assert first.spikes >= 20
    assert first.p is not None
    assert first.p < 1e-6
    assert {each.cause for each in row.spike_causes} >= {"ui_frame", "power_sample", "after_idle"}
