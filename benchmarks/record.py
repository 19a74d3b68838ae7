"""What a recording costs: bytes and time a sample, how fast it is read, and seeking in a recording of a whole day.

The samples are real ones, recorded by the live view in a terminal; the day repeats them through the real writer.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path

import msgspec
import numpy as np

from benchmarks import models
from benchmarks.plan import ROOT, Plan, child, hettop
from benchmarks.recordings import events_of, windows_of
from benchmarks.rows import MB, MS_OF_S, Row, Unit, at_least, at_most, for_comparison, worst_at_most
from benchmarks.terminal import Terminal
from hettop.events import Header, Samples
from hettop.measurement.options import DEFAULT_MODEL
from hettop.record.defects import Report
from hettop.record.disk import Disk
from hettop.record.reader import open_recording, read_events
from hettop.record.writer import Writer

BYTES_LIMIT_FAST, BYTES_LIMIT_SLOW, BYTES_LIMIT_ZSTD = 14.0, 17.0, 7.0
WRITE_LIMIT_NS = 200.0
READ_LIMIT_PER_S = 5e6
SEEK_LIMIT_S = 0.050
SEEK_MEMORY_LIMIT = 50e6
ZSTD_LEVEL = 3
RECORDED_S = 60
FLUSH_SAMPLES = 75  # what an engine flushes each 50 ms at 1,500 samples a second
WRITTEN_SAMPLES = 1_500_000
READ_SAMPLES = 3_000_000
REPEATS = 10
SEEKS = 40
DAY_NS = 24 * 3600 * 10**9
BYTES = Unit(" bytes", decimals=2)
NS = Unit(" ns", decimals=0)
MILLIONS = Unit(" M samples/s", 1e-6, 1)
NO_SYNC = Disk(sync=lambda _fd: None)


def measure(plan: Plan) -> Iterator[Row]:
    """Rows for size, writing, reading and seeking."""
    fast = _record(plan, "fast", str(models.two_thirds_of_a_millisecond(plan.folder)), "CPU_ONLY@1")
    yield at_most(f"record: bytes a sample at {_rate(fast):,.0f}/s", BYTES_LIMIT_FAST, [_bytes(fast)], BYTES)
    slow = _record(plan, "slow", DEFAULT_MODEL, "CPU_ONLY@1")
    yield at_most(f"record: bytes a sample at {_rate(slow):,.0f}/s", BYTES_LIMIT_SLOW, [_bytes(slow)], BYTES)
    yield at_most("record: the former with zstd, level 3", BYTES_LIMIT_ZSTD, [_zstd_bytes(fast)], BYTES)

    header, windows = next(iter(events_of(fast))), _steady(fast)
    assert isinstance(header, Header)
    repeats = plan.either(REPEATS, 2)
    flushes = _flushes(windows)
    written = [_write_ns(plan, header, flushes) for _ in range(repeats)]
    yield at_most("record: writing a sample that comes in flushes of 75", WRITE_LIMIT_NS, written, NS)
    seconds = [_write_ns(plan, header, windows) for _ in range(repeats)]
    yield for_comparison("record: writing a sample that comes in windows of a second", seconds, NS)

    day = plan.folder / "day.jsonl"
    _write_day(day, header, windows, plan.either(DAY_NS, DAY_NS // 40))
    read = [_read_speed(day) for _ in range(repeats)]
    yield at_least("record: reading", READ_LIMIT_PER_S, read, MILLIONS)
    size = f"{day.stat().st_size / 1e9:.2f} GB"
    for name, cold in (("file cached", False), ("file not cached", True)):
        seeks = _seek(day, plan.either(SEEKS, 5), cold=cold)
        yield at_most(f"record: seek in a day of {size}, {name}", SEEK_LIMIT_S, seeks["seconds"], MS_OF_S)
        yield worst_at_most(f"record: memory by which {name} seeks grow", SEEK_MEMORY_LIMIT, seeks["grown"], MB)
    day.unlink()


def _record(plan: Plan, name: str, model: str, unit: str) -> Path:
    """A recording of the live view."""
    path = plan.folder / f"{name}.jsonl"
    with Terminal(hettop(model, "--unit", unit, "--record", str(path))) as terminal:
        terminal.await_text(rb"P50\s*\d", 60)
        time.sleep(plan.either(RECORDED_S, 5))
        terminal.quit()
    return path


def _steady(path: Path) -> list[Samples]:
    return [window for window in windows_of(path) if window.phase == "steady"]


def _rate(path: Path) -> float:
    windows = _steady(path)
    return sum(window.n for window in windows) / (windows[-1].t - windows[0].t0) * 1e9


def _bytes(path: Path) -> float:
    return path.stat().st_size / sum(window.n for window in windows_of(path))


def _zstd_bytes(path: Path) -> float:
    import zstandard

    packed = zstandard.ZstdCompressor(level=ZSTD_LEVEL).compress(path.read_bytes())
    return len(packed) / sum(window.n for window in windows_of(path))


def _repeated(windows: Sequence[Samples], until_ns: int) -> Iterator[Samples]:
    """The windows over and over, each time later, up to `until_ns`; each is committed right after its end."""
    end = 0
    for window in cycle(windows):
        t0 = end + int(window.gap_ns[0])
        end = t0 + int(window.gap_ns[1:].sum() + window.lat_ns.sum())
        if end > until_ns:
            return
        yield msgspec.structs.replace(window, t=end, t0=t0)


def _flushes(windows: Sequence[Samples]) -> list[Samples]:
    """The same samples as an engine publishes them."""
    latencies = np.concatenate([window.lat_ns for window in windows])
    gaps = np.concatenate([window.gap_ns for window in windows])
    first = windows[0]
    pieces = [slice(at, at + FLUSH_SAMPLES) for at in range(0, len(latencies) - FLUSH_SAMPLES, FLUSH_SAMPLES)]
    return [
        msgspec.structs.replace(first, n=FLUSH_SAMPLES, gap_ns=gaps[piece], lat_ns=latencies[piece]) for piece in pieces
    ]


def _write_ns(plan: Plan, header: Header, windows: Sequence[Samples]) -> float:
    """Processor time a sample of the thread that writes; the disk is synced on another, as always."""
    path = plan.folder / "written.jsonl"
    writer = Writer(path, header, force=True)
    prepared = []
    total = 0
    for window in _repeated(windows, DAY_NS):
        prepared.append(window)
        total += window.n
        if total >= WRITTEN_SAMPLES:
            break
    begin = time.thread_time_ns()
    for window in prepared:
        writer.write(window)
    took = time.thread_time_ns() - begin
    writer.close("done")
    path.unlink()
    return took / total


def _write_day(path: Path, header: Header, windows: Sequence[Samples], until_ns: int) -> None:
    writer = Writer(path, header, disk=NO_SYNC)
    for window in _repeated(windows, until_ns):
        writer.write(window)
    writer.close("done")


def _read_speed(path: Path) -> float:
    """Samples a second of processor time, every check included."""
    file, _ = open_recording(path)
    samples = 0
    begin = time.process_time_ns()
    with file:
        for event in read_events(file, Report()):
            if isinstance(event, Samples):
                samples += event.n
                if samples >= READ_SAMPLES:
                    break
    return samples / (time.process_time_ns() - begin) * 1e9


def _seek(path: Path, seeks: int, *, cold: bool) -> dict[str, list[float]]:
    argv = child("seek", str(path), str(seeks), "cold" if cold else "cached")
    run = subprocess.run(argv, cwd=ROOT, capture_output=True, check=True, text=True)
    found: dict[str, list[float]] = json.loads(run.stdout)
    return found
