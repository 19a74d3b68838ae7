"""What is said of prefill and decode, and of what is missing of them."""

from __future__ import annotations

from hettop import events
from hettop.report.document import session_document
from hettop.report.markdown_page import markdown_page
from hettop.report.notes import token_notes
from hettop.report.recording_report import RecordingReport, page_of
from hettop.report.threshold import parse_threshold
from hettop.session.session import Session
from hettop.session.statistics import statistics
from tests.report.sessions import session_table
from tests.session.test_tokens import session_with
from tests.streams import MS, S, window

TOLD = {"prefill": 128, "decode": 1, "by": "axis 1 of tokens"}
PREFILL = window([41 * MS] * 3, unit="CPU_AND_NE~prefill", t0=S)
DECODE = window([26 * MS] * 3, unit="CPU_AND_NE")


def folded(*stream: events.AnyEvent, tokens: object = TOLD) -> Session:
    session = session_with(tokens)
    for event in stream:
        session.fold(event)
    return session


def first_note(session: Session) -> str:
    return token_notes(session, statistics(session))[0]


def test_one_sentence_reports_prefill_decode_and_what_the_first_token_waits_for() -> None:
    assert first_note(folded(DECODE, PREFILL)) == (
        "CPU_AND_NE: prefill 128 tokens in 41.0 ms (3,122 tokens/s), decode 38.5 tokens/s; "
        "first token after a 128-token prompt: 41.0 ms + 26.0 ms"
    )


def test_a_decode_of_several_tokens_says_how_many() -> None:
    session = folded(DECODE, PREFILL, tokens={"prefill": 128, "decode": 4, "by": "--tokens"})
    assert "decode 4 tokens in 26.0 ms (154 tokens/s)" in first_note(session)
    assert "4 in decode, by --tokens" in token_notes(session, statistics(session))[1]


def test_what_failed_is_not_known_and_says_why() -> None:
    error = events.Failure(kind="crashed", message="killed by \x1bSIGKILL")
    failed = events.Engine(t=0, unit="CPU_AND_NE~prefill", state="failed", error=error)
    note = first_note(folded(DECODE, failed))
    assert note.startswith("CPU_AND_NE: prefill n/a (killed by ")
    assert "\x1b" not in note
    assert "), decode 38.5 tokens/s; first token" in note
    assert note.endswith("prompt: n/a")


def test_each_load_has_its_own_sentence() -> None:
    session = folded(DECODE, PREFILL, window([52 * MS] * 3, unit="CPU_AND_NE", load="cpu:1", t0=2 * S))
    told = token_notes(session, statistics(session))
    assert told[1].startswith("CPU_AND_NE under cpu:1: prefill n/a (not measured under this condition), decode 19.2 ")


def test_the_table_has_a_column_of_tokens_and_only_where_there_are_any() -> None:
    narrow = session_table(folded(DECODE, PREFILL), 46)
    heading = next(line for line in narrow.splitlines() if line.startswith("unit"))
    assert "tokens/s" in heading
    assert "inf/s" not in heading
    assert "first token after a 128-token prompt" in " ".join(narrow.split())
    assert "tokens" not in session_table(folded(DECODE, tokens=None), 200)


def test_programs_get_the_tokens_and_how_they_were_counted() -> None:
    assert session_document(folded(DECODE))["tokens"] == {**TOLD, "prefill_variant": "prefill"}
    assert "tokens" not in session_document(folded(DECODE, tokens=None))


def test_tokens_a_second_can_be_a_threshold() -> None:
    rows = statistics(folded(DECODE, PREFILL))
    assert parse_threshold("CPU_AND_NE.tokens>38/s").judge(rows).met is True
    assert parse_threshold("CPU_AND_NE~prefill.tokens>3000").judge(rows).met is True
    broken = parse_threshold("CPU_AND_NE.tokens>39").judge(rows)
    assert broken.met is False
    assert "tokens of CPU_AND_NE is 38.4615/s" in broken.why


def test_the_story_of_a_recording_has_the_sentence_and_no_dump_of_the_setting() -> None:
    text = markdown_page(page_of([RecordingReport("r.jsonl", folded(DECODE, PREFILL))]))
    assert "prefill 128 tokens in 41.0 ms (3,122 tokens/s), decode 38.5 tokens/s" in text
    assert "'by'" not in text
