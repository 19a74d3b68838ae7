"""CSV and Parquet: the tidy tables, read back by others."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from hettop.export import csv_table
from hettop.export.formats import FORMATS, Files
from hettop.record.opened import Recording
from tests.export.recordings import NASTY, empty, everything, hostile
from tests.record.stories import MS, SECOND


def tables(name: str, recording: Recording, folder: Path) -> list[Path]:
    with Files(folder / f"out{FORMATS[name].suffix}", FORMATS[name].beginnings) as files:
        FORMATS[name].load()(recording, files)
    return files.paths


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_row_a_sample_with_exact_starts(tmp_path: Path) -> None:
    samples, _ = tables("csv", everything(tmp_path), tmp_path)
    rows = rows_of(samples)
    assert [(row["unit"], row["phase"], int(row["start_ns"]), int(row["latency_ns"])) for row in rows[:4]] == [
        ("CPU_ONLY", "first", MS, 9 * MS),
        ("CPU_ONLY", "steady", SECOND, 5 * MS),
        ("CPU_ONLY", "steady", SECOND + 5 * MS + 1_000, 6 * MS),
        ("CPU_ONLY", "steady", SECOND + 11 * MS + 3_000, 7_000_001),
    ]
    assert len(rows) == 9
    last = rows[5]
    assert (last["condition"], last["thermal"], last["native_ns"], last["late_ns"]) == (
        "cpu:1",
        "Fair",
        str(7 * MS),
        "",
    )
    assert {row["simulated"] for row in rows} == {"false"}


def test_power_is_a_row_for_each_reading_and_empty_where_not_measured(tmp_path: Path) -> None:
    _, power = tables("csv", everything(tmp_path), tmp_path)
    rows = rows_of(power)
    first = [(row["name"], row["quantity"], row["value"]) for row in rows if row["end_ns"] == str(2 * SECOND)]
    assert first == [
        ("cpu", "mw", "1500.0"),
        ("gpu", "mw", "20.0"),
        ("ane", "mw", ""),
        ("E-Cluster", "mhz", "1200.0"),
        ("E-Cluster", "busy", "0.25"),
        ("gpu", "mhz", "444.0"),
        ("gpu", "busy", "0.5"),
    ]
    assert rows[-1]["flags"] == "partial"


def test_without_power_there_is_one_table_with_its_heading(tmp_path: Path) -> None:
    (samples,) = tables("csv", empty(tmp_path), tmp_path)
    assert samples.read_text() == "unit,condition,thermal,phase,start_ns,latency_ns,native_ns,late_ns,simulated\n"


def test_no_cell_is_a_formula_and_none_breaks_its_row(tmp_path: Path) -> None:
    assert NASTY[0] == "\x1b"
    for path in tables("csv", hostile(tmp_path), tmp_path):
        for row in rows_of(path):
            assert None not in row
            for cell in row.values():
                assert not cell.startswith(("=", "+", "@"))
    for cell, harmless in (
        ("=1+1", "'=1+1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("-5", "-5"),
        ("-x", "'-x"),
        ("cpu:1", "cpu:1"),
    ):
        assert csv_table._harmless(cell) == harmless


def test_parquet_holds_the_same_typed(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    recording = everything(tmp_path)
    samples, power = (parquet.read_table(path) for path in tables("parquet", recording, tmp_path))
    texts = rows_of(tables("csv", recording, tmp_path)[0])
    columns = samples.to_pydict()
    assert [str(value) for value in columns["start_ns"]] == [row["start_ns"] for row in texts]
    assert [str(value) for value in columns["latency_ns"]] == [row["latency_ns"] for row in texts]
    assert columns["native_ns"] == [None] * 4 + [3 * MS, 7 * MS] + [None] * 3
    assert columns["thermal"] == [None] * 4 + ["Fair"] * 2 + [None] * 3
    assert columns["unit"] == [row["unit"] for row in texts]
    assert columns["simulated"] == [False] * 9
    assert str(samples.schema.field("latency_ns").type) == "int64"
    header = json.loads(samples.schema.metadata[b"hettop.header"])
    assert header["model"]["name"] == "mobilenetv2"
    assert power.to_pydict()["value"][:3] == [1500.0, 20.0, None]


def test_parquet_texts_are_clean_and_an_empty_recording_has_no_rows(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for path in tables("parquet", hostile(tmp_path), tmp_path):
        for row in parquet.read_table(path).to_pylist():
            assert "\x1b" not in "".join(value for value in row.values() if isinstance(value, str))
    other = tmp_path / "other"
    other.mkdir()
    (samples,) = tables("parquet", empty(tmp_path), other)
    assert parquet.read_table(samples).num_rows == 0
