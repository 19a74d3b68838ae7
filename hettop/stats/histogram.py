"""Streaming histogram with fixed logarithmic buckets: any number of latencies in constant memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Int64Array = npt.NDArray[np.int64]
Float64Array = npt.NDArray[np.float64]

SUB_BUCKET_BITS = 7
"""Mantissa bits kept. A bucket is at most 1/128 of its value wide, so its midpoint errs by at most 1/256 = 0.39%."""

SUB_BUCKETS = 1 << SUB_BUCKET_BITS
_MANTISSA_BITS = 52
BUCKET_SHIFT = _MANTISSA_BITS - SUB_BUCKET_BITS
_EXPONENT_BIAS = 1023
BUCKET_BASE = _EXPONENT_BIAS << SUB_BUCKET_BITS

MAX_VALUE_NS = (1 << 53) - 1
"""Largest value a bucket exists for: above it float64, and JSON with it, no longer hold every integer."""

BUCKETS = 53 * SUB_BUCKETS

MAX_COUNT = (1 << 53) - 1
"""Largest total that `decode` accepts, so that counts survive JSON readers that know float64 alone."""


def bucket_index(values: npt.NDArray[np.integer[Any]]) -> Int64Array:
    """Bucket of each integer value: its float64 exponent and top 7 mantissa bits; values below 1 go to bucket 0.

    Bits are exact, monotonic and the same on every machine, which floor(log(value)) is not.
    """
    positive = np.maximum(values, 1).astype(np.float64)
    bits: Int64Array = positive.view(np.int64)
    return (bits >> BUCKET_SHIFT) - BUCKET_BASE


def bucket_low(index: npt.ArrayLike) -> Float64Array:
    """Lower edge (inclusive) of each bucket in ns; below 128 ns edges need not be whole numbers."""
    bits = (np.asarray(index, dtype=np.int64) + BUCKET_BASE) << BUCKET_SHIFT
    edges: Float64Array = bits.view(np.float64)
    return edges


def bucket_high(index: npt.ArrayLike) -> Float64Array:
    """Upper edge (exclusive) of each bucket in ns."""
    return bucket_low(np.asarray(index, dtype=np.int64) + 1)


def bucket_middle(index: npt.ArrayLike) -> Float64Array:
    """Value that stands for each bucket, in ns: the midpoint of the integers in it (one alone below 256 ns)."""
    low = bucket_low(index)
    last = np.maximum(np.ceil(bucket_high(index)) - 1.0, low)
    return (low + last) / 2.0


class Histogram:
    """Counts of integer values in `BUCKETS` fixed buckets (54 kB), mergeable and equal however values were grouped."""

    __slots__ = ("_counts", "_occupied", "_quantiles", "_total")

    def __init__(self) -> None:
        self._counts: Int64Array = np.zeros(BUCKETS, dtype=np.int64)
        self._total = 0
        # What was asked since the last change: a screen asks several times a second, of many that do not change.
        self._occupied: tuple[Int64Array, Int64Array] | None = None
        self._quantiles: dict[float, float] = {}

    @property
    def total(self) -> int:
        """Values added so far."""
        return self._total

    def add(self, values: npt.ArrayLike) -> None:
        """Count integer values (ns). Raises ValueError, and counts none, if one is above `MAX_VALUE_NS`."""
        array = np.asarray(values)
        if array.size == 0:
            return
        if array.dtype.kind not in "iu":
            raise ValueError(f"a histogram counts integers (ns), not {array.dtype}")
        counted = np.bincount(bucket_index(array.ravel()), minlength=BUCKETS)
        if counted.size > BUCKETS:
            raise ValueError(f"value {int(array.max())} ns is above the histogram's {MAX_VALUE_NS} ns")
        self._counts += counted
        self._total += array.size
        self._changed()

    def merge(self, other: Histogram) -> None:
        """Add the counts of another histogram to this one."""
        self._counts += other._counts
        self._total += other._total
        self._changed()

    def _changed(self) -> None:
        self._occupied = None
        if self._quantiles:
            self._quantiles = {}

    def copy(self) -> Histogram:
        """An independent histogram with the same counts."""
        twin = Histogram()
        twin.merge(self)
        return twin

    def nonzero(self) -> tuple[Int64Array, Int64Array]:
        """Indices of the occupied buckets, ascending, and their counts; not to be written to."""
        if self._occupied is None:
            indices = np.flatnonzero(self._counts).astype(np.int64, copy=False)
            self._occupied = indices, self._counts[indices]
            for array in self._occupied:
                array.flags.writeable = False
        return self._occupied

    def quantile(self, q: float) -> float | None:
        """Quantile in ns by numpy's linear rank (type 7), each order statistic standing at its bucket's middle.

        Middles, not a ramp through the bucket: a coarse timer puts every value of a bucket on one point, where a
        ramp errs by the bucket's whole width (0.78%) and the middle by half of it. The largest order statistic
        is therefore not the maximum: callers that know minimum and maximum clamp to them.
        None when empty; ValueError when q is outside 0..1.
        """
        return self.quantiles((q,))[0]

    def quantiles(self, levels: Sequence[float]) -> tuple[float | None, ...]:
        """Several quantiles in one pass over the counts; see `quantile`."""
        if not all(0.0 <= q <= 1.0 for q in levels):
            raise ValueError(f"quantile levels must lie in 0..1, not {tuple(levels)}")
        if self._total == 0:
            return (None,) * len(levels)
        missing = [q for q in levels if q not in self._quantiles]
        if missing:
            indices, counts = self.nonzero()
            middles = bucket_middle(indices)
            self._quantiles |= {q: weighted_quantile(middles, counts, q) for q in missing}
        return tuple(self._quantiles[q] for q in levels)

    def order_statistic(self, rank: int) -> float:
        """The value of 1-based `rank` in ns, at its bucket's middle. ValueError when there is no such rank."""
        if not 1 <= rank <= self._total:
            raise ValueError(f"rank {rank} is outside 1..{self._total}")
        upto = np.cumsum(self._counts)
        return float(bucket_middle(np.searchsorted(upto, rank)))

    def count_above(self, value_ns: float) -> int:
        """Values in buckets wholly above `value_ns`; those that share its bucket are not counted."""
        if value_ns < 1:
            # Bucket 0 holds 1 and everything below it, so no bucket is known to be wholly above less than 1.
            return self._total - int(self._counts[0])
        if value_ns > MAX_VALUE_NS:
            return 0
        first_above = int(bucket_index(np.asarray([int(value_ns)]))[0]) + 1
        return int(self._counts[first_above:].sum())

    def encode(self) -> list[int]:
        """Run form for JSON: -k skips k empty buckets, a positive number is the count of the next bucket."""
        runs: list[int] = []
        following = 0
        indices, counts = self.nonzero()
        for index, count in zip(indices.tolist(), counts.tolist(), strict=True):
            if index > following:
                runs.append(following - index)
            runs.append(count)
            following = index + 1
        return runs

    @classmethod
    def decode(cls, runs: Iterable[int]) -> Histogram:
        """Inverse of `encode`; only its own form is taken.

        Raises ValueError for a zero, anything but integers, two skips in a row, a skip at the end, a bucket
        beyond the last one, and a total above `MAX_COUNT`.
        """
        found = cls()
        following = 0
        skipped = False
        for run in runs:
            if not isinstance(run, int) or isinstance(run, bool) or run == 0:
                raise ValueError(f"a histogram run is a whole number other than 0, not {run!r}")
            if run < 0 and skipped:
                raise ValueError("a histogram has two skips in a row")
            skipped = run < 0
            width = -run if skipped else 1
            if following + width > BUCKETS:
                raise ValueError(f"a histogram reaches beyond its {BUCKETS} buckets")
            if not skipped:
                found._count_decoded(following, run)
            following += width
        if skipped:
            raise ValueError("a histogram ends with a skip")
        return found

    def _count_decoded(self, index: int, count: int) -> None:
        if self._total + count > MAX_COUNT:
            raise ValueError(f"a histogram counts more than {MAX_COUNT} values")
        self._counts[index] = count
        self._total += count

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Histogram):
            return NotImplemented
        return self._total == other._total and bool(np.array_equal(self._counts, other._counts))

    __hash__ = None  # type: ignore[assignment]  # counts change, so a hash would go stale

    def __repr__(self) -> str:
        return f"Histogram(total={self._total}, occupied={int(np.count_nonzero(self._counts))})"


def weighted_quantile(values: Float64Array, counts: Int64Array, q: float) -> float:
    """Type 7 quantile of ascending `values` (float64, shape (m,)) repeated `counts` times (int64, shape (m,))."""
    upto = np.cumsum(counts)
    total = int(upto[-1])
    position = (total - 1) * q
    below = int(position)
    fraction = position - below
    # Order statistic k (0-based) is the first value whose running count exceeds k.
    left = float(values[np.searchsorted(upto, below, side="right")])
    right = float(values[np.searchsorted(upto, min(below + 1, total - 1), side="right")])
    return left + (right - left) * fraction
