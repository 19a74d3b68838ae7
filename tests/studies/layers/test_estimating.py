"""Whole calls are timed and a plan is read, on a backend that has plans; through the measuring process, too."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.models.cache import ModelCache
from hettop.sources.engine.backend import RealClock
from hettop.studies.layers.job import LayersJob, measure_in_child
from hettop.studies.layers.worker import estimate
from tests.processes.waiting import environment
from tests.sources.engine import answering

MODEL = json.dumps({"plan": "well"})


def job(model: str = MODEL) -> LayersJob:
    return LayersJob(model=model, unit="CPU_AND_NE", warmup=2, runs=5, roofs=False, backend=answering.NAME)


def test_ms_are_shares_of_the_mean_call(tmp_path: Path) -> None:
    backend = answering.AnsweringBackend(RealClock())
    measured = estimate(job(), backend, backend.read_plan, ModelCache(tmp_path / "a", tmp_path / "b"))
    assert (measured.unit, measured.runs, measured.estimated, measured.roofs) == ("CPU_AND_NE", 5, True, None)
    assert measured.end_to_end_ms >= 1.0, "a call sleeps a millisecond"
    assert [(row.name, row.share, row.fallback) for row in measured.layers] == [("b", 0.75, False), ("c", 0.25, True)]
    assert measured.total_ms == pytest.approx(measured.end_to_end_ms)
    assert measured.shapes == ["x 1x4"]


def test_a_model_without_a_plan_is_refused(tmp_path: Path) -> None:
    backend = answering.AnsweringBackend(RealClock())
    with pytest.raises(HettopError, match="has no plan for this model"):
        estimate(job("{}"), backend, backend.read_plan, ModelCache(tmp_path / "a", tmp_path / "b"))


def test_the_measuring_process_estimates_where_it_is_asked_to() -> None:
    measured = measure_in_child(job(), environment=environment())
    assert measured.estimated
    assert [row.op for row in measured.layers] == ["conv", "softmax"]


def test_what_the_log_says_of_where_the_model_may_run_is_noted() -> None:
    noisy = "import os; os.write(2, b'MILCompilerForANE error: refused\\n' + b'more\\n' * 100)"
    argv = (
        sys.executable,
        "-c",
        f"{noisy}; from hettop.studies.layers.worker import LayersJob, measured, serve; serve(measured, LayersJob)",
    )
    measured = measure_in_child(job(), argv=argv, environment=environment())
    assert measured.notes[-1].startswith("the Neural Engine's compiler failed")
    assert measure_in_child(job(), environment=environment()).notes == measured.notes[:-1]


def test_a_plan_that_takes_its_process_down_leaves_the_measurement_and_says_so() -> None:
    with pytest.raises(HettopError) as caught:
        measure_in_child(job(json.dumps({"plan": "abort"})), environment=environment())
    assert caught.value.kind == "plan"
    assert re.fullmatch(
        r"CPU_AND_NE ran the model in [\d.]+ ms, but there is no plan to distribute the time over layers: "
        r"the plan reader killed by SIGABRT",
        caught.value.message,
    )
