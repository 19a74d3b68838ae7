"""Where Core ML would run what, over coremltools' own Python code with a stand-in for what is native."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hettop import events
from hettop.errors import HettopError
from hettop.models.cache import ModelCache
from hettop.models.compiled import CompiledModels
from hettop.sources.engine.backend import LoadOptions, RealClock
from hettop.sources.engine.backends.coreml import CoreMLBackend
from hettop.sources.engine.coreml.availability import Host
from hettop.sources.engine.coreml.framework import read_plan, walk
from hettop.sources.engine.placement import make_plan
from tests.coreml.bench import Bench
from tests.processes.waiting import environment
from tests.sources.engine.sessions import Start

pytest.importorskip("coremltools", reason="coremltools is not installed")

from tests.coreml import models

OLD = Host("darwin", "arm64", "ARM64", (13, 6, 1), (3, 11))


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return models.linear(tmp_path_factory.mktemp("models") / "linear.mlpackage")


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """A Core ML in this process."""
    made = Bench(tmp_path)
    with made.here():
        yield made


@pytest.fixture
def compiled(bench: Bench, package: Path, tmp_path: Path) -> str:
    cache = ModelCache(tmp_path / "cache", tmp_path / "fallback")
    backend = CoreMLBackend(RealClock(), cache, CompiledModels(cache))
    found = backend.load(str(package), "CPU_ONLY", LoadOptions()).compiled
    assert found is not None
    return found


def planned(compiled: str, unit: str) -> events.Plan:
    return make_plan(unit, read_plan(compiled, unit, None))


def test_operations_are_named_without_the_set_they_belong_to(compiled: str) -> None:
    facts = [fact for fact in read_plan(compiled, "CPU_AND_NE", None) if fact.op != "const"]
    assert [(fact.name, fact.op, fact.preferred, fact.supported) for fact in facts] == [
        ("y", "linear", "Neural Engine", ("CPU", "Neural Engine"))
    ]
    assert facts[0].cost == 1.0


def test_each_unit_has_a_plan_of_its_own(bench: Bench, compiled: str) -> None:
    bench.behave("ALL", on_cpu=("linear",))
    found = {unit: planned(compiled, unit) for unit in ("CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL")}
    assert {unit: plan.devices[0].device for unit, plan in found.items()} == {
        "CPU_ONLY": "CPU",
        "CPU_AND_GPU": "GPU",
        "CPU_AND_NE": "Neural Engine",
        "ALL": "CPU",
    }
    assert [op.why for op in found["ALL"].breaks] == ["not supported on the Neural Engine"]


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ("none", "the framework reports no device for any of the 1 operations"),
        ("odd", "the framework reports no device for any of the 1 operations"),
        ("empty", "the compiled model lists no operations"),
        ("program-less", "the compiled model lists no operations"),
    ],
)
def test_odd_plans_become_words(bench: Bench, compiled: str, plan: str, message: str) -> None:
    bench.behave(plan=plan)
    error = planned(compiled, "ALL").error
    assert error is not None
    assert error.message == message


def test_a_package_is_refused_before_core_ml_would_abort(bench: Bench, package: Path) -> None:
    with pytest.raises(HettopError, match="is not compiled") as caught:
        read_plan(str(package), "ALL", None)
    assert caught.value.kind == "plan"


def test_an_old_system_says_what_plans_need() -> None:
    with pytest.raises(HettopError, match=r"compute plans need macOS 14\.4; this is 13\.6\.1"):
        read_plan("model.mlmodelc", "ALL", None, OLD)


def test_a_function_that_is_not_there_is_refused_with_those_that_are(compiled: str) -> None:
    with pytest.raises(HettopError, match="no function 'other'") as caught:
        read_plan(compiled, "ALL", "other")
    assert caught.value.hint == "its functions: main"


# -- structures that no small model has -------------------------------------------------------------------------------


class MLCPUComputeDevice:
    pass


class Planned:
    """A plan in which everything runs on the CPU."""

    usage = SimpleNamespace(preferred_compute_device=MLCPUComputeDevice(), supported_compute_devices=[])

    def get_compute_device_usage_for_mlprogram_operation(self, _op: Any) -> Any:
        return self.usage

    def get_compute_device_usage_for_neuralnetwork_layer(self, _layer: Any) -> Any:
        return self.usage

    def get_estimated_cost_for_mlprogram_operation(self, _op: Any) -> Any:
        return SimpleNamespace(weight=0.5)


def op(name: str, kind: str, *blocks: Any) -> Any:
    return SimpleNamespace(operator_name=kind, outputs=[SimpleNamespace(name=name)], blocks=blocks)


def block(*operations: Any) -> Any:
    return SimpleNamespace(operations=operations)


def structure(**known: Any) -> Any:
    return SimpleNamespace(**{"program": None, "neuralnetwork": None, "pipeline": None, **known})


def program(**functions: Any) -> Any:
    named = {name: SimpleNamespace(block=block) for name, block in functions.items()}
    return structure(program=SimpleNamespace(functions=named))


def named(found: Any, function: str | None = None) -> list[tuple[str, str]]:
    return [(fact.name, fact.op) for fact in walk(Planned(), found, function)]


def test_operations_in_loops_and_conditions_follow_the_one_they_belong_to() -> None:
    branches = block(op("then", "ios17.add")), block(op("else", "ios17.sub", block(op("deep", "ios17.mul"))))
    found = program(main=block(op("choice", "ios17.cond", *branches), op("last", "ios17.relu")))
    assert named(found) == [("choice", "cond"), ("then", "add"), ("else", "sub"), ("deep", "mul"), ("last", "relu")]


def test_the_function_asked_for_is_read_else_main_else_the_first() -> None:
    two = program(other=block(op("a", "relu")), main=block(op("b", "relu")))
    assert named(two, "other") == [("a", "relu")]
    assert named(two) == [("b", "relu")]
    assert named(program(only=block(op("c", "relu")))) == [("c", "relu")]


def test_layers_of_a_neural_network_have_no_cost() -> None:
    layers = [SimpleNamespace(name="dense", type="innerProduct")]
    (fact,) = walk(Planned(), structure(neuralnetwork=SimpleNamespace(layers=layers)), None)
    assert (fact.name, fact.op, fact.preferred, fact.cost) == ("dense", "innerProduct", "CPU", None)


def test_the_models_of_a_pipeline_follow_each_other() -> None:
    models = [("one", program(main=block(op("a", "relu")))), ("two", program(main=block(op("b", "relu"))))]
    assert named(structure(pipeline=SimpleNamespace(sub_models=models))) == [("a", "relu"), ("b", "relu")]


# -- through the engine -----------------------------------------------------------------------------------------------


def test_units_of_core_ml_tell_their_plans_and_how_far_their_answers_are_apart(
    start: Start, package: Path, tmp_path: Path
) -> None:
    bench = Bench(tmp_path).behave("CPU_AND_NE", wrong=True).behave("CPU_ONLY", die_in_plan="SIGABRT")
    units = ("CPU_ONLY", "CPU_AND_NE")
    variables = bench.environment({**environment(), "XDG_CACHE_HOME": str(tmp_path / "cache")})
    session = start(*units, backend="coreml", model=str(package), runs=30, environment=variables)
    session.engine.interleave(units)
    session.until(lambda: session.engine.finished, "30 runs each")
    plans: dict[str, events.Plan] = {}

    def all_known() -> bool:  # a plan that takes long does not hold up the runs
        plans.update({event.unit: event for event in session.events if isinstance(event, events.Plan)})
        return len(plans) == len(units)

    session.until(all_known, "both plans are read")
    (compared,) = [event for event in session.events if isinstance(event, events.Outputs)]
    assert session.engine.failures == {}
    assert plans["CPU_ONLY"].error is not None
    assert "SIGABRT" in plans["CPU_ONLY"].error.message
    assert [each.device for each in plans["CPU_AND_NE"].devices] == ["Neural Engine"]
    assert (compared.unit, compared.inputs, compared.outputs[0].name) == ("CPU_AND_NE", 8, "y")
    assert (compared.outputs[0].max_abs or 0) > 0
