"""Measures without the competing load for some seconds, then starts the load again: the figures to compare with."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hettop.events import NO_LOAD
from hettop.session.session import current_condition
from hettop.tui.feed import Notice

if TYPE_CHECKING:
    from hettop.measurement.measurement import Measurement
    from hettop.sources.load.parts import LoadPart

LEAST_NS, MOST_NS = 5 * 10**9, 30 * 10**9
"""It ends after the first once every active unit has `NEEDED` samples, and after the second in any case."""

NEEDED = 64
"""Samples that a P90 needs."""


class WithoutLoad:
    """One measurement without load at a time. set_load: starts a load. notify: receives messages for the user."""

    def __init__(
        self,
        measurement: Measurement,
        set_load: Callable[[tuple[LoadPart, ...]], None],
        notify: Callable[[Notice], None],
    ) -> None:
        self._measurement = measurement
        self._set_load = set_load
        self._notify = notify
        self._parts: tuple[LoadPart, ...] = ()
        self._since_ns: int | None = None  # None until no load is active
        self._counts: dict[str, int] = {}

    def toggle(self) -> None:
        """End the load and measure without it; while that runs, start the load again."""
        if self._parts:
            self._restore()
            return
        parts = self._measurement.load.parts
        if not parts:
            self._notify(Notice("no load is active: units are measured without load already"))
        elif self._measurement.control.paused:
            self._notify(Notice("inference is paused: space resumes it", "warning"))
        else:
            self._set_load(())
            self._parts, self._since_ns = parts, None

    def forget(self) -> None:
        """Do not start the load again: the user set another one."""
        self._parts = ()

    def tick(self) -> None:
        """Start the load again once there are enough samples. To be called after each poll of the measurement."""
        if not self._parts or self._measurement.session.load != NO_LOAD:
            return
        if self._since_ns is None:
            self._since_ns, self._counts = self._measurement.now_ns, self._samples()
            return
        passed = self._measurement.now_ns - self._since_ns
        enough = all(n - self._counts.get(unit, 0) >= NEEDED for unit, n in self._samples().items())
        if passed >= MOST_NS or (passed >= LEAST_NS and enough):
            self._restore()
            self._notify(Notice("measured without load; the load is active again"))

    @property
    def left_ns(self) -> int | None:
        """The time until the load starts again, if samples come fast enough; None while nothing runs."""
        if not self._parts:
            return None
        passed = 0 if self._since_ns is None else self._measurement.now_ns - self._since_ns
        return max(0, (LEAST_NS if passed < LEAST_NS else MOST_NS) - passed)

    def _restore(self) -> None:
        parts, self._parts = self._parts, ()
        self._set_load(parts)

    def _samples(self) -> dict[str, int]:
        """Samples so far of each active unit in its present condition."""
        session = self._measurement.session
        found = {unit: current_condition(session, unit) for unit in (session.control.units if session.control else ())}
        return {unit: 0 if condition is None else condition.wall.n for unit, condition in found.items()}
