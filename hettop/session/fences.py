"""The spike fences that were in force in the last minute, so that a sample is judged by the one it met.

Knows where each began, and nothing of where a fence stands or why.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from hettop.events import Column
from hettop.session.trailing import LONGEST_WINDOW_NS


class Fences:
    """`now` is the fence in force, in ns; None while there is none."""

    __slots__ = ("_since", "now")

    def __init__(self, now: int | None = None) -> None:
        self.now = now
        # (end of the last sample before it, fence); it holds for the samples that ended later.
        self._since: deque[tuple[int, int]] = deque([] if now is None else [(-1, now)])

    def renew(self, after_ns: int, fence_ns: int | None) -> None:
        """From the sample after the one that ended at `after_ns` on, this is the fence."""
        if fence_ns == self.now or fence_ns is None:  # a distribution that has a fence never loses it
            return
        self.now = fence_ns
        self._since.append((after_ns, fence_ns))
        while len(self._since) > 1 and self._since[1][0] < after_ns - LONGEST_WINDOW_NS:
            self._since.popleft()

    def exceeded(self, ends: Column, latencies: Column) -> npt.NDArray[np.bool_]:
        """Which of these trailing samples, whose ends ascend, were above the fence in force when they came."""
        found = np.zeros(len(ends), dtype=np.bool_)
        befores = np.array([after for after, _ in self._since], dtype=np.int64)
        begins = [*np.searchsorted(ends, befores, side="right").tolist(), len(ends)]
        for (begin, end), (_, fence) in zip(pairwise(begins), self._since, strict=True):
            np.greater(latencies[begin:end], fence, out=found[begin:end])
        return found
