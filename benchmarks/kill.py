"""What a kill -9 costs: of hettop while it records, and of the writer alone, at many more moments.

Seconds at the end of the recording, what is harmed before them, and processes left over.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from benchmarks import models
from benchmarks.plan import ROOT, Plan, child
from benchmarks.recordings import samples_of, windows_of
from benchmarks.rows import SECONDS, Row, Unit, worst_at_most
from benchmarks.terminal import Terminal

LOST_LIMIT_S = 1.0
ORPHANS_AFTER_S = 3.0
REPEATS = 10
UNIT = "CPU_ONLY@1"
RUNS_BEFORE_S = (3.0, 6.0)  # at any moment of a recording, which has lines of up to a second
PROCESSES = Unit("", decimals=0)
WRITERS = 300
SEED = 1


def measure(plan: Plan) -> Iterator[Row]:
    """Rows for the seconds lost and for the orphans, the worst of all repeats."""
    model = models.sub_millisecond(plan.folder)
    rng = random.Random(1)
    found = [_kill(plan, model, index, rng.uniform(*RUNS_BEFORE_S)) for index in range(plan.either(REPEATS, 2))]
    lost, orphans = [seconds for seconds, _ in found], [float(left) for _, left in found]
    yield worst_at_most("kill -9 while recording: samples lost at the end, worst", LOST_LIMIT_S, lost, SECONDS)
    ages = [age for index in range(len(found)) for age in _ages_at_commit(_recording(plan, index))]
    yield worst_at_most("kill -9 at the worst moment: age of a sample not yet written", LOST_LIMIT_S, ages, SECONDS)
    yield worst_at_most("kill -9: processes left after 3 s, worst", 0, orphans, PROCESSES)
    yield from _kill_writers(plan, plan.either(WRITERS, 20))


def _kill_writers(plan: Plan, kills: int) -> Iterator[Row]:
    """Of writers that are busy all the time: their stream runs faster than time does."""
    argv = [sys.executable, "-m", "tests.record.killed", str(plan.folder), str(kills), str(SEED)]
    run = subprocess.run(argv, cwd=ROOT, capture_output=True, check=True, text=True)
    costs = [json.loads(line) for line in run.stdout.splitlines()]
    lost = [float(each["lost_s"]) for each in costs]
    yield worst_at_most("kill -9 of the writer alone: stream lost at the end, worst", LOST_LIMIT_S, lost, SECONDS)
    for each in costs:
        if each["harmed"]:
            plan.say(f"harmed: {each}")
    harmed = [float(len(each["harmed"])) for each in costs]
    yield worst_at_most("kill -9 of the writer alone: recordings harmed before that", 0, harmed, PROCESSES)


def _recording(plan: Plan, index: int) -> Path:
    return plan.folder / f"killed-{index}.jsonl"


def _ages_at_commit(recording: Path) -> list[float]:
    """How old the oldest sample of each window was when it was written: what a kill just before would have cost.

    Without what was written first: it waited for the screen to start.
    """
    steady = [window for window in windows_of(recording) if window.phase == "steady"]
    return [(window.t - window.t0) / 1e9 for window in steady if window.t0 > steady[0].t]


def _kill(plan: Plan, model: Path, index: int, after_s: float) -> tuple[float, int]:
    """Seconds between the kill and the end of the last sample in the file, and orphans 3 s later."""
    recording, origin = _recording(plan, index), plan.folder / f"origin-{index}"
    with Terminal(child("live_noting_origin", str(model), UNIT, str(recording), str(origin))) as terminal:
        terminal.await_text(rb"P50\s*\d", 30)
        time.sleep(after_s)
        family = psutil.Process(terminal.process.pid).children(recursive=True)
        killed = time.monotonic_ns()
        os.kill(terminal.process.pid, signal.SIGKILL)
        terminal.process.wait()
        time.sleep(ORPHANS_AFTER_S)
        orphans = sum(process.is_running() and process.status() != psutil.STATUS_ZOMBIE for process in family)
    starts, latencies = samples_of(recording)
    last_end = int(starts[-1] + latencies[-1]) + int(origin.read_text(encoding="utf-8"))
    return (killed - last_end) / 1e9, orphans
