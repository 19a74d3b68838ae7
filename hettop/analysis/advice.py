"""Advice while a session runs: another unit, when it is proven to do better under the active load.

Pure but for its memory of what it advised last, which is what keeps it from changing its mind with every sample.
"""

from __future__ import annotations

from dataclasses import dataclass

from hettop.events import Advice
from hettop.session.session import Session, current_condition
from hettop.session.views.units import are_wrong
from hettop.stats.quantiles import confidence_of_look, quantile, samples_needed
from hettop.stats.resampling import Bounds, quantile_bounds

QUANTILE = 0.9
LOOKED_AT_NS = 10 * 10**9
"""How far back from a unit's newest sample under this load it is looked at."""

MOST_LOOKED_AT = 2048
LEAST_GAIN = 0.05
"""The unit that is advised is proven to be better by this share; a smaller gain is not worth changing for."""

LOOKS_IN_A_ROW = 3
"""As many looks one after another must agree before advice is given, or taken back."""


@dataclass(frozen=True, slots=True)
class Recent:
    """A unit under the active load: its P90 in ns with its interval."""

    unit: str
    p90_ns: float
    bounds: Bounds

    def surely_beats(self, other: Recent) -> bool:
        """Whether it is proven to be better by the least gain."""
        high, low = self.bounds.high, other.bounds.low
        return high is not None and low is not None and high < (1 - LEAST_GAIN) * low


class Adviser:
    """Look at a session every few seconds; what is to be said comes back as an event, most often nothing.

    `given` is the unit that is advised now.
    """

    def __init__(self) -> None:
        self.given: str | None = None
        self._load: str | None = None
        self._thought: str | None = None
        self._times = 0
        self._looks = 0

    def poll(self, session: Session, t: int) -> Advice | None:
        """Advice to give at `t`, or to take back: its `unit` is None then. None while there is nothing new to say."""
        active = list(session.control.units) if session.control is not None and not session.paused else []
        if not active:
            return None
        if session.load != self._load or active == [self.given]:  # other conditions, or what was advised was done
            self._load, self._thought, self._times = session.load, None, 0
            return self._say(t, session, None, {})
        self._looks += 1
        confidence = confidence_of_look(self._looks)
        units = {name: recent for name in session.units if (recent := _recent(session, name, confidence)) is not None}
        wanted = self._wanted(units, active)
        self._times = self._times + 1 if wanted == self._thought else 1
        self._thought = wanted
        return self._say(t, session, wanted, units) if self._times >= LOOKS_IN_A_ROW else None

    def _wanted(self, units: dict[str, Recent], active: list[str]) -> str | None:
        """The unit to advise now. Advice stays until the advised unit is not better than the active one."""
        running = [units[name] for name in active if name in units]
        held = units.get(self.given) if self.given is not None else None
        best = min(units.values(), key=lambda unit: unit.p90_ns, default=None)
        if held is not None and best is not None and not best.surely_beats(held):
            return held.unit if all(held.p90_ns < unit.p90_ns for unit in running if unit is not held) else None
        others = [unit for unit in running if unit is not best]
        return best.unit if best is not None and others and all(map(best.surely_beats, others)) else None

    def _say(self, t: int, session: Session, unit: str | None, units: dict[str, Recent]) -> Advice | None:
        if unit == self.given:
            return None
        self.given = unit
        if unit is None:
            return Advice(t=t, load=session.load)
        active = session.control.units if session.control is not None else []
        over = max((units[name] for name in active if name in units and name != unit), key=lambda other: other.p90_ns)
        return Advice(
            t=t,
            load=session.load,
            unit=unit,
            p90_ns=round(units[unit].p90_ns),
            over=over.unit,
            over_p90_ns=round(over.p90_ns),
        )


def _recent(session: Session, name: str, confidence: float) -> Recent | None:
    """Its level by its newest samples under the active load; None with too few of them, or if the unit is unusable."""
    unit = session.units[name]
    condition = current_condition(session, name)
    if condition is None or unit.error is not None or unit.state == "failed" or are_wrong(unit.outputs):
        return None
    newest = condition.trailing.last_end_ns
    if newest is None:
        return None
    _, latencies = condition.trailing.between(newest - LOOKED_AT_NS, newest)
    if latencies.size < samples_needed(QUANTILE):
        return None
    latencies = latencies[-MOST_LOOKED_AT:]
    return Recent(name, quantile(latencies, QUANTILE), quantile_bounds(latencies, QUANTILE, confidence))
