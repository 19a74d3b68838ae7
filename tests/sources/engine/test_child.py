"""What the processes of one engine are told: all the same, but what is a variant's own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from hettop.processes.pipe_reader import PipeReader
from hettop.processes.reaper import Reaper
from hettop.sources.engine.child import Changes, Child, Starter
from hettop.sources.engine.job import EngineJob, Limits
from tests.processes.waiting import wait_for

JOB = EngineJob(backend="simulated", model="a", unit="", rate_hz=50.0, input_sets=4)
VARIANTS: dict[str, Changes] = {"closed": lambda _: {"rate_hz": None}, "b": lambda _: {"model": "b.onnx"}}
ECHO = "import sys; open(sys.argv[1], 'w').write(sys.stdin.readline())"


def told(folder: Path, row: str, *, recycled: bool = False) -> tuple[str, dict[str, object]]:
    """The row of the child that was started for `row`, and the job that it was given."""
    file, reader, reaper = folder / f"{row}-{recycled}", PipeReader(), Reaper()
    argv = (sys.executable, "-c", ECHO, str(file))
    starter = Starter(JOB, argv=argv, environment=None, reader=reader, guard=reaper, variants=VARIANTS)
    child: Child = starter.inference(row, Limits(runs=3), condition="none", run=True, recycled=recycled)
    try:
        wait_for(lambda: file.exists() and file.read_text().endswith("\n"), "it has its job")
    finally:
        child.kill()
        wait_for(lambda: child.collect(0) is not None, "it is collected")
        reader.close()
        reaper.close()
    job: dict[str, object] = json.loads(file.read_text())
    return child.unit, job


def test_a_unit_gets_the_job_of_all_with_its_own_name(tmp_path: Path) -> None:
    row, job = told(tmp_path, "CPU_ONLY@2")
    assert row == "CPU_ONLY@2"
    assert (job["unit"], job["model"], job["rate_hz"], job["input_sets"]) == ("CPU_ONLY@2", "a", 50.0, 4)


def test_a_variant_runs_on_the_same_unit_and_differs_in_what_it_is_for(tmp_path: Path) -> None:
    row, job = told(tmp_path, "CPU_ONLY@2~closed")
    assert row == "CPU_ONLY@2~closed"
    assert (job["unit"], job["model"], job["rate_hz"]) == ("CPU_ONLY@2", "a", None)
    row, job = told(tmp_path, "ALL~b")
    assert (row, job["unit"], job["model"], job["rate_hz"]) == ("ALL~b", "ALL", "b.onnx", 50.0)


def test_only_units_themselves_are_asked_for_their_answers(tmp_path: Path) -> None:
    assert told(tmp_path, "ALL~b")[1]["input_sets"] == 0
    assert told(tmp_path, "ALL", recycled=True)[1]["input_sets"] == 0


def test_a_paced_row_takes_up_its_period_and_a_closed_loop_only_what_it_needs() -> None:
    starter = Starter(JOB, argv=(), environment=None, reader=None, guard=None, variants=VARIANTS)  # type: ignore[arg-type]
    assert starter.period_ns("CPU_ONLY") == 20_000_000
    assert starter.period_ns("CPU_ONLY~b") == 20_000_000
    assert starter.period_ns("CPU_ONLY~closed") == 0
