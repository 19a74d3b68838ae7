"""The trace as Perfetto's own trace processor reads it, where that is there: a large program that is fetched apart."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hettop.export import perfetto
from hettop.export.formats import Stream
from tests.export.recordings import everything

processor = pytest.importorskip("perfetto.trace_processor", reason="the perfetto package is not installed")
PROGRAM = "trace_processor_shell"
FETCHED = Path.home() / ".local" / "share" / "perfetto" / "prebuilts" / PROGRAM


@pytest.fixture
def program() -> str:
    found = shutil.which(PROGRAM) or (str(FETCHED) if FETCHED.is_file() else None)
    if found is None:
        pytest.skip(f"{PROGRAM} is not on the path, and nothing is downloaded by a test")
    return found


def test_its_slices_are_the_inferences_of_the_recording_and_power_is_a_counter(program: str, tmp_path: Path) -> None:
    recording = everything(tmp_path)
    path = tmp_path / "session.trace.json"
    with path.open("wb") as file:
        perfetto.export(recording, Stream(file))
    with processor.TraceProcessor(trace=str(path), config=processor.TraceProcessorConfig(bin_path=program)) as trace:
        lengths = [row.dur for row in trace.query("select dur from slice where dur > 0")]
        counters = [row.name for row in trace.query("select name from counter_track")]
    told = [latency for samples in recording.samples for latency in samples.latency_ns.tolist()]
    assert set(told) <= set(lengths)
    assert counters
