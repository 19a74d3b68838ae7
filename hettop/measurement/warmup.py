"""Ends the warm-up of units that have become steady (`--warmup auto`), or that had as long as a warm-up may last.

Reads the fold and tells the engine; what is warm-up and what is steady is decided before a sample is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hettop.session.session import Session
from hettop.session.unit import Unit
from hettop.stats.steady import STEP, steady_at

LONGEST_NS = 20 * 10**9
"""From the first call of a warm-up on. What takes a second a call is not steady by then, and that is said."""


@dataclass(slots=True)
class _Watched:
    began_ns: int
    checked: int = 0
    ended: bool = False


class WarmUps:
    """`end` is told the name of each unit whose warm-up is over, once."""

    def __init__(self, end: Callable[[str], None]) -> None:
        self._end = end
        self._watched: dict[str, _Watched] = {}

    def watch(self, session: Session, now_ns: int) -> None:
        """Look at what the units have taken so far."""
        for unit in session.units.values():
            if unit.state != "warming" or not unit.warmup_ns:
                self._watched.pop(unit.name, None)
            else:
                self._look(unit, self._watched.setdefault(unit.name, _Watched(now_ns)), now_ns)

    def _look(self, unit: Unit, watched: _Watched, now_ns: int) -> None:
        if watched.ended:
            return
        steady = len(unit.warmup_ns) >= watched.checked + STEP and steady_at(unit.warmup_ns, watched.checked)
        watched.checked = len(unit.warmup_ns) - len(unit.warmup_ns) % STEP
        if steady or now_ns - watched.began_ns >= LONGEST_NS:
            watched.ended = True
            self._end(unit.name)
