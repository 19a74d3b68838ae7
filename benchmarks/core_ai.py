"""Core AI's hazards, many times over: engine processes started and stopped, and copies of models left behind."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.plan import Plan
from benchmarks.rows import SECONDS, Row, Unit, for_comparison, worst_at_most
from hettop.events import Samples
from hettop.processes.reaper import Reaper
from hettop.sources.engine.job import EngineJob, Limits
from hettop.sources.engine.supervisor import Engine

CYCLES = 200
CALLS = 5
UNIT = "COREAI:default"
COUNT = Unit("", decimals=0)
PATIENCE_S = 60.0


def measure(plan: Plan) -> Iterator[Row]:
    """Rows for the cycles that did not end cleanly, and for what was left; none without coreai-core."""
    from tests.sources.engine.backends.aimodels import HAS_WHEEL, authored

    if not HAS_WHEEL:
        plan.say("core_ai: coreai-core is not installed")
        return
    model, temporary = authored(plan.folder / "m.aimodel"), plan.folder / "core-ai-tmp"
    temporary.mkdir()
    failures, took = [], []
    for _ in range(plan.either(CYCLES, 10)):
        begin = time.monotonic()
        failures.append(0.0 if _cycle(model, temporary) else 1.0)
        took.append(time.monotonic() - begin)
    yield worst_at_most(f"Core AI: {len(took)} starts and stops, that failed", 0, [sum(failures)], COUNT)
    left = float(len(list(temporary.iterdir())))
    yield worst_at_most("Core AI: copies of models left behind", 0, [left], COUNT)
    yield for_comparison("Core AI: start, five calls, stop", took, SECONDS)


def _cycle(model: str, temporary: Path) -> bool:
    """Whether a process started, measured and stopped."""
    reaper, end = Reaper(), time.monotonic() + PATIENCE_S
    job = EngineJob(backend="coreai", model=model, warmup=2, limits=Limits(runs=CALLS))
    engine = Engine(job, (UNIT,), guard=reaper, origin_ns=0, environment={**os.environ, "TMPDIR": str(temporary)})
    steady = 0
    try:
        engine.switch(UNIT)
        while steady < CALLS and engine.states.get(UNIT) != "failed" and time.monotonic() < end:
            received = [event for event in engine.drain(0) if isinstance(event, Samples)]
            steady += sum(event.n for event in received if event.phase == "steady")
            time.sleep(0.005)
    finally:
        engine.close()
        engine.drain(0)
        reaper.close()
    return steady >= CALLS and engine.states.get(UNIT) == "stopped"
