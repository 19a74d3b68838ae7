"""Plans are wanted, waited for and given up, with a stand-in for the process that reads one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hettop import events
from hettop.errors import HettopError
from hettop.processes.reaper import Reaper
from hettop.sources.engine.backends import has_plans, plan_reader
from hettop.sources.engine.plan_child import PlanJob
from hettop.sources.engine.planning import HOLD_NS, PLANNER, PlanCall, Planning, separate_reader, start_planner
from hettop.units import NS_PER_S
from tests.processes.waiting import environment, gone, wait_for
from tests.processes.workers import running
from tests.sources.engine.answering import NAME as ANSWERING
from tests.sources.engine.faulty import NAME as FAULTY


def job(unit: str, compiled: str = '{"plan": "well"}', backend: str = ANSWERING) -> PlanJob:
    return PlanJob(backend=backend, compiled=compiled, unit=unit)


class Started:
    """Starts a Python program in place of the process that reads a plan."""

    def __init__(self, reaper: Reaper, program: str = "") -> None:
        self.jobs: list[str] = []
        self.calls: list[PlanCall] = []
        self._reaper = reaper
        self._argv = running(program) if program else PLANNER

    def __call__(self, wanted: PlanJob) -> PlanCall:
        self.jobs.append(wanted.unit)
        self.calls.append(start_planner(wanted, environment(), self._reaper, self._argv))
        return self.calls[-1]


def until_told(planning: Planning, n: int = 1) -> list[events.Plan]:
    told: list[events.Plan] = []

    def look() -> bool:
        planning.step(1, quiet=True)
        told.extend(planning.drain())
        return len(told) >= n

    wait_for(look, f"{n} plans")
    return told


def test_plans_are_read_one_after_another_each_once(reaper: Reaper) -> None:
    start = Started(reaper)
    planning = Planning(start, 60)
    for unit in ("ALL", "CPU_AND_NE", "ALL"):
        planning.want(job(unit))
    planning.step(1, quiet=True)
    assert start.jobs == ["ALL"]
    told = until_told(planning, 2)
    assert [plan.unit for plan in told] == start.jobs == ["ALL", "CPU_AND_NE"]
    assert [plan.ops for plan in told] == [2, 2]
    planning.close()


def test_nothing_is_begun_while_a_unit_is_measured(reaper: Reaper) -> None:
    start = Started(reaper)
    planning = Planning(start, 60)
    planning.want(job("ALL"))
    planning.step(10 * NS_PER_S, quiet=False)
    assert start.jobs == []
    assert (planning.holds("ALL"), planning.holds("CPU_ONLY"), planning.knows("ALL")) == (True, False, True)
    planning.close()


def test_whatever_is_to_run_is_held_for_a_while(reaper: Reaper) -> None:
    planning = Planning(Started(reaper, "import time; time.sleep(3600)"), 60)
    planning.want(job("ALL"))
    planning.step(1, quiet=True)
    planning.step(HOLD_NS - 1, quiet=True)
    assert (planning.holds("ALL"), planning.holds("CPU_ONLY")) == (True, True)
    planning.step(1, quiet=True)
    assert (planning.holds("ALL"), planning.holds("CPU_ONLY")) == (False, False)
    planning.close()


def test_one_that_takes_too_long_is_killed_and_the_next_begun(reaper: Reaper) -> None:
    start = Started(reaper, "import time; time.sleep(3600)")
    planning = Planning(start, 60)
    planning.want(job("ALL"))
    planning.want(job("CPU_AND_NE"))
    planning.step(1, quiet=True)
    planning.step(61 * NS_PER_S, quiet=True)
    (told,) = planning.drain()
    assert told.error is not None
    assert (told.unit, told.error.kind) == ("ALL", "timeout")
    assert start.jobs == ["ALL", "CPU_AND_NE"]
    planning.close()
    assert gone([call.process.pid for call in start.calls])


def test_a_process_that_speaks_nonsense_has_no_plan(reaper: Reaper) -> None:
    planning = Planning(Started(reaper, "print('hello there')"), 60)
    planning.want(job("ALL"))
    (told,) = until_told(planning)
    assert told.error is not None
    assert (told.unit, told.error.kind) == ("ALL", "crashed")


def test_a_program_that_cannot_be_started_is_told() -> None:
    def fail(_job: PlanJob) -> PlanCall:
        raise HettopError("crashed", "no plan reader cannot start an engine process: no python")

    planning = Planning(fail, 60)
    planning.want(job("ALL"))
    planning.step(1, quiet=True)
    (told,) = planning.drain()
    assert told.error is not None
    assert told.error.message == "no plan reader cannot start an engine process: no python"
    assert not planning.holds("ALL")


def test_what_is_running_is_gone_once_it_is_closed(reaper: Reaper) -> None:
    start = Started(reaper, "import time; time.sleep(3600)")
    planning = Planning(start, 60)
    planning.want(job("ALL"))
    planning.step(1, quiet=True)
    open_before = len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").exists() else 0
    planning.close()
    assert gone([start.calls[0].process.pid])
    if open_before:
        assert len(list(Path("/proc/self/fd").iterdir())) < open_before


HETTOP_LIKE = f"""
import os, sys, time
from hettop.sources.engine.plan_child import PlanJob
from hettop.sources.engine.planning import start_planner
from hettop.processes.reaper import Reaper
reaper = Reaper()
job = PlanJob(backend={ANSWERING!r}, compiled='{{"plan": "hang"}}', unit="ALL")
call = start_planner(job, dict(os.environ), reaper)
print(reaper.pid, call.process.pid, flush=True)
time.sleep(3600)
"""


def test_one_that_hangs_does_not_outlive_a_hettop_that_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HETTOP_LIKE], stdout=subprocess.PIPE, env=environment(), text=True
    ) as hettop:
        assert hettop.stdout is not None
        pids = [int(word) for word in hettop.stdout.readline().split()]
        assert len(pids) == 2
        assert not gone(pids)
        hettop.kill()
        wait_for(lambda: gone(pids), "the process and the reaper end")


def test_an_error_of_the_reader_is_told_as_it_says(reaper: Reaper) -> None:
    planning = Planning(Started(reaper), 60)
    planning.want(job("ALL", "model.mlpackage", "coreml"))
    (told,) = until_told(planning)
    assert told.error is not None
    assert told.error.kind in {"plan", "missing"}


def test_backends_say_whether_they_have_plans() -> None:
    assert {
        name: has_plans(name) for name in ("coreml", "onnxruntime", "simulated", ANSWERING, FAULTY, "no.such:One")
    } == {
        "coreml": True,
        "onnxruntime": False,
        "simulated": False,
        ANSWERING: True,
        FAULTY: False,
        "no.such:One": False,
    }
    with pytest.raises(HettopError, match="has no plans"):
        plan_reader("simulated")


# -- every operation of a plan ------------------------------------------------------------------------------------


def facts(plan: str) -> list[tuple[str, str, float | None]]:
    read = separate_reader(ANSWERING)
    return [(fact.name, fact.op, fact.cost) for fact in read(f'{{"plan": "{plan}"}}', "ALL", "gelu")]


@pytest.mark.parametrize("plan", ["well", "noisily"])
def test_operations_are_read_in_another_process_as_they_would_be_in_this_one(plan: str) -> None:
    assert facts(plan) == [("a", "const", None), ("b", "conv", 0.75), ("c", "gelu", 0.25)]


@pytest.mark.parametrize(
    ("plan", "kind", "words"),
    [
        ("abort", "crashed", "the plan reader killed by SIGABRT"),
        ("vanish", "crashed", "the plan reader killed by SIGKILL"),
        ("run_out_of_time", "timeout", "the plan reader killed by SIGALRM: its time limit was over"),
        ("refuse", "plan", "ValueError: odd"),
    ],
)
def test_a_reader_that_is_lost_or_fails_is_an_error_and_no_more(plan: str, kind: str, words: str) -> None:
    with pytest.raises(HettopError) as caught:
        facts(plan)
    assert (caught.value.kind, caught.value.message) == (kind, words)


def test_a_backend_without_plans_has_no_reader_either() -> None:
    with pytest.raises(HettopError, match="has no plans"):
        separate_reader("simulated")
