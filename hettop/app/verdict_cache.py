"""The verdict for the screen: evaluated every few seconds while it is shown, with the report's texts.

Based on what a live session keeps: sums of all samples, and the samples of the last minute.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from threading import Thread
from typing import TYPE_CHECKING

from hettop.errors import HettopError
from hettop.stats.resampling import SEED
from hettop.tui.feed import VerdictPage

if TYPE_CHECKING:
    from hettop.analysis.budget import Budget
    from hettop.analysis.looks import Looks
    from hettop.analysis.unit_samples import InOrder
    from hettop.analysis.verdict import Question
    from hettop.events import Column
    from hettop.session.condition import ConditionKey
    from hettop.session.session import Session

JUDGED_EVERY_NS = 5 * 10**9
RETRIED_EVERY_NS = 10**9
"""Until there is anything to judge, and when another unit has samples: else the screen would contradict the panels."""

RECENT = (
    "the picture and all intervals use the samples of the last minute, ranks and other figures all samples; "
    "hettop decide uses all samples"
)


Work = Callable[[], None]


def on_thread(work: Work) -> None:
    """Run the work on a thread of its own."""
    Thread(target=work, name="hettop-verdict", daemon=True).start()


class VerdictCache:
    """The last verdict on a session, evaluated again when it is requested and old.

    `start` runs the work, by default on a thread: the first verdict takes half a second, and the caller's thread also
    draws and records. A copy of the session is evaluated, because the session changes meanwhile.
    """

    def __init__(self, start: Callable[[Work], None] = on_thread) -> None:
        self._start = start
        self._page: VerdictPage | None = None
        self._asked: object = None
        self._looks: dict[object, Looks] = {}
        self._working = False
        self._fault: Exception | None = None

    def page(self, session: Session, now_ns: int, *, still: bool) -> VerdictPage | None:
        """The latest verdict; None until there is one.

        still: nothing changes, so the verdict must be of exactly this moment. Raises the error of the evaluation.
        """
        if self._fault is not None:
            raise self._fault
        asked = session.load
        if not self._working and not self._is_fresh(session, now_ns, still):
            self._working, self._asked = True, asked
            copied = copy.deepcopy(session)
            self._start(lambda: self._judge(copied, now_ns, still))
        return self._page

    def _is_fresh(self, session: Session, now_ns: int, still: bool) -> bool:
        page = self._page
        if page is None or session.load != self._asked:
            return False
        age = abs(now_ns - page.judged_ns)
        # The first samples of a unit are in the panels at once: the verdict must not say that it has none.
        conditions = session.conditions.items()
        more = any(
            key.unit in page.unmeasured and key.load == session.load and condition.wall.n
            for key, condition in conditions
        )
        every = JUDGED_EVERY_NS if page.blocks and not more else RETRIED_EVERY_NS
        return age == 0 or (age < every and not still)

    def _judge(self, session: Session, now_ns: int, still: bool) -> None:
        try:
            from hettop.analysis.looks import Looks

            looks = self._looks.setdefault(session.load, Looks())
            self._page = _page(session, now_ns, None if still else looks)
        except Exception as fault:  # noqa: BLE001 - raised at the next request
            self._fault = fault
        self._working = False


def budget_of(session: Session) -> Budget | None:
    """The first latency budget by the session's settings, else the period of its rate; an invalid one is ignored."""
    return next(iter(budgets_of(session)), None)


def budgets_of(session: Session) -> tuple[Budget, ...]:
    """All of them: a token stream may have one for the first token and one for those after it."""
    wanted = session.header.settings.get("budget") if session.header else None
    rate = session.control.rate_hz if session.control else None
    if not isinstance(wanted, str) and not rate:
        return ()
    from hettop.analysis.budget import parse_budgets

    try:
        return tuple(parse_budgets(wanted if isinstance(wanted, str) else None, rate or None))
    except HettopError:  # a recording by another program may be invalid
        return ()


def question_of(session: Session) -> Question:
    """The question by the session's settings: budget, energy budget, period of the rate; invalid ones are ignored."""
    from hettop.analysis.budget import parse_energy
    from hettop.analysis.verdict import Question

    energy = session.header.settings.get("energy") if session.header else None
    try:
        energy_mj = parse_energy(energy) if isinstance(energy, str) else None
    except HettopError:
        energy_mj = None
    budget, also, *_ = (*budgets_of(session), None, None)
    return Question(load=session.load, budget=budget, energy_mj=energy_mj, also=also)


def recent_of(session: Session) -> InOrder:
    """The samples of the last minute in order; all of them where the session still has them."""
    from hettop.analysis.unit_samples import RESPONSE, TURN, WALL

    def column(key: ConditionKey, name: str) -> Column | None:
        condition = session.conditions[key]
        if name == TURN:
            return condition.turns.of_ends(condition.trailing.all()[0])
        kept = {WALL: condition.trailing, RESPONSE: condition.trailing_responses}.get(name)
        return None if kept is None else kept.all()[1]

    return column


def _page(session: Session, now_ns: int, looks: Looks | None) -> VerdictPage:
    """`looks`: of a session that goes on; None for one look at a moment that stands."""
    import numpy as np

    from hettop.analysis.verdict import verdict
    from hettop.report.evidence import evidence_of
    from hettop.report.verdict import verdict_blocks
    from hettop.session.statistics import statistics

    rows = statistics(session, modes=False)
    question, in_order = question_of(session), recent_of(session)
    found = verdict(session, question, in_order, np.random.default_rng(SEED), rows)
    if looks is not None:
        strict = verdict(session, looks.asked(question), in_order, np.random.default_rng(SEED), rows)
        found = looks.keep(strict, found)
    if not found.units and not found.failed:
        return VerdictPage(now_ns, unmeasured=found.unmeasured)
    notes = [RECENT] if any(not unit.complete for unit in found.units) else []
    blocks = list(verdict_blocks(found, session, notes, ranks_first=True))
    return VerdictPage(now_ns, blocks, evidence_of(found), found.unmeasured)
