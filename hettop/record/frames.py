"""Data frames of a recording's samples and power, in the library the caller has.

Knows tidy columns; pandas and polars are imported when a frame of theirs is asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hettop.errors import HettopError
from hettop.events import AnyEvent, Power
from hettop.record.dataframe_columns import POWER_COLUMNS, SAMPLE_COLUMNS, Numbers, Texts, batches, power_rows, texts

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

AnyColumn = Texts | Numbers | npt.NDArray[Any]
TABLES = ("samples", "power")


def columns_of(table: str, events: Iterable[AnyEvent], *, simulated: bool) -> dict[str, AnyColumn]:
    """The columns of the table `samples` or `power`. Raises HettopError `usage` for another."""
    if table not in TABLES:
        raise HettopError("usage", f"there is no table {table!r}", f"there are: {', '.join(TABLES)}")
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
