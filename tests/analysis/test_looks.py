"""However often a growing session is looked at, few sessions ever show what is not true."""

from __future__ import annotations

import numpy as np

from hettop.analysis.budget import Budget
from hettop.analysis.looks import Looks
from hettop.analysis.unit_samples import in_order_of
from hettop.analysis.verdict import Question, Verdict, verdict
from hettop.session.session import Session
from tests.analysis.material import latencies, session_of, stream_of

QUESTION = Question(budget=Budget(2.0, 0.9))


def looked(looks: Looks, session: Session, question: Question = QUESTION) -> Verdict:
    def ask(each: Question) -> Verdict:
        return verdict(session, each, in_order_of(session), np.random.default_rng(0))

    return looks.keep(ask(looks.asked(question)), ask(question))


def grown(session: Session, turn: int, a_ms: float = 1.0, b_ms: float = 1.0) -> Session:
    rng = np.random.default_rng(turn)
    samples = {"A": latencies(rng, 60, 0.0, a_ms), "B": latencies(rng, 60, 0.0, b_ms)}
    for event in stream_of(samples, t0=turn * 10**9):
        session.fold(event)
    return session


def test_what_was_proven_stays_until_the_samples_speak_against_it() -> None:
    """At the 40th look, 100 samples prove no P90 at its confidence: .9^100 = 2.7e-5 > .05 / (40 * 41) / 2."""
    session, looks = session_of([]), Looks()
    for turn in range(8):
        found = looked(looks, grown(session, turn))
    assert [found.judgements[unit].met for unit in "AB"] == [True, True]
    looks.number = 39
    assert [looked(looks, session).judgements[unit].met for unit in "AB"] == [True, True]
    assert [looked(Looks(number=39), session).judgements[unit].met for unit in "AB"] == [None, None]
    for turn in range(8, 12):
        found = looked(looks, grown(session, turn, a_ms=4.0))
    assert found.judgements["A"].met is not True
    assert found.judgements["B"].met is True


def test_a_proven_order_stays_proven_and_not_the_other_way_round() -> None:
    session, looks = session_of([]), Looks()
    for turn in range(12):
        grown(session, turn, b_ms=1.3)
    found = looked(looks, session, Question())
    assert [(pair.better, pair.worse, pair.proven) for pair in found.order] == [("A", "B", True)]
    assert looks.order == {("A", "B")}
