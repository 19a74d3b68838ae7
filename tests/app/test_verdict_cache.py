"""The verdict for the screen: when it is judged anew, by which samples, and on which budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hettop import events
from hettop.app.verdict_cache import VerdictCache, question_of, recent_of
from hettop.session.session import Session
from hettop.tui.feed import VerdictPage
from tests.streams import MS, S, header, window


def session_of(*windows: events.Samples, **settings: Any) -> Session:
    session = Session(raw_limit=0)
    session.fold(header(**settings))
    session.fold(events.Control(t=0, action="start", units=["CPU_ONLY"]))
    for each in windows:
        session.fold(each)
    return session


def latencies(mean_ms: float, n: int = 400) -> list[int]:
    rng = np.random.default_rng(7)
    return [int(value) for value in rng.normal(mean_ms * MS, 0.02 * mean_ms * MS, n)]


class AtOnce(VerdictCache):
    """Judges on the thread that asks."""

    def __init__(self) -> None:
        super().__init__(lambda work: work())

    def judged(self, session: Session, now_ns: int, width: int, *, still: bool) -> VerdictPage:
        page = self.page(session, now_ns, width, still=still)
        assert page is not None
        return page


def two_units() -> Session:
    slow, fast = window(latencies(4.0)), window(latencies(2.0), t0=10 * S, unit="ALL")
    return session_of(slow, fast)


def test_the_faster_unit_is_advised_with_an_interval_of_what_it_is_ahead() -> None:
    page = AtOnce().judged(two_units(), 12 * S, 100, still=False)
    purpose, unit, why = page.advice[0]
    assert (purpose, unit) == ("real time", "ALL")
    assert "ahead of CPU_ONLY (95 % interval 1.9" in why  # 4 ms less 2 ms
    assert max(len(line) for line in page.table) <= 100


def test_it_is_judged_anew_after_five_seconds_or_when_the_load_or_the_width_changes() -> None:
    judge, session = AtOnce(), two_units()
    first = judge.judged(session, 12 * S, 100, still=False)
    assert judge.judged(session, 16 * S, 100, still=False) is first
    assert judge.judged(session, 17 * S, 100, still=False).judged_ns == 17 * S
    assert judge.judged(session, 18 * S, 90, still=False).judged_ns == 18 * S
    session.fold(events.Load(t=18 * S, what="all", state="confirmed", condition="cpu:2"))
    loaded = judge.judged(session, 19 * S, 90, still=False)
    assert loaded.judged_ns == 19 * S
    assert loaded.advice == ()
    assert "load cpu:2" in loaded.conditions


def test_a_replay_that_stands_still_is_judged_at_the_moment_it_shows() -> None:
    judge, session = AtOnce(), two_units()
    judge.judged(session, 12 * S, 100, still=False)
    assert judge.judged(session, 13 * S, 100, still=True).judged_ns == 13 * S


def test_a_budget_of_the_settings_is_judged() -> None:
    session = session_of(window(latencies(4.0)), budget="10ms@p90", energy="5mJ")
    question = question_of(session)
    assert question.budget is not None
    assert (question.budget.limit_ms, question.budget.quantile, question.energy_mj) == (10.0, 0.9, 5.0)
    page = AtOnce().judged(session, 5 * S, 100, still=False)
    assert any(line.strip().startswith("CPU_ONLY: yes") for line in page.budget)


@pytest.mark.parametrize("budget", ["", "soon", 7, None, ["16ms"]])
def test_a_budget_that_is_none_asks_nothing(budget: object) -> None:
    assert question_of(session_of(budget=budget)).budget is None


def test_samples_older_than_a_minute_count_in_figures_and_not_in_intervals() -> None:
    session = session_of(window(latencies(4.0)), window(latencies(3.0), t0=100 * S))
    key = next(iter(session.conditions))
    recent = recent_of(session)(key, "wall")
    assert recent is not None
    assert recent.size == 400
    assert recent.mean() == pytest.approx(3.0 * MS, rel=0.01)
    page = AtOnce().judged(session, 102 * S, 100, still=False)
    assert "of the samples of the last minute" in page.notes[0]


def test_responses_of_paced_runs_are_judged_by_their_last_minute() -> None:
    paced = window(latencies(4.0), late=[MS] * 400, gap=12 * MS)
    session = session_of(paced)
    key = next(iter(session.conditions))
    responses = recent_of(session)(key, "response")
    assert responses is not None
    assert responses.mean() == pytest.approx(5.0 * MS, rel=0.01)
    assert recent_of(session)(key, "native") is None


def test_it_is_judged_beside_the_caller_on_a_copy() -> None:
    """The caller draws and records meanwhile; what it folds is not part of the verdict that is being worked out."""
    waiting: list[Callable[[], None]] = []
    cache, session = VerdictCache(waiting.append), two_units()
    assert cache.page(session, 12 * S, 100, still=False) is None
    assert cache.page(session, 12 * S, 100, still=False) is None
    (work,) = waiting
    session.fold(events.Control(t=12 * S, action="reset"))
    work()
    page = cache.page(session, 13 * S, 100, still=False)
    assert page is not None
    assert (page.judged_ns, page.advice[0][1]) == (12 * S, "ALL")


def test_what_goes_wrong_while_judging_is_raised_for_whoever_asks_next() -> None:
    cache = VerdictCache(lambda work: work())
    broken = two_units()
    broken.conditions[next(iter(broken.conditions))].wall = None  # type: ignore[assignment]
    assert cache.page(broken, 12 * S, 100, still=False) is None
    with pytest.raises(AttributeError):
        cache.page(broken, 12 * S, 100, still=False)
