"""Whether a gain that was measured in rounds can be relied on: enough of them, of one sign, and within the possible.

Pure: numbers in, a verdict on them out; the same for screen, text and report.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

FEWEST_ROUNDS = 3
"""Of fewer the least and the most say nothing of what the next would be."""

MOST_OF_IDEAL = 1.05
"""Together cannot exceed the sum of each alone; a twentieth is what blocks differ by anyhow."""

NOTHING_GAINED = 0.02
"""Below this part the best unit alone is as good."""

TAIL = 0.025


@dataclass(frozen=True, slots=True)
class Standing:
    """rounds: with a gain of their own. least, most: of these gains, None where there are too few rounds.

    untrue: more than can be. proven: whether the gain's sign is that of the rounds; None where nobody can tell.
    """

    rounds: int
    least: float | None
    most: float | None
    untrue: bool
    proven: bool | None

    @property
    def concludes(self) -> bool:
        """Whether anything follows from the figures."""
        return self.least is not None and not self.untrue


def standing(
    together: Sequence[float | None],
    best: Sequence[float | None],
    ideal: Sequence[float | None],
    of_ideal: float | None,
) -> Standing:
    """Of rates by round: all together, the best unit alone, and the sum of each alone.

    Once a unit is dead there is no such sum, and all together are fewer: where there is one, only such rounds count.
    """
    rows = [(t / b - 1, i) for t, b, i in zip(together, best, ideal, strict=False) if t is not None and b]
    whole = [gain for gain, total in rows if total is not None]
    gains = sorted(whole or (gain for gain, _ in rows))
    untrue = of_ideal is not None and of_ideal > MOST_OF_IDEAL
    if len(gains) < FEWEST_ROUNDS:
        return Standing(len(gains), None, None, untrue, None)
    aside = _aside(len(gains))
    low, high = gains[aside], gains[-1 - aside]
    return Standing(len(gains), gains[0], gains[-1], untrue, None if untrue else low > 0 or high < 0)


def _aside(n: int) -> int:
    """How many values at each end lie outside the 95 % interval of the median, by order statistics.

    P(B < k) for B ~ Binomial(n, 1/2) must stay within the tail; of fewer than six none may be left out.
    """
    below, aside = 0.0, 0
    while (below := below + math.comb(n, aside) / 2**n) <= TAIL:
        aside += 1
    return max(0, aside - 1)
