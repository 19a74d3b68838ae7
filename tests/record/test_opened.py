"""The Python interface: every sample as it was measured, in arrays and frames, and nothing heavy on import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hettop
from hettop import events
from hettop.errors import HettopError
from hettop.record.pack import pack
from tests.record.stories import MS, SECOND, record, window

STREAM: list[events.AnyEvent] = [
    events.Engine(t=0, unit="CPU_ONLY", state="running", load_ns=90 * MS),
    window(MS, [9 * MS], phase="first"),
    window(SECOND, [5 * MS, 6 * MS, 7 * MS], gaps=[0, 1_000, 2_000]),
    events.Power(t=2 * SECOND, source="macmon", elapsed_ns=SECOND, mw={"cpu": 1500.0, "ane": None}, flags=["partial"]),
    window(3 * SECOND, [4 * MS], unit="CPU_AND_NE", condition="cpu:1", thermal="Fair", native=[3 * MS]),
    events.Mark(t=4 * SECOND, text="browser"),
    events.Power(
        t=5 * SECOND, source="macmon", elapsed_ns=SECOND, mw={"cpu": 500.0, "ane": 250.0},
        clusters=[events.Cluster(name="E", mhz=600.0, busy=0.5)], thermal="Fair",
    ),
]  # fmt: skip


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("opened") / "a.jsonl"
    record(made, STREAM)
    return made


@pytest.fixture(scope="module")
def recording(path: Path) -> hettop.Recording:
    return hettop.open_recording(path)


def test_importing_hettop_imports_no_numpy() -> None:
    code = "import hettop, sys; assert 'numpy' not in sys.modules; hettop.open_recording; assert 'numpy' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=100)


def test_what_hettop_lacks_it_says_as_any_module() -> None:
    with pytest.raises(AttributeError, match="no attribute 'close_recording'"):
        hettop.close_recording  # noqa: B018


def test_conditions_hold_the_steady_samples_in_order(recording: hettop.Recording) -> None:
    first, second = recording.conditions
    assert (first.unit, first.load, first.thermal, first.native_ns) == ("CPU_ONLY", "none", None, None)
    assert first.latency_ns.tolist() == [5 * MS, 6 * MS, 7 * MS]
    assert first.start_ns.tolist() == [SECOND, SECOND + 5 * MS + 1_000, SECOND + 11 * MS + 3_000]
    assert (second.unit, second.load, second.thermal) == ("CPU_AND_NE", "cpu:1", "Fair")
    assert second.native_ns is not None
    assert second.native_ns.tolist() == [3 * MS]


def test_samples_hold_the_other_phases_too(recording: hettop.Recording) -> None:
    assert [(found.phase, len(found.latency_ns)) for found in recording.samples] == [
        ("first", 1), ("steady", 3), ("steady", 1),
    ]  # fmt: skip


def test_power_is_nan_where_it_was_not_measured(recording: hettop.Recording) -> None:
    power = recording.power
    assert power.end_ns.tolist() == [2 * SECOND, 5 * SECOND]
    assert power.mw["cpu"].tolist() == [1500.0, 500.0]
    assert np.isnan(power.mw["ane"][0])
    assert power.sources == ("macmon",)


def test_statistics_marks_and_session_are_those_of_a_replay(recording: hettop.Recording) -> None:
    assert [(row.unit, row.n, row.p50_ms) for row in recording.statistics] == [
        ("CPU_ONLY", 3, 6.0),
        ("CPU_AND_NE", 1, 4.0),
    ]
    assert recording.marks == [(4 * SECOND, "browser")]
    assert recording.session.samples == 5
    assert recording.simulated is False


def test_it_can_be_compressed(path: Path, recording: hettop.Recording, tmp_path: Path) -> None:
    pytest.importorskip("zstandard")
    pack(path, tmp_path / "a.jsonl.zst")
    other = hettop.open_recording(str(tmp_path / "a.jsonl.zst"))
    assert [found.latency_ns.tolist() for found in other.samples] == [f.latency_ns.tolist() for f in recording.samples]


def test_a_pandas_frame_has_a_row_for_each_sample(recording: hettop.Recording) -> None:
    pandas = pytest.importorskip("pandas")
    frame = recording.to_pandas()
    assert frame["latency_ns"].tolist() == [9 * MS, 5 * MS, 6 * MS, 7 * MS, 4 * MS]
    assert frame.groupby("unit", observed=True)["latency_ns"].max().to_dict() == {
        "CPU_ONLY": 9 * MS,
        "CPU_AND_NE": 4 * MS,
    }
    assert frame["native_ns"].isna().tolist() == [True] * 4 + [False]
    assert frame["thermal"].isna().tolist() == [True] * 4 + [False]
    assert not frame["simulated"].any()
    power = recording.to_pandas("power")
    rows = power[power["quantity"] == "mw"].pivot(index="end_ns", columns="name", values="value")
    assert rows.loc[5 * SECOND].to_dict() == {"cpu": 500.0, "ane": 250.0}
    assert pandas.isna(rows.loc[2 * SECOND, "ane"])


def test_a_polars_frame_has_the_same(recording: hettop.Recording) -> None:
    pytest.importorskip("polars")
    frame = recording.to_polars()
    assert frame["start_ns"].to_list() == [MS, SECOND, SECOND + 5 * MS + 1_000, SECOND + 11 * MS + 3_000, 3 * SECOND]
    assert frame["native_ns"].to_list() == [None] * 4 + [3 * MS]
    assert frame["thermal"].to_list() == [None] * 4 + ["Fair"]
    assert recording.to_polars("power")["value"].to_list() == [1500.0, None, 500.0, 250.0, 600.0, 0.5]


def test_a_recording_without_samples_has_empty_frames_of_the_same_columns(tmp_path: Path) -> None:
    record(tmp_path / "a.jsonl", [])
    empty = hettop.open_recording(tmp_path / "a.jsonl")
    assert empty.conditions == []
    assert empty.statistics == []
    if "pandas" in sys.modules:
        assert len(empty.to_pandas()) == 0
    if "polars" in sys.modules:
        assert empty.to_polars("power").height == 0


def test_what_is_no_recording_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(HettopError, match="file not found:"):
        hettop.open_recording(tmp_path / "none.jsonl")


def test_a_table_that_there_is_not_is_refused(recording: hettop.Recording) -> None:
    with pytest.raises(HettopError, match="invalid table"):
        recording.to_pandas("latency")
