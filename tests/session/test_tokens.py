"""Tokens a second: worked values, and headers that make no sense."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from hettop.session.beside import beside
from hettop.session.session import Session
from hettop.session.statistics import statistics
from hettop.session.tokens import TokensPerCall, tokens_per_call, tokens_per_s
from tests.session.test_beside import latencies
from tests.streams import MS, S, header, window


def session_with(tokens: Any, **settings: Any) -> Session:
    session = Session()
    session.fold(msgspec.structs.replace(header(), settings={"tokens": tokens, **settings}))
    return session


def test_tokens_a_second_are_those_of_the_median_call() -> None:
    session = session_with({"prefill": 128, "decode": 1, "by": "axis 1 of tokens"})
    session.fold(window([20 * MS, 25 * MS, 900 * MS]))
    session.fold(window([40 * MS, 40 * MS, 50 * MS], unit="CPU_ONLY~prefill", t0=S))
    decode, prefill = statistics(session)
    assert (decode.tokens_per_call, prefill.tokens_per_call) == (1, 128)
    assert decode.tokens_per_s == pytest.approx(40.0)
    assert prefill.tokens_per_s == pytest.approx(3200.0)


def test_other_sessions_count_no_tokens() -> None:
    session = Session()
    session.fold(header())
    session.fold(window([20 * MS]))
    (row,) = statistics(session)
    assert (row.tokens_per_call, row.tokens_per_s) == (None, None)


def test_what_was_not_measured_has_no_rate() -> None:
    assert tokens_per_s(128, None) is None
    assert tokens_per_s(None, 5.0) is None


@pytest.mark.parametrize(
    "tokens",
    [
        *(None, 5, [], {}, {"prefill": 128}, {"prefill": "128", "decode": 1}, {"prefill": True, "decode": 1}),
        *({"prefill": 10**400, "decode": 1}, {"prefill": 0, "decode": 1}, {"prefill": 1.5, "decode": 1}),
    ],
)
def test_a_header_that_makes_no_sense_reports_nothing(tokens: Any) -> None:
    assert tokens_per_call(session_with(tokens)) is None


def test_how_the_tokens_were_counted_may_be_missing() -> None:
    assert tokens_per_call(session_with({"prefill": 8, "decode": 2})) == TokensPerCall(8, 2, "")


def test_prefill_is_not_held_against_decode_as_if_they_were_the_same_work() -> None:
    windows = window(latencies(2.0, 1)), window(latencies(30.0, 2), unit="CPU_ONLY~prefill", t0=S)
    for tokens, compared in (({"prefill": 8, "decode": 1}, 0), (None, 1)):
        session = session_with(tokens)
        for event in windows:
            session.fold(event)
        assert len(beside(session)) == compared
