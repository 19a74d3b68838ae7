"""Load on GPU and Neural Engine: a second Core ML model, or the reason why there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from hettop import events
from hettop.compute_units import CORE_ML_UNITS
from hettop.models.cache import default_cache
from hettop.models.resolve import model_package
from hettop.sources.load.parts import parse_load
from hettop.sources.load.source import ProcessLoad, unavailable, why_no_model
from hettop.sources.load.worker import MODEL
from tests.coreml.bench import Bench
from tests.processes.waiting import environment, wait_for
from tests.sources.load.fakes import ListedChanges, ListedGuard

MAC = dict.fromkeys(CORE_ML_UNITS)


def test_it_can_run_where_core_ml_has_the_unit() -> None:
    assert unavailable(parse_load("ane:1+cpu:2+gpu:1"), MAC) is None


def test_it_cannot_where_core_ml_lacks_the_unit_and_says_whose_reason_that_is() -> None:
    intel = {**MAC, "CPU_AND_NE": "an Intel Mac has no Neural Engine"}
    assert unavailable(parse_load("gpu:1"), intel) is None
    why = "ane load: an Intel Mac has no Neural Engine (a second Core ML model)"
    assert unavailable(parse_load("ane:1"), intel) == why
    assert why_no_model("cpu", intel) is None


def loaded(what: str, bench: Bench, folder: Path) -> tuple[list[events.Load], ListedChanges]:
    """What became of that load on the bench: all events up to the one that says."""
    pytest.importorskip("coremltools")
    changes, found = ListedChanges(), list[events.Load]()
    here = {**bench.environment(environment()), "XDG_CACHE_HOME": str(folder), "HOME": str(folder)}
    model_package(MODEL, default_cache(here))  # which children of the bench cannot make
    load = ProcessLoad(ListedGuard(), changes, here, units=MAC)

    def comes_to(*states: str) -> bool:
        found.extend(load.drain(1))
        return found[-1].state in states

    try:
        load.set(parse_load(f"{what}:1"))
        wait_for(lambda: comes_to("confirmed", "failed"), "the load is confirmed or fails")
        wait_for(lambda: comes_to("failed"), "it fails, at the load or at a later call")
    finally:
        load.close()
    return found, changes


@pytest.mark.parametrize(("what", "unit"), [("gpu", "CPU_AND_GPU"), ("ane", "CPU_AND_NE")])
def test_the_worker_runs_the_model_with_that_permission_until_it_dies(what: str, unit: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path).behave(unit, die_in_predict="SIGSEGV", at_call=40)
    found, changes = loaded(what, bench, tmp_path)
    assert changes.seen == [(f"{what}:1", False), (f"{what}:1", True), ("none", True)]
    assert found[-1].error is not None
    assert found[-1].error.message == "1 load worker ended unexpectedly"


def test_a_model_that_cannot_be_loaded_is_a_load_that_fails_with_the_frameworks_reason(tmp_path: Path) -> None:
    bench = (
        Bench(tmp_path)
        .set(makes_models=True)
        .behave("CPU_AND_NE", raise_in_load="no room left on the device", noise=True)
    )
    found, changes = loaded("ane", bench, tmp_path)
    assert changes.seen == [("ane:1", False), ("none", True)]
    assert found[-1].error is not None
    assert found[-1].error.message.startswith("1 load worker ended unexpectedly: ")
    assert "no room left on the device" in found[-1].error.message
