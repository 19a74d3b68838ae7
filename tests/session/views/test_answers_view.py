"""The view of a token stream: what belongs to which distribution, and the present rate."""

from __future__ import annotations

import pytest

from hettop.session.session import Session
from hettop.session.views.answers import NOW_NS, answers_view
from tests.streams import answered

MS = 10**6


def test_first_tokens_and_gaps_are_apart() -> None:
    session = answered(*[(100, [10, 20, 30])] * 20)
    view = answers_view(session, "U", session.t)
    assert view is not None
    assert (view.unit, view.n, view.failed, view.first.n, view.later.n) == ("U", 20, 0, 20, 60)
    assert (view.first.p50_ms, view.later.p50_ms, view.later.max_ms) == (100, 20, 30)
    assert view.later.p99_ms is None, "60 are too few"
    assert (sum(view.first.counts), sum(view.later.counts)) == (20, 60)
    assert [count for count in view.later.counts if count] == [20, 20, 20]
    assert view.answer_per_s == pytest.approx(4 * 1e3 / 160)
    assert (view.mj_per_token, view.canary, view.stalls) == (None, None, ())


def test_the_present_rate_is_of_all_tokens_of_the_last_seconds() -> None:
    """An answer of 4 tokens takes 160 ms: two seconds before the end hold 12.5 of them, and 50 tokens."""
    session = answered(*[(100, [10, 20, 30])] * 20)
    view = answers_view(session, "U", session.t)
    assert view is not None
    assert view.now_per_s == pytest.approx(50 / (NOW_NS / 1e9), rel=0.05)
    later = answers_view(session, "U", session.t + 2 * NOW_NS)
    assert later is not None
    assert later.now_per_s is None


def test_the_row_of_first_tokens_leads_to_the_same_view() -> None:
    session = answered((100, [10]), failed=1)
    view = answers_view(session, "U~prefill", session.t)
    assert view is not None
    assert (view.unit, view.failed, view.last_error) == ("U", 1, "HTTP 429")


def test_where_units_are_viewed_together_it_is_of_the_first_one() -> None:
    view = answers_view(answered((100, [10])), None, 0)
    assert view is not None
    assert view.unit == "U"


def test_there_is_no_view_without_answers() -> None:
    assert answers_view(Session(), "U", 0) is None
    assert answers_view(answered((100, [10])), "V", 0) is None


def test_a_present_rate_without_the_tokens_of_bursts_would_be_too_low() -> None:
    session = answered(*[(100, [10, 20, 30])] * 20)
    session.answers["U", "none"].several = 1
    view = answers_view(session, "U", session.t)
    assert view is not None
    assert view.now_per_s is None
