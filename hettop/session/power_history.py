"""The power samples of the last minute, for the panel that draws them over time.

Bounded by time; a keyframe does not carry them, because seeking folds the longest window again.
"""

from __future__ import annotations

from collections import deque

from hettop.events import Power
from hettop.session.trailing import LONGEST_WINDOW_NS

MOST = 2048  # a minute of samples every 30 ms


class PowerHistory:
    """Power samples, oldest first; their windows end in ascending order."""

    def __init__(self) -> None:
        self._samples: deque[Power] = deque(maxlen=MOST)

    def add(self, event: Power) -> None:
        self._samples.append(event)
        while self._samples[0].t < event.t - LONGEST_WINDOW_NS - self._samples[0].elapsed_ns:
            self._samples.popleft()

    def between(self, start_ns: int, end_ns: int) -> list[Power]:
        """Those whose windows overlap (start_ns, end_ns)."""
        return [each for each in self._samples if each.t > start_ns and each.t - each.elapsed_ns < end_ns]
