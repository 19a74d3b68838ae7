"""Small sessions reported as events, and the recordings made of them; times and latencies are drawn from a seed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hettop import events
from hettop.events import AnyEvent, Samples
from hettop.record.defects import Report
from hettop.record.reader import open_recording, read_events
from hettop.record.writer import Closed, Writer

SECOND = 10**9
MS = 10**6


def header(**changes: object) -> events.Header:
    fields: dict[str, object] = {"t": 0, "format": "hettop", "version": events.VERSION, "id": "story", **changes}
    return events.Header(**fields)  # type: ignore[arg-type]


def window(
    t0: int,
    latencies: Sequence[int],
    *,
    gaps: Sequence[int] | None = None,
    t: int | None = None,
    unit: str = "CPU_ONLY",
    condition: str = "none",
    phase: str = "steady",
    thermal: str | None = None,
    native: Sequence[int] | None = None,
) -> Samples:
    """A window of samples that follow each other after `gaps` (3 µs each if not given), committed at its end."""
    lat = np.array(latencies, dtype=np.int64)
    gap = np.array(gaps if gaps is not None else [3_000] * len(lat), dtype=np.int64)
    end = t0 + int(gap[1:].sum() + lat.sum())
    return Samples(
        t=end if t is None else t,
        unit=unit,
        condition=condition,
        phase=phase,
        t0=t0,
        n=len(lat),
        gap_ns=gap,
        lat_ns=lat,
        native_ns=None if native is None else np.array(native, dtype=np.int64),
        thermal=thermal,
    )


def flushes(
    seed: int, seconds: float, *, unit: str = "CPU_ONLY", start: int = 0, mean_ms: float = 8.0
) -> list[Samples]:
    """What an engine flushes: a window about every 50 ms, back to back, latencies with a spike now and then."""
    rng = np.random.default_rng(seed)
    flushed = []
    t = start
    while t < start + seconds * SECOND:
        count = max(1, round(50 / mean_ms))
        latencies = (mean_ms * MS * np.exp(rng.normal(0, 0.05, count))).astype(np.int64)
        latencies[rng.random(count) < 0.01] *= 4
        gaps = rng.integers(500, 5_000, count)
        made = window(t + int(gaps[0]), latencies.tolist(), gaps=gaps.tolist(), unit=unit)
        flushed.append(made)
        t = made.t
    return flushed


def story(seed: int, seconds: float) -> Iterator[AnyEvent]:
    """Two units that take turns every few seconds, with power, usage, marks, a load and a pause."""
    rng = np.random.default_rng(seed)
    units = ("CPU_ONLY", "CPU_AND_NE")
    for unit in units:
        yield events.Engine(t=0, unit=unit, state="running", load_ns=90 * MS, backend="simulated")
    t, turn = 0, 0
    while t < seconds * SECOND:
        unit = units[turn % 2]
        yield events.Control(t=t, action="switch", units=[unit])
        if turn % 3 == 2:
            yield events.Load(t=t, what="cpu", state="confirmed", condition="cpu:1" if turn % 2 else "none", level=1)
        if turn % 4 == 1:
            yield events.Mark(t=t, text=f"turn {turn}")
        for flush in flushes(seed + turn, float(rng.uniform(2, 7)), unit=unit, start=t, mean_ms=8.0 - 4.0 * (turn % 2)):
            yield flush
            yield events.Usage(t=flush.t, unit=unit, minor_faults=2)
            t = flush.t
        yield events.Power(t=t, source="simulated", elapsed_ns=SECOND, mw={"cpu": 1000.5, "gpu": None})
        t += int(rng.choice([0, 0, 0, 15])) * SECOND
        turn += 1


def record(
    path: Path,
    told: Sequence[AnyEvent] | Iterator[AnyEvent],
    *,
    why: str = "done",
    opening: events.Header | None = None,
) -> Closed:
    """Write the events as they come, with a tick after each, and close two seconds later."""
    writer = Writer(path, opening or header())
    last = 0
    for event in told:
        writer.write(event)
        writer.tick(event.t)
        last = event.t
    writer.tick(last + SECOND)
    return writer.close(why, last + 2 * SECOND)


def read(path: Path, **options: bool) -> tuple[list[AnyEvent], Report]:
    """All events of a recording, and what was skipped."""
    report = Report()
    file, _ = open_recording(path)
    with file:
        return list(read_events(file, report, **options)), report


def samples_of(found: Sequence[AnyEvent]) -> list[tuple[str, str, int, int]]:
    """(unit, phase, start, latency) of every sample, in order."""
    return [
        (event.unit, event.phase, start, latency)
        for event in found
        if isinstance(event, Samples)
        for start, latency in zip(event.starts_ns().tolist(), event.lat_ns.tolist(), strict=True)
    ]


def is_keyframe(line: bytes) -> bool:
    return line.startswith(b'{"k":"keyframe"')


def edited(lines: list[bytes], edit: Callable[[dict[str, Any]], None], *, checked: bool = True) -> list[bytes]:
    """With every keyframe edited, and a right checksum at its end again if `checked`, none if not."""
    made = []
    for line in lines:
        made.append(line)
        if is_keyframe(line):
            keyframe = json.loads(line)
            edit(keyframe)
            del keyframe["line_crc32"]
            written = json.dumps(keyframe, separators=(",", ":"), ensure_ascii=False).encode()
            made[-1] = (events.with_line_crc32(written) if checked else written) + b"\n"
    return made
