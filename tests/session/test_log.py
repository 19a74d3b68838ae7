"""Which events are worth a line to the person watching."""

from __future__ import annotations

from hettop import events
from hettop.session.log import describe


def test_a_process_that_replaces_another_says_why() -> None:
    note = "recycled after 900 predictions: its memory grew from 300 to 900 MB"
    entry = describe(events.Engine(t=5, unit="ALL", state="spawning", note=note))
    assert entry is not None
    assert (entry.t, entry.level, entry.text) == (5, "info", f"ALL {note}")


def test_a_process_that_starts_is_no_news() -> None:
    assert describe(events.Engine(t=5, unit="ALL", state="spawning")) is None
