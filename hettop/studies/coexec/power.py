"""What an inference takes while units co-execute: power samples that lie wholly in blocks of all, by the rate there.

Knows neither who measures power nor who co-executes; forgets what it no longer needs, however long both go on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from hettop.events import Baseline, Power, PowerStatus, is_capture
from hettop.session.power_summary import CAPTURE_WORDS
from hettop.session.rails import PowerWindow, estimate, measured
from hettop.studies.coexec.rates import Energy
from hettop.studies.coexec.run_totals import MOST_BLOCKS

MOST_WAITING = 4096
"""Power samples that wait for word of the block they lie in: half an hour of the usual ones."""

PowerEvent = Power | PowerStatus | Baseline


class TogetherPower:
    """The mean power of all samples in blocks of all: sum of rates by sum of powers. Times are ns of one clock."""

    def __init__(self) -> None:
        self._blocks: deque[tuple[int, int]] = deque(maxlen=MOST_BLOCKS)
        self._waiting: deque[tuple[PowerWindow, str]] = deque(maxlen=MOST_WAITING)
        self._covered_ns = 0
        self._spent = 0.0  # mW x ns
        self._source: str | None = None
        self._why = ""
        self._captured = False

    def block(self, blocks: Iterable[tuple[int, int]]) -> None:
        """When all worked, from and until, in order; those that are known already change nothing."""
        for since, until in blocks:
            if not self._blocks or since >= self._blocks[-1][1]:
                self._blocks.append((since, until))
                self._settle()

    def take(self, event: PowerEvent, origin_ns: int = 0) -> None:
        """What a source told; its times count from `origin_ns`."""
        self._captured = self._captured or is_capture(event.source)
        if isinstance(event, PowerStatus):
            self._why = event.reason or self._why
        if not isinstance(event, Power) or is_capture(event.source):
            return
        window = measured(event)
        if window is not None:
            self._waiting.append((window._replace(end_ns=window.end_ns + origin_ns), event.source))
            self._settle()

    def energy(self, per_s: float | None) -> Energy:
        """Of an inference at this rate of all together, or why it is unknown."""
        if self._covered_ns and per_s:
            mean = self._spent / self._covered_ns
            return Energy(mean / per_s, "", mean, self._source)
        if self._captured:
            return Energy(None, CAPTURE_WORDS)
        return Energy(None, self._why or "no power sample fell into a block of all units: measure longer")

    def _settle(self) -> None:
        """Count those that lie in a block, and drop those of which it is known that they do not."""
        if not self._blocks:
            return
        known_until, later = self._blocks[-1][1], deque[tuple[PowerWindow, str]](maxlen=MOST_WAITING)
        for window, source in self._waiting:
            if any(since <= window.start_ns and window.end_ns <= until for since, until in self._blocks):
                self._count(window, source)
            elif window.start_ns >= known_until:
                later.append((window, source))
        self._waiting = later

    def _count(self, window: PowerWindow, source: str) -> None:
        mw = estimate(window.mw)
        if mw is not None:
            self._source = source
            self._covered_ns += window.elapsed_ns
            self._spent += mw * window.elapsed_ns
