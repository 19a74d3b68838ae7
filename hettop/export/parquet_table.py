"""Parquet: the tables of the CSV export with types, as pyarrow writes them."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from hettop.events import Power
from hettop.export.formats import Target, needed
from hettop.record.dataframe_columns import (
    POWER_COLUMNS,
    SAMPLE_COLUMNS,
    Batch,
    Numbers,
    PowerRow,
    Texts,
    batches,
    power_rows,
)
from hettop.record.opened import Recording

EXTRA = "parquet"
WHAT = "Parquet"
POWER_ROWS_AT_ONCE = 1 << 16


def export(recording: Recording, target: Target) -> None:
    """Row groups of some 130,000 samples, so that memory stays bounded. Raises HettopError `missing`."""
    arrow, parquet = needed("pyarrow", EXTRA, WHAT), needed("pyarrow.parquet", EXTRA, WHAT)
    metadata = {"hettop.header": msgspec.json.encode(recording.header)}
    with parquet.ParquetWriter(target.main(), _sample_schema(arrow, metadata), compression="zstd") as writer:
        for batch in batches(recording.events()):
            writer.write_table(_sample_table(arrow, batch, recording.simulated, writer.schema))
    _export_power(arrow, parquet, recording, target, metadata)


def _export_power(arrow: Any, parquet: Any, recording: Recording, target: Target, metadata: dict[str, bytes]) -> None:
    """In a pass of its own: there is a second file only where there is power."""
    writer = None
    held: list[PowerRow] = []
    schema = _power_schema(arrow, metadata)
    try:
        for event in recording.events():
            if not isinstance(event, Power):
                continue
            if writer is None:
                file = target.beside("power")
                if file is None:
                    return
                writer = parquet.ParquetWriter(file, schema, compression="zstd")
            held += power_rows(event)
            if len(held) >= POWER_ROWS_AT_ONCE:
                writer.write_table(_power_table(arrow, held, recording.simulated, schema))
                held = []
        if writer is not None and held:
            writer.write_table(_power_table(arrow, held, recording.simulated, schema))
    finally:
        if writer is not None:
            writer.close()


def _sample_schema(arrow: Any, metadata: dict[str, bytes]) -> Any:
    text = arrow.dictionary(arrow.int32(), arrow.string())
    kinds = [text] * 4 + [arrow.int64()] * 4 + [arrow.bool_()]
    return arrow.schema(list(zip(SAMPLE_COLUMNS, kinds, strict=True)), metadata=metadata)


def _power_schema(arrow: Any, metadata: dict[str, bytes]) -> Any:
    text, number = arrow.string(), arrow.int64()
    kinds = [number, number, text, text, text, arrow.float64(), text, text, arrow.bool_()]
    return arrow.schema(list(zip(POWER_COLUMNS, kinds, strict=True)), metadata=metadata)


def _sample_table(arrow: Any, batch: Batch, simulated: bool, schema: Any) -> Any:
    columns = [_array(arrow, getattr(batch, name)) for name in SAMPLE_COLUMNS[:-1]]
    return arrow.table([*columns, arrow.array(np.full(batch.n, simulated))], schema=schema)


def _power_table(arrow: Any, rows: list[PowerRow], simulated: bool, schema: Any) -> Any:
    columns = [arrow.array(column, kind) for column, kind in zip(zip(*rows, strict=True), schema.types)]  # noqa: B905 - the last is `simulated`
    return arrow.table([*columns, arrow.array(np.full(len(rows), simulated))], schema=schema)


def _array(arrow: Any, column: Texts | Numbers) -> Any:
    if isinstance(column, Numbers):
        return arrow.array(column.values, mask=None if column.known is None else ~column.known)
    known = [word for word in column.words if word is not None]
    places = np.array([0 if word is None else known.index(word) for word in column.words], dtype=np.int32)
    unknown = np.array([word is None for word in column.words])
    codes = arrow.array(places[column.codes], mask=unknown[column.codes])
    return arrow.DictionaryArray.from_arrays(codes, arrow.array(known, arrow.string()))
