"""Budgets of token streams: answers are the unit of evidence, and goodput counts answers within all limits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from hettop import events
from hettop.analysis.budget import Budget, judge, parse_budgets
from hettop.analysis.quantile_differences import quantile_differences
from hettop.analysis.runs import run_of
from hettop.analysis.unit_samples import Measured, in_order_of
from hettop.analysis.verdict import Question, Verdict, verdict
from hettop.errors import HettopError
from hettop.session.session import Session
from tests.streams import answered

MS, S = 10**6, 10**9


def test_budgets_say_what_they_are_of() -> None:
    itl, ttft = parse_budgets("500ms@p90:ttft,50ms@p99:itl", None)
    assert (itl, ttft) == (Budget(50, 0.99, None, "itl"), Budget(500, 0.9, None, "ttft"))
    assert parse_budgets("20:itl", 4.0) == (Budget(20, 0.99, None, "itl"),)
    assert parse_budgets("20:ttft", 4.0) == (Budget(20, 0.99, 4.0, "ttft"),), "a rate is of answers"
    assert parse_budgets("16ms@p90", None) == (Budget(16, 0.9),)
    assert parse_budgets(None, None) == ()


@pytest.mark.parametrize("text", ["5ms:tpot", "5ms:itl,6ms:itl", "5ms:itl,6ms", ":itl", "soon:ttft"])
def test_other_budgets_are_refused(text: str) -> None:
    with pytest.raises(HettopError, match="invalid budget"):
        parse_budgets(text, None)


def tokens(samples: Any, answers: int) -> Measured:
    """Tokens of `answers` equally long answers, one after another."""
    array = np.asarray(samples, dtype=np.float64)
    ends = (float(array.min()), float(array.max()), float(np.median(array)), float(np.quantile(array, 0.9)))
    low, high, p50, p90 = ends
    turns = np.repeat(np.arange(answers), array.size // answers)
    return Measured(
        *("U", "none", "wall", array.size, array, float(array.mean()), low, high, p50, p90),
        turns=turns,
        answers=answers,
        calls=array.size + answers,
    )


def test_the_tokens_of_an_answer_count_as_one_sample() -> None:
    """200 tokens an answer, all alike: P90 needs 64 independent samples, and 5,600 tokens of 28 answers are 28."""
    rng = np.random.default_rng(1)
    budget = Budget(10, 0.9, of="itl")
    few = judge(tokens(rng.uniform(1, 2, 28 * 200), 28), budget, paced_at=None)
    assert (few.met, few.effective) == (None, 28)
    assert few.why == "28 answers count as 28 samples, but this percentile needs 64"
    assert few.needs is not None
    assert (few.needs_answers, few.needs_for) == (math.ceil(few.needs / 200), True)
    many = judge(tokens(rng.uniform(1, 2, 400 * 200), 400), budget, paced_at=None)
    assert many.met is True
    assert 64 <= many.effective <= 400


def test_short_answers_count_together() -> None:
    """Of 9 tokens and the first: 11 answers are 110 calls, which count as one sample."""
    judged = judge(tokens(np.ones(330 * 9), 330), Budget(10, 0.9, of="itl"), paced_at=None)
    assert judged.effective == 30


def test_answers_that_have_a_level_each_seldom_prove_what_is_false() -> None:
    """The true P90 of answers' levels is the limit: at most 5% of sessions may prove that it is kept."""
    rng = np.random.default_rng(2)
    budget = Budget(float(np.exp(1.2816)), 0.9, of="itl")  # P90 of exp(normal)
    proven = 0
    for _ in range(200):
        levels = np.exp(rng.standard_normal(70))
        samples = np.repeat(levels, 120) * rng.uniform(0.999, 1.001, 70 * 120)
        proven += judge(tokens(samples, 70), budget, paced_at=None).met is True
    assert proven <= 200 * 0.05 + 5


def asked(session: Session, text: str) -> Verdict:
    budget, also, *_ = (*parse_budgets(text, None), None, None)
    return verdict(session, Question(budget=budget, also=also), in_order_of(session), np.random.default_rng(0))


def test_goodput_is_the_share_of_answers_within_both_limits() -> None:
    """Mean time per later token, as DistServe has it: 10, 10, 30 and 30 ms; a failed answer kept nothing."""
    session = answered((100, [10] * 4), (300, [5, 15]), (100, [30, 30]), (300, [10, 50]), failed=1)
    assert asked(session, "20ms@p90:itl,200ms@p90:ttft").goodput == {"U": (1, 5)}
    assert asked(session, "20ms@p90:itl").goodput == {"U": (2, 5)}
    assert asked(session, "200ms@p90:ttft").goodput == {"U": (2, 5)}
    assert asked(session, "20ms@p90").goodput == {}


def test_first_and_later_tokens_are_judged_by_their_own_samples() -> None:
    rng = np.random.default_rng(3)
    session = answered(*((200, (8 + rng.integers(0, 3, 120)).tolist()) for _ in range(300)))
    both = asked(session, "20ms@p90:itl,500ms@p90:ttft")
    assert (both.judgements["U"].met, both.also["U"].met, both.in_budget("U")) == (True, True, True)
    assert both.meeting == ("U",)
    late = asked(session, "20ms@p90:itl,100ms@p90:ttft")
    assert (late.judgements["U"].met, late.also["U"].met, late.in_budget("U")) == (True, False, False)
    assert late.missed_by_all
    assert both.also["U"].n == 300
    first = asked(session, "500ms@p90:ttft")
    assert (first.judgements["U"].n, first.in_budget("U")) == (300, True)


def test_latency_is_known_by_octaves_of_the_position() -> None:
    """Positions 1; 2 and 3; 4 to 7: 1 ms, 2 ms, 4 ms."""
    session = answered(*[(50, [1, 2, 2, 4, 4, 4, 4])] * 5)
    (found,) = session.answers.values()
    octaves = [(each.low, each.high, each.n, round(each.p50_ms)) for each in found.by_position()]
    assert octaves == [(1, 1, 5, 1), (2, 3, 10, 2), (4, 7, 20, 4)]
    rates = [each.tokens_per_s for each in found.recent]
    assert rates == pytest.approx([8 * 1e3 / 71] * 5)


def test_a_keyframe_holds_the_answers() -> None:
    session = answered((100, [10, 20]), (300, [5]), failed=2)
    frame = events.decode(events.encode(session.keyframe(S, 0)))
    assert isinstance(frame, events.Keyframe)
    assert session.header is not None
    again = Session.restored(session.header, frame)
    assert [each.state() for each in again.answers.values()] == [each.state() for each in session.answers.values()]


def test_a_comparison_resamples_whole_answers() -> None:
    """40 answers of 50 tokens: in blocks of 4 answers there are 10 blocks, and not 100 of 20 tokens."""
    rng = np.random.default_rng(4)
    a, b = rng.uniform(9, 11, (2, 2000))
    alone, together = (
        quantile_differences(a, b, ["p50"], 0.05, np.random.default_rng(5), together=each)["p50"].change_ci
        for each in (1.0, 50.0)
    )
    assert together[1] - together[0] > 1.1 * (alone[1] - alone[0])


def test_answers_that_differ_prove_no_difference_between_two_streams() -> None:
    """30 answers of 32 tokens, each with a level of its own (sd 20%): as single tokens most pairs would differ."""
    rng = np.random.default_rng(6)
    false, pairs = 0, 30
    for _ in range(pairs):
        a, b = 10 * np.exp(0.2 * rng.normal(size=(2, 30, 1)) + 0.05 * rng.normal(size=(2, 30, 32)))
        found = quantile_differences(a.ravel(), b.ravel(), ["p50"], 0.05, rng, together=32.0)["p50"]
        false += found.slower or found.faster
    assert false <= 0.07 * pairs


def test_the_answers_of_a_recording_reach_a_comparison() -> None:
    session = answered(*[(100, [10] * 25)] * 8)
    run = run_of(session, in_order_of(session))
    assert {key: each.per_answer for key, each in run.conditions.items()} == {
        ("U", "none"): 25.0,
        ("U~prefill", "none"): 1.0,
    }
