"""What is said of the answers of a token stream."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from hettop import events
from hettop.report.answers import answer_documents, answer_notes
from hettop.session.session import Session
from hettop.session.tokens import ANSWERS
from tests.session.test_tokens import session_with
from tests.streams import MS, S


def answered(*answers: Mapping[str, int | None]) -> Session:
    """A session of a server's answers of four chunks, one a second, with these counts."""
    session = session_with(None, **{ANSWERS: {"max_tokens": 8}})
    for number, counts in enumerate(answers):
        answer = events.Answer(
            t=S * number,
            unit="SERVER",
            condition="none",
            phase="steady",
            answer=number,
            t0=S * number,
            end_ns=S * number + 30 * MS,
            chunks=4,
            first_ns=MS,
            finish="length",
        )
        session.fold(msgspec.structs.replace(answer, **counts))
    return session


def test_answers_without_a_believable_count_say_so() -> None:
    session = answered({"tokens": 4}, {"tokens": None}, {"tokens": None})
    expected = "number of tokens n/a of 2 answers: the server's count is missing or contradicts what it sent"
    assert f"SERVER: {expected}" in answer_notes(session, [])
    assert answer_documents(session)[0]["tokens"] is None


def test_prompts_that_a_server_had_read_before_are_reported() -> None:
    session = answered(*({"tokens": 4, "prompt_tokens": 100, "cached_tokens": cached} for cached in (0, 80)))
    expected = (
        "80 of 200 prompt tokens came from the server's prompt cache: first tokens are faster than after new prompts"
    )
    assert f"SERVER: {expected}" in answer_notes(session, [])
