"""Count, sum, sum of squares, minimum and maximum of integer latencies, all exact.

Integers make the result independent of how samples were grouped, which floats do not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_INT64_MAX = (1 << 63) - 1


@dataclass(slots=True)
class Moments:
    """Exact running moments of integer values in ns; `min_ns` and `max_ns` are None until there is a value.

    `sum_ns` and `sum_sq` are Python integers of any size: 10^8 latencies of 138 ms square to 2e24, above 2^63.
    """

    n: int = 0
    sum_ns: int = 0
    sum_sq: int = 0
    min_ns: int | None = None
    max_ns: int | None = None

    def add(self, values: npt.ArrayLike) -> None:
        """Take in integer values (ns). ValueError when they are not integers."""
        array = np.asarray(values)
        if array.size == 0:
            return
        if array.dtype.kind not in "iu":
            raise ValueError(f"moments are of integers (ns), not {array.dtype}")
        array = array.ravel().astype(np.int64, copy=False)
        low, high = int(array.min()), int(array.max())
        self._extend(low, high)
        self.n += array.size
        self.sum_ns += _exact_sum(array, max(-low, high))
        self.sum_sq += _exact_sum_of_squares(array, max(-low, high))

    def merge(self, other: Moments) -> None:
        """Take in everything that `other` has seen."""
        if other.min_ns is not None and other.max_ns is not None:
            self._extend(other.min_ns, other.max_ns)
        self.n += other.n
        self.sum_ns += other.sum_ns
        self.sum_sq += other.sum_sq

    @property
    def mean_ns(self) -> float | None:
        """Arithmetic mean in ns, rounded once; None without values."""
        return self.sum_ns / self.n if self.n else None

    @property
    def std_ns(self) -> float | None:
        """Population standard deviation in ns; None without values.

        sqrt(n * sum_sq - sum^2) / n. The difference cancels catastrophically in floats; in integers it is exact.
        """
        if not self.n:
            return None
        return math.sqrt(self.n * self.sum_sq - self.sum_ns * self.sum_ns) / self.n

    def _extend(self, low: int, high: int) -> None:
        self.min_ns = low if self.min_ns is None else min(self.min_ns, low)
        self.max_ns = high if self.max_ns is None else max(self.max_ns, high)


def _exact_sum(values: npt.NDArray[np.int64], largest: int) -> int:
    if largest * values.size <= _INT64_MAX:
        return int(values.sum())
    exact: int = sum(values.tolist())
    return exact


def _exact_sum_of_squares(values: npt.NDArray[np.int64], largest: int) -> int:
    """int64 arithmetic for values whose squares cannot overflow together, Python's for the others.

    In a window of 1,024 the bound is 94 ms: in practice only spikes and slow models, which have few samples.
    """
    bound = math.isqrt(_INT64_MAX // values.size)
    if largest <= bound:
        return int(np.dot(values, values))
    is_large = (values > bound) | (values < -bound)
    small = values[~is_large]
    large: list[int] = values[is_large].tolist()
    return int(np.dot(small, small)) + sum(value * value for value in large)
