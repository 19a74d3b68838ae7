"""Co-execution in a real terminal: begun from the command line, watched, ended in each way, and nothing left of it."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import psutil
import pytest

from tests.end_to_end.terminal import Terminal
from tests.processes.waiting import gone, wait_for

pytestmark = pytest.mark.slow

SMALL = "mobilenetv2:32x32"
LIVE = ["coexec", SMALL, "--units", "CPU_ONLY@1,CPU_ONLY@2", "--live", "--power", "none"]


def co_executing(terminal: Terminal) -> list[int]:
    """Once a round has been measured; the pids of hettop and of all it has started."""
    shown = terminal.until("CO-EXECUTING CPU@1 + CPU@2", "by round")
    assert "coexec●" in shown
    assert "together" in shown
    return terminal.family()


def workers(family: list[int]) -> list[int]:
    return [pid for pid in family if psutil.Process(pid).cmdline()[-1:] == ["hettop.studies.coexec.worker"]]


def test_it_runs_until_it_is_ended_and_then_inference_goes_on(tmp_path: Path) -> None:
    with Terminal(tmp_path, [*LIVE, "--record", "r.jsonl"]) as terminal:
        family = co_executing(terminal)
        below = workers(family)
        assert len(below) == 2
        terminal.press("Enter")
        terminal.until("ended by the user", "LIVE", without=["CO-EXECUTING"])
        wait_for(lambda: gone(below), "the workers end")
        terminal.press("y")
        terminal.until("latency ms", "P90")
        terminal.press("q")
        terminal.assert_left(0)
        wait_for(lambda: gone(family), "all processes end")
    lines = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    assert [line.get("mode", "single") for line in lines if line["k"] == "control"][:2] == ["coexec", "single"]
    assert [line["state"] for line in lines if line["k"] == "study"][-1] == "ended"


def test_a_worker_that_is_killed_is_named_and_the_other_goes_on(tmp_path: Path) -> None:
    with Terminal(tmp_path, LIVE) as terminal:
        os.kill(workers(co_executing(terminal))[0], signal.SIGKILL)
        terminal.until("died: the other unit continues", "killed by SIGKILL", "CO-EXECUTING")
        terminal.press("y")
        terminal.until(" left the", "killed by SIGKILL")
        terminal.press("q")
        terminal.assert_left(0)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_asked_to_end_it_leaves_nothing(number: signal.Signals, code: int, tmp_path: Path) -> None:
    with Terminal(tmp_path, LIVE) as terminal:
        family = co_executing(terminal)
        terminal.signal(number)
        terminal.assert_left(code)
        wait_for(lambda: gone(family), "all processes end")


def test_killed_it_leaves_nothing(tmp_path: Path) -> None:
    with Terminal(tmp_path, LIVE) as terminal:
        family = co_executing(terminal)
        terminal.signal(signal.SIGKILL)
        wait_for(lambda: gone(family), "all processes end")


def test_the_simulated_machine_co_executes_too(tmp_path: Path) -> None:
    with Terminal(tmp_path, ["--demo"], width=80, height=24) as terminal:
        terminal.until("LIVE", "SIMULATED")
        terminal.press("y")
        terminal.until("Enter run it")
        terminal.press("Enter")
        shown = terminal.until("CO-EXECUTING CPU + GPU + NE", "by round")
        assert "SIMULATED" in shown
        terminal.press("q", "q")
        terminal.assert_left(0)
