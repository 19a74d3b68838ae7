"""Predictors of a network's time: a line by its MACs, and the sum over its layers of lines by type. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

GIGA = 1e9
ANY = ""
"""The name of the fit over the layers of all types."""


@dataclass(frozen=True, slots=True)
class Work:
    """A layer, or a network as one: its type, what it does, and the time measured without load."""

    op: str
    macs: int
    nbytes: int
    ms: float


@dataclass(frozen=True, slots=True)
class Line:
    """t = a + b MACs + c bytes, with b and c for 10^9 of either; `n` are the times that it was fitted to."""

    a_ms: float
    b_ms: float
    c_ms: float
    n: int

    def of(self, work: Work) -> float:
        return self.a_ms + (self.b_ms * work.macs + self.c_ms * work.nbytes) / GIGA


def fit_line(works: Sequence[Work], *, by_bytes: bool = True) -> Line:
    """The least-squares line, no coefficient of which is below 0: more work never takes less time.

    by_bytes: whether bytes count. ValueError without works.
    """
    if not works:
        raise ValueError("a line needs at least one time")
    columns = np.array([[1.0, work.macs / GIGA, work.nbytes / GIGA if by_bytes else 0.0] for work in works])
    a, b, c = _not_negative(columns, np.array([work.ms for work in works]))
    return Line(a, b, c, len(works))


def fit_types(works: Sequence[Work]) -> dict[str, Line]:
    """A line for each type of operation, and one over all of them under the name `ANY`."""
    types = sorted({work.op for work in works})
    return {ANY: fit_line(works), **{op: fit_line([work for work in works if work.op == op]) for op in types}}


def predict(lines: Mapping[str, Line], works: Iterable[Work]) -> float:
    """The sum over the layers, in ms; a type that has no line is predicted by that of all types."""
    return sum(lines.get(work.op, lines[ANY]).of(work) for work in works)


def unseen_share(lines: Mapping[str, Line], works: Sequence[Work]) -> float:
    """The share of the layers whose type has no line."""
    return sum(work.op not in lines for work in works) / len(works) if works else 0.0


def _not_negative(columns: npt.NDArray[np.float64], times: npt.NDArray[np.float64]) -> list[float]:
    """Non-negative least squares (Lawson and Hanson, Solving Least Squares Problems, 1974, chapter 23).

    By exhaustion: its solution is the least-squares one of the columns that it uses, of which there are few.
    """
    best, least = [0.0] * columns.shape[1], float(np.square(times).sum())
    for size in range(1, columns.shape[1] + 1):
        for chosen in combinations(range(columns.shape[1]), size):
            part = columns[:, chosen]
            found = np.linalg.lstsq(part, times, rcond=None)[0]
            off = float(np.square(part @ found - times).sum())
            if (found >= 0).all() and off < least * (1 - SMALLEST_GAIN):
                best, least = [0.0] * columns.shape[1], off
                for place, value in zip(chosen, found, strict=True):
                    best[place] = float(value)
    return best


SMALLEST_GAIN = 1e-9
"""Relative: a column that gains less by rounding is not used."""
