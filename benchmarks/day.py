"""A recording of a whole day, of 130 million samples: its size, how fast it is read, and how a replay goes about in it.

The samples are made up, seeded, and written by the real writer; nothing of the day is ever held in memory.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from benchmarks.plan import ROOT, Plan, child
from benchmarks.record import BYTES, MILLIONS, NO_SYNC, READ_LIMIT_PER_S, SEEK_LIMIT_S, SEEK_MEMORY_LIMIT
from benchmarks.rows import MB, MS_OF_S, SECONDS, Row, at_least, at_most, for_comparison, worst_at_most
from benchmarks.streams import windows
from hettop import events
from hettop.events import Samples
from hettop.record.defects import Report
from hettop.record.reader import open_recording, read_events
from hettop.record.writer import Writer

SAMPLES = 130_000_000
WINDOW = 1_505  # samples a second, so that they fill a day
SLOWER = 1.311  # than the made-up stream, with its spikes: .664 ms a sample, gaps included
BYTES_LIMIT = 14.0
SEEKS = 400
SPIKE_SEEKS = 100
MARK_EVERY_S = 3_600
SECOND = 10**9
HEADER = events.Header(
    t=0,
    format=events.FORMAT,
    version=events.VERSION,
    simulated=True,
    model=events.ModelInfo(name="made up", backend="simulated"),
)


def measure(plan: Plan) -> Iterator[Row]:
    """Rows for the day's size, reading, seeking, the overview and spikes."""
    day = plan.folder / "day.jsonl"
    samples = plan.either(SAMPLES, SAMPLES // 40)
    plan.say(f"writing {samples:,} samples …")
    _write(day, samples)
    size = day.stat().st_size
    plan.say(f"{size / 1e9:.2f} GB")
    what = f"day: bytes a sample of {samples / 1e6:,.0f} million in {size / 1e9:.2f} GB"
    yield at_most(what, BYTES_LIMIT, [size / samples], BYTES)
    yield at_least("day: reading all of it", READ_LIMIT_PER_S, [_read(day, samples)], MILLIONS)
    for name, how in (("file cached", "cached"), ("file not cached", "cold")):
        found = _child(day, plan.either(SEEKS, 10), how)
        seconds = found["seconds"]
        yield at_most(f"day: seek, {name}", SEEK_LIMIT_S, seconds, MS_OF_S)
        yield for_comparison(f"day: seek, {name}, P95", [float(np.quantile(seconds, 0.95))], MS_OF_S)
        yield for_comparison(f"day: seek, {name}, processor time", found["processor"], MS_OF_S)
        yield worst_at_most(f"day: memory by which {name} seeks grow", SEEK_MEMORY_LIMIT, found["grown"], MB)
    found = _child(day, plan.either(SPIKE_SEEKS, 5), "spikes")
    yield for_comparison("day: to the next or previous spike", found["seconds"], MS_OF_S)
    found = _child(day, 1, "overview")
    yield for_comparison("day: overview and marks of all of it, in pieces", found["seconds"], SECONDS)
    yield for_comparison("day: the longest of those pieces", found["longest"], MS_OF_S)
    yield worst_at_most("day: memory by which looking at all of it grows", SEEK_MEMORY_LIMIT, found["grown"], MB)
    day.unlink()


def _write(path: Path, samples: int) -> None:
    writer = Writer(path, HEADER, disk=NO_SYNC)
    writer.write(events.Engine(t=0, unit="CPU_ONLY@1", state="running", load_ns=90_000_000, backend="simulated"))
    end = marked = 0
    for window in windows(WINDOW, samples // WINDOW, np.random.default_rng(1)):
        slower = _slower(window, end)
        writer.write(slower)
        end = slower.t
        if end // (MARK_EVERY_S * SECOND) > marked:
            marked += 1
            writer.write(events.Mark(t=end, text=f"hour {marked}"))
    writer.close("done")


def _slower(window: Samples, end: int) -> Samples:
    """The window as one of a model that takes .66 ms, right after the one that ended at `end`."""
    latencies = np.round(window.lat_ns * SLOWER).astype(np.int64)
    t0 = end + int(window.gap_ns[0])
    t = t0 + int(window.gap_ns[1:].sum() + latencies.sum())
    return msgspec.structs.replace(window, t=t, t0=t0, lat_ns=latencies)


def _read(path: Path, samples: int) -> float:
    """Samples a second of processor time, every check included."""
    file, _ = open_recording(path)
    found = 0
    begin = time.process_time_ns()
    with file:
        for event in read_events(file, Report()):
            if isinstance(event, Samples):
                found += event.n
    took = time.process_time_ns() - begin
    assert found == samples // WINDOW * WINDOW
    return found / took * 1e9


def _child(path: Path, count: int, how: str) -> dict[str, list[float]]:
    run = subprocess.run(
        child("seek", str(path), str(count), how), cwd=ROOT, capture_output=True, check=True, text=True
    )
    found: dict[str, list[float]] = json.loads(run.stdout)
    return found
