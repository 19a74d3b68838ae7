"""A measured figure beside the figure to reach, and the table they are printed in.

Knows no benchmark: numbers and words in, Markdown out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 4_000
COVERAGE = 0.95
SEED = 20_250_101
COLUMNS = ("what", "figure to reach", "measured", "spread", "repeats", "result")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `reached` is None for a figure that stands there for comparison alone."""

    what: str
    figure: str
    measured: str
    spread: str
    repeats: int
    reached: bool | None

    def cells(self) -> tuple[str, ...]:
        result = {True: "reached", False: "**misses**", None: "–"}[self.reached]
        return (self.what, self.figure, self.measured, self.spread, f"{self.repeats:,}", result)


@dataclass(frozen=True, slots=True)
class Unit:
    """How values of one kind are written: what they are multiplied by, decimals, and the unit's name."""

    name: str
    scale: float = 1.0
    decimals: int = 1

    def text(self, value: float) -> str:
        return f"{value * self.scale:,.{self.decimals}f}{self.name}"


RATIO = Unit("x", decimals=3)
MS_OF_S = Unit(" ms", 1e3, 0)
MS_OF_NS = Unit(" ms", 1e-6, 1)
SECONDS = Unit(" s", decimals=2)
PERCENT = Unit(" %", 1e2, 1)
MB = Unit(" MB", 1e-6, 1)


def at_most(what: str, limit: float, values: Sequence[float], unit: Unit) -> Row:
    """The median of `values`, which is not to exceed `limit`; both in the same measure."""
    return _row(what, f"≤ {unit.text(limit)}", values, unit, float(np.median(values)) <= limit)


def at_least(what: str, limit: float, values: Sequence[float], unit: Unit) -> Row:
    """The median of `values`, which is to reach `limit`."""
    return _row(what, f"≥ {unit.text(limit)}", values, unit, float(np.median(values)) >= limit)


def for_comparison(what: str, values: Sequence[float], unit: Unit) -> Row:
    """The median of `values`, beside which no figure stands."""
    return _row(what, "–", values, unit, None)


def worst_at_most(what: str, limit: float, values: Sequence[float], unit: Unit) -> Row:
    """The largest of `values`, for a figure that holds at any moment and not for most."""
    spread = f"median {unit.text(float(np.median(values)))}"
    return Row(what, f"≤ {unit.text(limit)}", unit.text(max(values)), spread, len(values), max(values) <= limit)


def _row(what: str, figure: str, values: Sequence[float], unit: Unit, reached: bool | None) -> Row:
    return Row(what, figure, unit.text(float(np.median(values))), _spread(values, unit), len(values), reached)


def _spread(values: Sequence[float], unit: Unit) -> str:
    """The 95 % bootstrap interval of the median, or for few values their range."""
    if len(values) == 1:
        return "–"
    if len(values) < 10:
        return f"{unit.text(min(values))} – {unit.text(max(values))} (range)"
    low, high = median_interval(values)
    return f"{unit.text(low)} – {unit.text(high)}"


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """Percentile bootstrap of the median (Efron 1979), seeded so that the same values give the same interval."""
    rng = np.random.default_rng(SEED)
    array = np.asarray(values, dtype=np.float64)
    medians = np.median(rng.choice(array, (RESAMPLES, len(array))), axis=1)
    low, high = np.quantile(medians, ((1 - COVERAGE) / 2, (1 + COVERAGE) / 2)).tolist()
    return low, high


def table_head() -> str:
    return f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}"


def table_line(row: Row) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in row.cells())} |"
