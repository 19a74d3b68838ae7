"""One series of nanoseconds, folded: exact moments, a histogram, and the raw values while they are few.

Knows nothing of units or conditions.
"""

from __future__ import annotations

import numpy as np

from hettop.events import Column, SeriesState
from hettop.stats.histogram import Histogram
from hettop.stats.moments import Moments
from hettop.stats.quantiles import early_stopping_rank, interval_of, quantile, quantile_interval
from hettop.units import NS_PER_MS


class DurationSeries:
    """Takes in windows of nanoseconds; its moments and histogram do not depend on how they were windowed.

    Raw values are kept, in order of arrival, while there are at most `raw_limit` of them, so that quantiles of small
    series are exact; a series restored from a keyframe has none.
    """

    __slots__ = ("_raw", "_raw_limit", "histogram", "moments")

    def __init__(self, raw_limit: int) -> None:
        self.moments = Moments()
        self.histogram = Histogram()
        self._raw_limit = raw_limit
        self._raw: list[Column] | None = [] if raw_limit > 0 else None

    @property
    def n(self) -> int:
        return self.moments.n

    def add(self, values: Column) -> None:
        self.moments.add(values)
        self.histogram.add(values)
        if self._raw is not None:
            self._raw.append(values)
            if self.moments.n > self._raw_limit:
                self._raw = None

    def raw(self) -> Column | None:
        """All values in order of arrival, or None when they were too many to keep."""
        if self._raw is None:
            return None
        if len(self._raw) > 1:
            self._raw = [np.concatenate(self._raw)]
        return self._raw[0] if self._raw else np.empty(0, dtype=np.int64)

    def quantile_ms(self, q: float) -> float | None:
        """Quantile in ms: numpy's linear on raw values, else within the histogram's half bucket. None if empty."""
        raw = self.raw()
        if raw is not None:
            return quantile(raw, q) / NS_PER_MS if raw.size else None
        found = self.histogram.quantile(q)
        return None if found is None else self._inside(found) / NS_PER_MS

    def early_stopping_ms(self, q: float) -> float | None:
        """MLPerf LoadGen's early stopping estimate of a quantile in ms; None with too few samples."""
        rank = early_stopping_rank(self.n, q) if self.n else None
        if rank is None:
            return None
        raw = self.raw()
        if raw is not None:
            return float(np.partition(raw, rank - 1)[rank - 1]) / NS_PER_MS
        return self._inside(self.histogram.order_statistic(rank)) / NS_PER_MS

    def quantile_interval_ms(self, q: float) -> tuple[float | None, float | None]:
        """95 % interval of a quantile in ms; a side without a finite bound is None."""
        if not self.n:
            return None, None
        raw = self.raw()
        if raw is not None:
            low, high = interval_of(np.sort(raw), q)
        else:
            low_rank, high_rank = quantile_interval(self.n, q)
            low = None if low_rank is None else self._inside(self.histogram.order_statistic(low_rank))
            high = None if high_rank is None else self._inside(self.histogram.order_statistic(high_rank))
        return (None if low is None else low / NS_PER_MS, None if high is None else high / NS_PER_MS)

    def _inside(self, value: float) -> float:
        """A bucket's middle may lie beyond the extremes, which are known exactly."""
        assert self.moments.min_ns is not None  # noqa: S101 - only called on a series that holds values
        assert self.moments.max_ns is not None  # noqa: S101
        return min(max(value, self.moments.min_ns), self.moments.max_ns)

    def state(self) -> SeriesState:
        moments = self.moments
        return SeriesState(
            n=moments.n,
            sum=str(moments.sum_ns),
            sum_sq=str(moments.sum_sq),
            min_ns=moments.min_ns or 0,
            max_ns=moments.max_ns or 0,
            runs=self.histogram.encode(),
        )

    @classmethod
    def restored(cls, state: SeriesState) -> DurationSeries:
        """The series a keyframe describes, without raw values. ValueError when it contradicts itself."""
        series = cls(raw_limit=0)
        series.histogram = Histogram.decode(state.runs)
        if series.histogram.total != state.n or state.min_ns > state.max_ns:
            raise ValueError("a keyframe's series contradicts itself")
        if state.n:
            series.moments = Moments(state.n, int(state.sum), int(state.sum_sq), state.min_ns, state.max_ns)
            _check(series.moments, state)
        return series


def _check(moments: Moments, state: SeriesState) -> None:
    """ValueError unless some series of n values between minimum and maximum could have these sums."""
    n, total, squares = state.n, moments.sum_ns, moments.sum_sq
    if not (n * state.min_ns <= total <= n * state.max_ns and total**2 <= n * squares <= n * n * state.max_ns**2):
        raise ValueError("a keyframe's sums contradict its extremes")
