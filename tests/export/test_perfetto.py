"""The trace: valid by what Chrome's trace event format asks for, with every inference in its place."""

from __future__ import annotations

import json
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from hettop.events import Power
from hettop.export import perfetto
from hettop.export.formats import Stream
from hettop.record.opened import Recording
from tests.export.recordings import empty, everything, hostile, simulated, written
from tests.record.stories import MS, SECOND, window

# From the trace event format: what each phase of event must have.
SCHEMA = {
    "type": "object",
    "required": ["ph", "pid", "tid"],
    "properties": {
        "ph": {"enum": ["X", "C", "i", "M", "B", "E"]},
        "pid": {"type": "integer"},
        "tid": {"type": "integer"},
        "ts": {"type": "number", "minimum": 0},
        "dur": {"type": "number", "minimum": 0},
        "name": {"type": "string"},
        "s": {"enum": ["g", "p", "t"]},
        "args": {"type": "object"},
    },
    "allOf": [
        {"if": {"properties": {"ph": {"const": "X"}}}, "then": {"required": ["name", "ts", "dur"]}},
        {"if": {"properties": {"ph": {"const": "C"}}}, "then": {
            "required": ["name", "ts", "args"],
            "properties": {"args": {"additionalProperties": {"type": "number"}, "minProperties": 1}},
        }},
        {"if": {"properties": {"ph": {"const": "i"}}}, "then": {"required": ["name", "ts", "s"]}},
        {"if": {"properties": {"ph": {"const": "M"}}}, "then": {
            "required": ["name", "args"],
            "properties": {"name": {"enum": ["process_name", "thread_name"]}, "args": {"required": ["name"]}},
        }},
        {"if": {"properties": {"ph": {"const": "B"}}}, "then": {"required": ["name", "ts"]}},
        {"if": {"properties": {"ph": {"const": "E"}}}, "then": {"required": ["ts"]}},
    ],
}  # fmt: skip


def trace(recording: Recording) -> dict[str, Any]:
    import io

    stream = io.BytesIO()
    perfetto.export(recording, Stream(stream))
    found: dict[str, Any] = json.loads(stream.getvalue(), parse_float=Decimal)
    return found


def of(found: dict[str, Any], phase: str) -> list[dict[str, Any]]:
    return [event for event in found["traceEvents"] if event["ph"] == phase]


def names(found: dict[str, Any]) -> dict[tuple[int, int], str]:
    return {(e["pid"], e["tid"]): e["args"]["name"] for e in of(found, "M") if e["name"] == "thread_name"}


def test_every_inference_is_a_slice_on_its_unit_s_track_to_the_nanosecond(tmp_path: Path) -> None:
    found = trace(everything(tmp_path))
    slices = of(found, "X")
    tracks = names(found)
    assert len(slices) == 9
    second = slices[3]
    assert tracks[second["pid"], second["tid"]] == "CPU_ONLY"
    assert second["ts"] * 1000 == SECOND + 11 * MS + 3_000
    assert second["dur"] * 1000 == 7_000_001
    assert slices[0]["name"] == "first"
    other = slices[5]
    assert tracks[other["pid"], other["tid"]] == "CPU_AND_NE"
    assert other["args"] == {"phase": "steady", "load": "cpu:1", "thermal": "Fair", "native_us": 7000}


def test_slices_of_a_track_never_overlap(tmp_path: Path) -> None:
    by_track = defaultdict(list)
    for event in of(trace(everything(tmp_path)), "X"):
        by_track[event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for spans in by_track.values():
        assert all(end <= begin for (_, end), (begin, _) in zip(sorted(spans), sorted(spans)[1:], strict=False))


def test_power_and_frequency_are_counters_that_begin_where_their_sample_does(tmp_path: Path) -> None:
    counters = of(trace(everything(tmp_path)), "C")
    found = {(event["name"], event["ts"] / 1_000_000): next(iter(event["args"].values())) for event in counters}
    assert found == {
        ("cpu mW", 1): 1500, ("gpu mW", 1): 20, ("E-Cluster MHz", 1): 1200, ("GPU MHz", 1): 444,
        ("cpu mW", 11): 500, ("ane mW", 11): 250,
    }  # fmt: skip


def test_marks_are_instants_and_a_load_is_a_slice_while_it_lasts(tmp_path: Path) -> None:
    found = trace(everything(tmp_path))
    marks = [(event["name"], event["ts"]) for event in of(found, "i") if event["cat"] == "mark"]
    assert marks == [("opened the browser", 4_000_000)]
    (begin,), (end,) = of(found, "B"), of(found, "E")
    assert (begin["name"], begin["ts"], end["ts"]) == ("cpu:1", 2_000_000, 4_000_000)
    assert begin["tid"] == end["tid"]


def test_simulated_data_says_so_in_the_track_s_name(tmp_path: Path) -> None:
    found = trace(simulated(tmp_path))
    assert found["otherData"]["simulated"] is True
    processes = [event["args"]["name"] for event in of(found, "M") if event["name"] == "process_name"]
    assert all(name.startswith("SIMULATED") for name in processes)


def test_it_is_valid_whatever_the_recording_holds(tmp_path: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for make in (everything, empty, hostile):
        found = json.loads(json.dumps(trace(make(tmp_path)), default=float))
        assert found["traceEvents"]
        for event in found["traceEvents"]:
            validator.validate(event)


def test_counters_of_a_capture_are_called_so(tmp_path: Path) -> None:
    captured = Power(t=2 * SECOND, source="file", elapsed_ns=SECOND, mw={"cpu": 500.0})
    found = trace(written(tmp_path / "a.jsonl", [window(0, [MS] * 3, t=SECOND), captured]))
    assert [event["name"] for event in of(found, "C")] == ["CAPTURE · cpu mW"]
