"""Engine processes that run Core AI: started, asked, stopped and killed again and again, nothing left behind."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import numpy as np

from hettop import events
from tests.processes.waiting import environment, gone, wait_for
from tests.sources.engine.backends.aimodels import authored, files, needs_wheel
from tests.sources.engine.sessions import Start

UNIT = "COREAI:default"
CYCLES = 10


@needs_wheel
def test_ten_starts_and_stops_end_cleanly_and_leave_no_copy(start: Start, tmp_path: Path) -> None:
    model, temporary = authored(tmp_path / "m.aimodel"), tmp_path / "tmp"
    temporary.mkdir()
    for _ in range(CYCLES):
        own = {**environment(), "TMPDIR": str(temporary)}
        session = start(UNIT, model=model, backend="coreai", environment=own, runs=5, input_sets=2)
        session.engine.switch(UNIT)
        session.until_steady(UNIT, 5)
        session.engine.close()
        session.drain()
        assert session.states(UNIT)[-1] == "stopped"
        assert list(temporary.iterdir()) == []


@needs_wheel
def test_half_precision_on_one_unit_is_compared_with_cpu_only(start: Start, tmp_path: Path) -> None:
    model = authored(tmp_path / "m.aimodel", np.float16)
    session = start(UNIT, "COREAI:cpu_only", model=model, backend="coreai", runs=5)
    for unit in (UNIT, "COREAI:cpu_only"):
        session.engine.switch(unit)
        session.until_steady(unit, 5)
    outputs = [event for event in session.events if isinstance(event, events.Outputs)]
    assert [(each.unit, each.reference, each.error) for each in outputs][-1:] == [(UNIT, "COREAI:cpu_only", None)]


@needs_wheel
def test_a_killed_engine_process_leaves_nothing(start: Start, tmp_path: Path) -> None:
    model, temporary = authored(tmp_path / "m.aimodel"), tmp_path / "tmp"
    temporary.mkdir()
    session = start(UNIT, model=model, backend="coreai", environment={**environment(), "TMPDIR": str(temporary)})
    session.engine.switch(UNIT)
    session.until_steady(UNIT, 5)
    pid = session.pid(UNIT)
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: gone({pid}), "it is gone")
    assert list(temporary.iterdir()) == []


@needs_wheel
def test_a_program_that_ends_the_process_is_the_failure_of_its_unit(start: Start, tmp_path: Path) -> None:
    session = start(UNIT, model=files(tmp_path / "m.aimodel"), backend="coreai")
    session.engine.switch(UNIT)
    session.until_state(UNIT, "failed")
    failed = next(e for e in session.events if isinstance(e, events.Engine) and e.state == "failed")
    assert failed.error is not None
    assert failed.error.kind == "crashed"
    assert "SIGABRT" in failed.error.message
