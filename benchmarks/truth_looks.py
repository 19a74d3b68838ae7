"""Sessions of two equal units that are looked at again and again, through the session, the verdict and the adviser."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from benchmarks.nulls import Null, Samples, autoregressive, lognormal, states, turns
from hettop.analysis.advice import Adviser
from hettop.analysis.budget import Budget
from hettop.analysis.looks import Looks
from hettop.analysis.unit_samples import in_order_of
from hettop.analysis.verdict import Question, Verdict, verdict
from hettop.events import Control
from hettop.events import Samples as Window
from hettop.session.session import Session
from hettop.stats.quantiles import samples_needed

Trial = Callable[[np.random.Generator], Sequence[bool]]

TURN, TURNS = 40, 100
EVERY = 4
"""Turns between two looks of a live session."""

GROWTH = 1.5
PERIOD_NS = 10**9
NULLS = {
    "iid lognormal": lognormal,
    "AR .9": autoregressive(0.9),
    "states staying 200": states(200),
    "turns of their own": turns(TURN),
}
STATEMENTS = ("until proven, order", "until proven, P90 met", "live, order", "live, P90 met", "live, advice")


def cases_of_looks(true_p90: Callable[[Null, float], float]) -> Iterator[tuple[str, Sequence[str], Trial]]:
    for name, null in NULLS.items():
        limit = true_p90(null, 0.9) * (1 - 1e-9)
        yield f"{TURNS} turns of {TURN}, {name}", STATEMENTS, _trial(null, Question(budget=Budget(limit, 0.9)))


def _trial(null: Null, budget: Question) -> Trial:
    def trial(rng: np.random.Generator) -> Sequence[bool]:
        columns = {unit: null(rng, 2 * TURN * TURNS).reshape(TURNS, 2, TURN)[:, 0] for unit in "AB"}
        session, adviser = Session(), Adviser()
        session.fold(Control(t=0, action="start", units=["A", "B"]))
        sequential, live = Looks(), Looks()
        next_at: float = samples_needed(0.9)
        found = dict.fromkeys(STATEMENTS, False)
        for turn in range(TURNS):
            for place, unit in enumerate("AB"):
                session.fold(_window(unit, columns[unit][turn], (2 * turn + place) * PERIOD_NS))
            found["live, advice"] |= adviser.poll(session, (2 * turn + 2) * PERIOD_NS) is not None
            taken = (turn + 1) * TURN
            if taken >= next_at:
                next_at = GROWTH * taken
                at_once = _judged(session, sequential.asked(budget))
                found["until proven, order"] |= _ordered(at_once)
                found["until proven, P90 met"] |= _met(at_once)
            if turn % EVERY == 0:
                shown = live.keep(_judged(session, live.asked(budget)), _judged(session, budget))
                found["live, order"] |= _ordered(shown)
                found["live, P90 met"] |= _met(shown)
        return list(found.values())

    return trial


def _judged(session: Session, question: Question) -> Verdict:
    return verdict(session, question, in_order_of(session), np.random.default_rng(0))


def _ordered(found: Verdict) -> bool:
    return any(pair.proven for pair in found.order)


def _met(found: Verdict) -> bool:
    return any(judged.met is True for judged in found.judgements.values())


def _window(unit: str, latencies_ms: Samples, t0: int) -> Window:
    n = latencies_ms.size
    latencies = np.rint(latencies_ms * 1e6).astype(np.int64)
    return Window(
        t=t0 + int(latencies.sum()),
        unit=unit,
        condition="none",
        phase="steady",
        t0=t0,
        n=n,
        gap_ns=np.zeros(n, dtype=np.int64),
        lat_ns=latencies,
    )
