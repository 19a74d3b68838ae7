"""The verdict for the screen: when it is judged anew, by which samples, and on which budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hettop import events
from hettop.analysis.budget import Budget
from hettop.app.verdict_cache import VerdictCache, budget_of, question_of, recent_of
from hettop.report.terminal.blocks import block_text
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

    def judged(self, session: Session, now_ns: int, *, still: bool) -> VerdictPage:
        page = self.page(session, now_ns, still=still)
        assert page is not None
        return page


def shown(page: VerdictPage) -> list[str]:
    return block_text(page.blocks, 400).splitlines()


def two_units(**settings: Any) -> Session:
    """Ten turns of each."""
    turns = [
        window(latencies(level, 1100)[turn::10], t0=(turn * 2 + place) * S, unit=unit)
        for turn in range(10)
        for place, (unit, level) in enumerate((("CPU_ONLY", 4.0), ("ALL", 2.0)))
    ]
    return session_of(*turns, **settings)


def test_the_faster_unit_is_advised_with_an_interval_of_what_it_is_ahead() -> None:
    page = AtOnce().judged(two_units(), 12 * S, still=False)
    advised = next(line for line in shown(page) if line.startswith("real time"))
    assert advised.split()[2] == "ALL"
    assert "ahead of CPU_ONLY (97.5% interval 1.9" in advised  # 4 ms less 2 ms


def test_it_is_judged_anew_after_five_seconds_or_when_the_load_changes() -> None:
    judge, session = AtOnce(), two_units()
    first = judge.judged(session, 12 * S, still=False)
    assert judge.judged(session, 16 * S, still=False) is first
    assert judge.judged(session, 17 * S, still=False).judged_ns == 17 * S
    session.fold(events.Load(t=18 * S, what="all", state="confirmed", condition="cpu:2"))
    loaded = judge.judged(session, 19 * S, still=False)
    assert loaded.judged_ns == 19 * S
    assert loaded.blocks == (), "nothing was measured under it yet"


def test_with_nothing_to_judge_it_looks_again_after_a_second() -> None:
    judge, session = AtOnce(), session_of()
    assert judge.judged(session, 2 * S, still=False).blocks == ()
    session.fold(window(latencies(2.0), t0=2 * S))
    assert judge.judged(session, 2_900_000_000, still=False).judged_ns == 2 * S
    found = judge.judged(session, 3 * S, still=False)
    assert found.judged_ns == 3 * S
    assert found.evidence is not None
    assert found.evidence.sentence.startswith("CPU_ONLY alone was measured: mean 2.0")


def test_a_replay_that_stands_still_is_judged_at_the_moment_it_shows() -> None:
    judge, session = AtOnce(), two_units()
    judge.judged(session, 12 * S, still=False)
    assert judge.judged(session, 13 * S, still=True).judged_ns == 13 * S


def test_a_budget_of_the_settings_is_judged() -> None:
    session = two_units(budget="10ms@p90", energy="5mJ")
    question = question_of(session)
    assert question.budget is not None
    assert (question.budget.limit_ms, question.budget.quantile, question.energy_mj) == (10.0, 0.9, 5.0)
    page = AtOnce().judged(session, 20 * S, still=False)
    assert any("CPU_ONLY: yes" in line for line in shown(page))


def test_without_a_budget_the_period_of_the_rate_is_one() -> None:
    session = two_units()
    assert budget_of(session) is None
    session.fold(events.Control(t=20 * S, action="rate", units=["CPU_ONLY"], rate_hz=50.0))
    assert budget_of(session) == Budget(20.0, 0.99, 50.0)
    assert budget_of(Session()) is None


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
    page = AtOnce().judged(session, 102 * S, still=False)
    assert any("the samples of the last minute" in line for line in shown(page))


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
    assert cache.page(session, 12 * S, still=False) is None
    assert cache.page(session, 12 * S, still=False) is None
    (work,) = waiting
    session.fold(events.Control(t=12 * S, action="reset"))
    work()
    page = cache.page(session, 13 * S, still=False)
    assert page is not None
    assert page.judged_ns == 12 * S
    assert any(line.split()[:3] == ["real", "time", "ALL"] for line in shown(page))


def test_what_goes_wrong_while_judging_is_raised_for_whoever_asks_next() -> None:
    cache = VerdictCache(lambda work: work())
    broken = two_units()
    broken.conditions[next(iter(broken.conditions))].wall = None  # type: ignore[assignment]
    assert cache.page(broken, 12 * S, still=False) is None
    with pytest.raises(AttributeError):
        cache.page(broken, 12 * S, still=False)
