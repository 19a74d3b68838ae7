"""Samples and power as tidy columns: one row a sample, one row a power reading, for tables of any make.

Knows events and numpy; what file or library takes the columns is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hettop.events import AnyEvent, Column, Power, Samples
from hettop.text import clean

BATCH_SAMPLES = 1 << 17  # 5 MB of columns

SAMPLE_COLUMNS = (
    "unit",
    "condition",
    "thermal",
    "phase",
    "start_ns",
    "latency_ns",
    "native_ns",
    "late_ns",
    "simulated",
)
POWER_COLUMNS = ("end_ns", "elapsed_ns", "source", "name", "quantity", "value", "thermal", "flags", "simulated")


@dataclass(frozen=True, slots=True)
class Texts:
    """A column of few different texts: `words[codes[i]]` is row i's; a word may be None (unknown)."""

    words: list[str | None]
    codes: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True, slots=True)
class Numbers:
    """A column of whole numbers. `known` is None when all are, else False where `values` holds a stand-in."""

    values: Column
    known: npt.NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive samples, as columns of the same length `n`. Times in ns, starts since the session began."""

    n: int
    unit: Texts
    condition: Texts
    thermal: Texts
    phase: Texts
    start_ns: Numbers
    latency_ns: Numbers
    native_ns: Numbers
    late_ns: Numbers


class PowerRow(NamedTuple):
    """One reading: `quantity` is `mw`, `mhz` or `busy` (0..1), of the rail, cluster or GPU `name`; None: not measured.

    It is the mean over the `elapsed_ns` before `end_ns`.
    """

    end_ns: int
    elapsed_ns: int
    source: str
    name: str
    quantity: str
    value: float | None
    thermal: str | None
    flags: str


def batches(events: Iterable[AnyEvent], size: int | None = BATCH_SAMPLES) -> Iterator[Batch]:
    """All samples in file order, about `size` at a time; None: all at once."""
    held: list[Samples] = []
    n = 0
    for event in events:
        if isinstance(event, Samples):
            held.append(event)
            n += event.n
            if size is not None and n >= size:
                yield batch(held)
                held, n = [], 0
    if held or size is None:
        yield batch(held)


def batch(windows: list[Samples]) -> Batch:
    """These windows' samples."""
    counts = [window.n for window in windows]
    return Batch(
        n=sum(counts),
        unit=texts([clean(window.unit) for window in windows], counts),
        condition=texts([clean(window.condition) for window in windows], counts),
        thermal=texts([None if window.thermal is None else clean(window.thermal) for window in windows], counts),
        phase=texts([window.phase for window in windows], counts),
        start_ns=Numbers(_joined([window.starts_ns() for window in windows])),
        latency_ns=Numbers(_joined([window.lat_ns for window in windows])),
        native_ns=_numbers([window.native_ns for window in windows], counts),
        late_ns=_numbers([window.late_ns for window in windows], counts),
    )


def power_rows(event: Power) -> Iterator[PowerRow]:
    """Every reading of one power sample; what it does not tell of clusters and GPU has no row."""
    source, thermal = clean(event.source), None if event.thermal is None else clean(event.thermal)
    flags = ";".join(clean(flag) for flag in event.flags)
    for rail, mw in event.mw.items():
        yield PowerRow(event.t, event.elapsed_ns, source, clean(rail), "mw", mw, thermal, flags)
    readings = [(cluster.name, cluster.mhz, cluster.busy) for cluster in event.clusters]
    if event.gpu is not None:
        readings.append(("gpu", event.gpu.mhz, event.gpu.busy))
    for name, mhz, busy in readings:
        for quantity, value in (("mhz", mhz), ("busy", busy)):
            if value is not None:
                yield PowerRow(event.t, event.elapsed_ns, source, clean(name), quantity, value, thermal, flags)


def texts(words: Sequence[str | None], counts: Sequence[int]) -> Texts:
    """A column in which each of `words` stands as often as `counts` says."""
    places = {word: place for place, word in enumerate(dict.fromkeys(words))}
    codes = np.repeat(np.array([places[word] for word in words], dtype=np.int32), counts)
    return Texts(list(places), codes)


def _numbers(columns: list[Column | None], counts: list[int]) -> Numbers:
    known = np.repeat(np.array([column is not None for column in columns], dtype=np.bool_), counts)
    values = _joined([np.zeros(n, np.int64) if c is None else c for c, n in zip(columns, counts, strict=True)])
    return Numbers(values, None if known.all() and columns else known)


def _joined(columns: list[Column]) -> Column:
    return np.concatenate(columns) if columns else np.empty(0, dtype=np.int64)
