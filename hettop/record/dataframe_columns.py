"""Samples and power as columns, one row a sample or a power reading, and as data frames of the caller's library.

pandas and polars are imported when a frame of theirs is asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hettop.errors import HettopError
from hettop.events import AnyEvent, Column, Power, Samples
from hettop.text import clean

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

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
    """Every reading of one power sample; missing clusters and GPU have no row."""
    source, thermal = clean(event.source), None if event.thermal is None else clean(event.thermal)
    flags = ";".join(clean(flag) for flag in event.flags)
    for rail, mw in event.mw.items():
        yield PowerRow(event.t, event.elapsed_ns, source, clean(rail), "mw", mw, thermal, flags)
    readings = [(cluster.name, cluster.mhz, cluster.busy) for cluster in event.clusters]
    if event.gpu is not None:
        readings.append(("gpu", event.gpu.mhz, event.gpu.busy))
    readings += [(each.name, each.mhz, each.busy) for each in event.accelerators]
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


AnyColumn = Texts | Numbers | npt.NDArray[Any]
TABLES = ("samples", "power")


def columns_of(table: str, events: Iterable[AnyEvent], *, simulated: bool) -> dict[str, AnyColumn]:
    """The columns of the table `samples` or `power`. Raises HettopError `usage` for another."""
    if table not in TABLES:
        raise HettopError("usage", f"invalid table {table!r}", f"valid tables: {', '.join(TABLES)}")
    columns = _sample_columns(events) if table == "samples" else _power_columns(events)
    length = len(next(iter(columns.values())))
    return {**columns, SAMPLE_COLUMNS[-1]: np.full(length, simulated)}


def pandas_frame(columns: dict[str, AnyColumn]) -> pd.DataFrame:
    """Texts become categories, whole numbers that may be missing `Int64`."""
    pandas = _library("pandas")
    frame: pd.DataFrame = pandas.DataFrame({name: _for_pandas(pandas, column) for name, column in columns.items()})
    return frame


def polars_frame(columns: dict[str, AnyColumn]) -> pl.DataFrame:
    """What is missing is null."""
    polars = _library("polars")
    frame: pl.DataFrame = polars.DataFrame([_for_polars(polars, name, column) for name, column in columns.items()])
    return frame


def _sample_columns(events: Iterable[AnyEvent]) -> dict[str, AnyColumn]:
    whole = next(batches(events, None))
    return {name: getattr(whole, name) for name in SAMPLE_COLUMNS[:-1]}


def _power_columns(events: Iterable[AnyEvent]) -> dict[str, AnyColumn]:
    rows = [row for event in events if isinstance(event, Power) for row in power_rows(event)]
    once = [1] * len(rows)
    columns: dict[str, AnyColumn] = {
        "end_ns": Numbers(np.array([row.end_ns for row in rows], dtype=np.int64)),
        "elapsed_ns": Numbers(np.array([row.elapsed_ns for row in rows], dtype=np.int64)),
        "source": texts([row.source for row in rows], once),
        "name": texts([row.name for row in rows], once),
        "quantity": texts([row.quantity for row in rows], once),
        "value": np.array([row.value for row in rows], dtype=np.float64),
        "thermal": texts([row.thermal for row in rows], once),
        "flags": texts([row.flags for row in rows], once),
    }
    assert tuple(columns) == POWER_COLUMNS[:-1]  # noqa: S101 - the order is the tables' contract
    return columns


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise HettopError("missing", f"this needs the {name} package", f"pip install {name}") from None


def _for_pandas(pandas: Any, column: AnyColumn) -> Any:
    match column:
        case Texts(words, codes):
            known = [word for word in words if word is not None]
            places = np.array([-1 if word is None else known.index(word) for word in words] or [-1], dtype=np.int32)
            return pandas.Categorical.from_codes(places[codes], categories=known)
        case Numbers(values, known_rows):
            return values if known_rows is None else pandas.arrays.IntegerArray(values, ~known_rows)
    return column


def _for_polars(polars: Any, name: str, column: AnyColumn) -> Any:
    match column:
        case Texts(words, codes):
            return polars.Series(name, words or [None], dtype=polars.String)[codes.astype(np.int64)]
        case Numbers(values, known_rows):
            held = polars.Series(name, values)
            # Scattered: polars takes no mask.
            return held if known_rows is None else held.scatter(np.flatnonzero(~known_rows), None)
    held = polars.Series(name, column)
    return held.fill_nan(None) if column.dtype.kind == "f" else held
