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


def test_advice_says_what_instead_of_what_under_which_load_and_by_how_much() -> None:
    given = events.Advice(t=7, load="cpu:2", unit="ALL", over="CPU_ONLY", p90_ns=2_134_000, over_p90_ns=4_250_000)
    entry = describe(given)
    assert entry is not None
    assert (entry.kind, entry.text) == (
        "advice",
        "advice under load cpu:2: ALL instead of CPU_ONLY: P90 2.13 ms, not 4.25",
    )
    taken_back = describe(events.Advice(t=8, load="cpu:2"))
    assert taken_back is not None
    assert taken_back.text == "no other unit is advised any more"


def test_what_compiling_took_is_told_before_the_load() -> None:
    def told(**more: object) -> str:
        engine = events.Engine(t=0, unit="ALL", state="warming", load_ns=90_000_000, first_ns=2_000_000, **more)  # type: ignore[arg-type]
        entry = describe(engine)
        assert entry is not None
        return entry.text

    assert told() == "ALL loaded in 90 ms, first call 2.0 ms"
    assert told(compile_ns=4_100_000_000, cached=False) == "ALL compiled in 4.1 s, loaded in 90 ms, first call 2.0 ms"
    assert told(cached=True) == "ALL compiled before, loaded in 90 ms, first call 2.0 ms"


def test_a_capture_is_not_told_as_a_source_of_power() -> None:
    entry = describe(events.PowerStatus(t=0, source="file", state="running"))
    assert entry is not None
    assert (entry.level, entry.text) == ("warning", "power from a capture: it tells nothing of this run")
