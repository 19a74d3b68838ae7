"""Stages of a pipeline that take as much the same time as can be.

Pure.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def balanced(times: Sequence[float], stages: int) -> list[tuple[int, int]]:
    """Consecutive groups of `times`, first and last both included, whose longest is as short as can be.

    At most `stages` of them, none empty; of equals the one whose last groups are longest. O(len(times)² x stages).
    """
    n = len(times)
    stages = min(stages, n)
    before = [0.0]
    for time in times:
        before.append(before[-1] + time)
    worst = [0.0] + [math.inf] * n  # of the first so many, in the number of groups looked at
    cuts: list[list[int]] = []
    for _ in range(stages):
        found, cut = [math.inf] * (n + 1), [0] * (n + 1)
        for end in range(1, n + 1):
            for start in range(end):
                longest = max(worst[start], before[end] - before[start])
                if longest < found[end]:
                    found[end], cut[end] = longest, start
        worst = found
        cuts.append(cut)
    groups, end = [], n
    for cut in reversed(cuts):
        groups.append((cut[end], end - 1))
        end = cut[end]
    return groups[::-1]
