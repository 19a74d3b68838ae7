"""Which events are worth a line to the person watching."""

from __future__ import annotations

from hettop import events
from hettop.events import AnyEvent, LogEntry
from hettop.session.log import in_words, log_event
from hettop.session.session import Session


def describe(event: AnyEvent) -> LogEntry | None:
    logged = log_event(event)
    return None if logged is None else in_words(logged)


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
        "advice under load cpu:2: ALL instead of CPU_ONLY: P90 2.13 ms instead of 4.25 ms",
    )
    taken_back = describe(events.Advice(t=8, load="cpu:2"))
    assert taken_back is not None
    assert taken_back.text == "advice withdrawn"


def test_what_compiling_took_is_reported_before_the_load() -> None:
    def told(**more: object) -> str:
        engine = events.Engine(t=0, unit="ALL", state="warming", load_ns=90_000_000, first_ns=2_000_000, **more)  # type: ignore[arg-type]
        entry = describe(engine)
        assert entry is not None
        return entry.text

    assert told() == "ALL loaded in 90 ms, first call 2.0 ms"
    assert told(compile_ns=4_100_000_000, cached=False) == "ALL compiled in 4.1 s, loaded in 90 ms, first call 2.0 ms"
    assert told(cached=True) == "ALL already compiled, loaded in 90 ms, first call 2.0 ms"


def test_a_capture_is_not_reported_as_a_source_of_power() -> None:
    entry = describe(events.PowerStatus(t=0, source="file", state="running"))
    assert entry is not None
    assert (entry.level, entry.text) == ("warning", "power from a capture, unrelated to this run")


def test_a_keyframe_holds_what_happened_and_not_the_words_for_it() -> None:
    session = Session(0)
    happened = (
        events.Header(t=0, format="hettop", version=(1, 1), model=events.ModelInfo(name="m", note="the note")),
        events.Control(t=1, action="start", mode="single", units=["ALL"]),
        events.Engine(t=2, unit="ALL", state="warming", load_ns=90_000_000, first_ns=2_000_000),
        events.Study(t=3, name="layers", state="done", elapsed_ns=3, arguments=["--json"]),
        events.Dropped(t=4, n=7, why="queue full"),
        events.End(t=5, why="user"),
    )
    for event in happened:
        session.fold(event)
    keyframe = session.keyframe(6, 0)
    assert [in_words(entry).text for entry in keyframe.log_events] == [
        "m: the note",
        "measuring ALL",
        "ALL loaded in 90 ms, first call 2.0 ms",
        "study layers done",
        "7 samples dropped: queue full",
        "end: user",
    ]
    assert keyframe.log == []
    line = events.encode(keyframe)
    for word in (b"measuring", b"loaded", b"first call", b"dropped:", b"end:"):
        assert word not in line
    again = Session.restored(happened[0], events.decode(line))  # type: ignore[arg-type]
    assert list(map(in_words, again.log)) == list(map(in_words, session.log))


def test_an_entry_of_format_1_0_keeps_the_words_that_it_came_in() -> None:
    header = events.Header(t=0, format="hettop", version=(1, 0))
    entry = LogEntry(t=1, level="info", text="measuring ALL, as it was said then", kind="control")
    session = Session.restored(header, events.Keyframe(t=2, crc32=0, log=[entry]))
    session.fold(events.Mark(t=3, text="here"))
    assert [(line.text, line.kind) for line in map(in_words, session.log)] == [
        ("measuring ALL, as it was said then", "control"),
        ("mark: here", "mark"),
    ]
    assert session.keyframe(4, 0).log == [entry]


def test_a_drift_that_a_damaged_file_claims_from_nothing_is_shown_without_a_share() -> None:
    entry = events.LevelDrift(t=9, unit="ALL", since_ns=0, before_ns=0.0, after_ns=2e6)
    assert in_words(entry).text == "ALL drifts: median 0 → 2.00 ms since 00:00"
