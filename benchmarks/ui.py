"""What the screen costs: processor time and memory of its process at 2,000 samples a second, and over 10^8 samples."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from benchmarks import models
from benchmarks.plan import ROOT, Plan, child, hettop
from benchmarks.recordings import windows_of
from benchmarks.rows import MB, PERCENT, Row, Unit, at_most, for_comparison, worst_at_most
from benchmarks.terminal import Terminal

RATE = 2_000
SHARE_LIMITS = {4: 0.05, 10: 0.10}
MEMORY_LIMIT = 120e6
GROWTH_LIMIT = 5e6
FILLED_S = 35  # the trailing window of 30 s is full: redraws cost most from here on
MEASURED_S = 10
REPEATS = 5
FOLDED = 100_000_000
PER_SECOND = Unit(" samples/s", decimals=0)


def measure(plan: Plan) -> Iterator[Row]:
    """Rows for 4 and 10 redraws a second, for recording meanwhile, for memory, and for its growth."""
    memory = []
    for fps, limit in SHARE_LIMITS.items():
        shares, resident = _watch(plan, fps, ())
        memory.append(float(resident))
        yield at_most(f"ui: share of one core at {RATE:,} samples/s, {fps} fps", limit, shares, PERCENT)
    recording = plan.folder / "ui.jsonl"
    shares, resident = _watch(plan, 4, ("--record", str(recording)))
    memory.append(float(resident))
    yield for_comparison("ui: the same at 4 fps while recording", shares, PERCENT)
    yield for_comparison("ui: samples that really came", [_rate(recording)], PER_SECOND)
    yield worst_at_most("ui: resident memory of its process, largest", MEMORY_LIMIT, memory, MB)
    yield from _growth(plan)


def _watch(plan: Plan, fps: int, options: tuple[str, ...]) -> tuple[list[float], int]:
    """Shares of one core that the screen's process takes, the engine's left out; and its resident bytes."""
    model = models.tiny(plan.folder)
    argv = hettop(str(model), "--unit", "CPU_ONLY@1", "--rate", str(RATE), "--fps", str(fps), *options)
    with Terminal(argv) as terminal:
        terminal.await_text(rb"P50\s*\d", 30)
        process = psutil.Process(terminal.process.pid)
        time.sleep(plan.either(FILLED_S, 3))
        shares = [_share(process, plan.either(MEASURED_S, 2)) for _ in range(plan.either(REPEATS, 2))]
        resident = process.memory_info().rss
        terminal.quit()
    return shares, resident


def _share(process: psutil.Process, seconds: float) -> float:
    before, begin = process.cpu_times(), time.monotonic()
    time.sleep(seconds)
    after, end = process.cpu_times(), time.monotonic()
    used: float = after.user + after.system - before.user - before.system
    return used / (end - begin)


def _rate(recording: Path) -> float:
    windows = [window for window in windows_of(recording) if window.phase == "steady"]
    return sum(window.n for window in windows) / (windows[-1].t - windows[0].t0) * 1e9


def _growth(plan: Plan) -> Iterator[Row]:
    """Resident memory after so many samples less that after the first million."""
    folded = plan.either(FOLDED, FOLDED // 20)
    run = subprocess.run(child("flat_memory", str(folded)), cwd=ROOT, capture_output=True, check=True, text=True)
    growth = json.loads(run.stdout)
    what = f"ui: growth of a session with its views, from 10^6 to {folded:,} samples"
    yield at_most(what, GROWTH_LIMIT, [float(growth["bytes"])], MB)
