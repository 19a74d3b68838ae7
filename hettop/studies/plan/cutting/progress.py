"""How far a job of the measuring process is: parts of known weight, one after another.

Knows neither what is measured nor who listens.
"""

from __future__ import annotations

from collections.abc import Callable

Tell = Callable[[str, float], None]
"""What is going on, and the share of all that is done, 0..1."""


def nobody(_text: str, _share: float) -> None:
    """Where nobody listens."""


OPENING, PROFILING, TIMING, CUTTING = 0.4, 1.0, 0.5, 0.6
"""How long parts take in proportion, the last three for each device. Of MobileNetV2; other models differ,
which only the display of progress notices."""


def survey_weight(devices: int) -> float:
    """Of measuring what a cost table is made of."""
    return OPENING + devices * (PROFILING + TIMING + CUTTING)


def run_weight(devices: int) -> float:
    """Of running a plan in turns with so many devices."""
    return OPENING + TIMING * (1 + devices)


class CuttingProgress:
    """Parts whose weights sum to `total`, each begun in its turn."""

    def __init__(self, total: float, tell: Tell) -> None:
        self._total = total
        self._tell = tell
        self._text = ""
        self._done = 0.0
        self._weight = 0.0

    def begin(self, text: str, weight: float) -> None:
        """The part before is done."""
        self._done += self._weight
        self._text, self._weight = text, weight
        self.within(0.0)

    def within(self, share: float) -> None:
        """So much of this part is done, 0..1."""
        self._tell(self._text, min(1.0, (self._done + share * self._weight) / self._total))
