"""The bench is what tests need it to be: there in every process, unknown to hettop, and as bad as the real one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.coreml.bench import Bench
from tests.processes.waiting import PACKAGE, environment

pytest.importorskip("coremltools", reason="coremltools is not installed")

REPOSITORY = Path(__file__).resolve().parents[2]
PROLOGUE = """
import logging, sys
logging.getLogger("coremltools").addHandler(logging.NullHandler())
import coremltools as ct, numpy as np
from coremltools.models.compute_plan import MLComputePlan
package, compiled = sys.argv[1:]
"""


def ran(bench: Bench, program: str, *arguments: Path | str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-c", PROLOGUE + program, *map(str, arguments)]
    return subprocess.run(
        argv, env=bench.environment(environment()), capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture
def compiled(bench: Bench, package: Path, tmp_path: Path) -> Path:
    from coremltools.models.utils import compile_model

    with bench.here():
        return Path(compile_model(str(package), str(tmp_path / "linear.mlmodelc")))


def test_nothing_of_hettop_knows_it() -> None:
    sources = [path.read_text(encoding="utf-8").lower() for path in PACKAGE.rglob("*.py")]
    assert not any("standin_coreml" in source or "tests.coreml" in source for source in sources)


def test_it_leaves_this_process_as_it_was(bench: Bench) -> None:
    from coremltools.models import model, utils

    before = (model._MLModelProxy, model._is_macos, utils._macos_version, list(sys.meta_path))
    with bench.here():
        assert model._is_macos()
        assert model._macos_version() == (15, 0)
        assert model._MLModelProxy is not before[0]
    assert (model._MLModelProxy, model._is_macos, utils._macos_version, list(sys.meta_path)) == before


def test_coremltools_asks_sw_vers_which_macos_this_is(bench: Bench, package: Path) -> None:
    bench.set(macos=(26, 0, 1))
    done = ran(bench, "print(ct.models.utils._macos_version())", package, "")
    assert done.stdout.splitlines() == ["(26, 0, 1)"], done.stderr
    assert bench.sw_vers_calls == ["-productVersion"]


def test_coremltools_own_models_predict_in_a_new_process(bench: Bench, package: Path, compiled: Path) -> None:
    program = """
given = {"x": np.ones((1, 4), np.float32)}
model = ct.models.MLModel(package, compute_units=ct.ComputeUnit.CPU_ONLY)
print(model.predict(given)["y"].tolist(), model.last_predict_duration_in_nano_seconds > 0)
print(ct.models.CompiledMLModel(compiled).predict(given)["y"].tolist())
"""
    done = ran(bench, program, package, compiled)
    # The rows of 0..11 less 5, summed.
    assert done.stdout.splitlines() == ["[[-14.0, 2.0, 18.0]] True", "[[-14.0, 2.0, 18.0]]"], done.stderr


def test_a_process_that_makes_no_models_has_coremltools_own_models_and_blanks_for_the_rest(
    bench: Bench, package: Path
) -> None:
    program = """
blank = {name for name, module in sys.modules.items() if not hasattr(module, "__file__")}
print(sorted({".".join(name.split(".")[:2]) for name in blank if name.startswith("coremltools.")}))
ct.convert(None)
"""
    done = ran(bench, program, package, "")
    assert done.stdout.splitlines() == [
        "['coremltools.converters', 'coremltools.libcoremlpython', 'coremltools.optimize']"
    ]
    assert done.stderr.splitlines()[-1] == (
        "RuntimeError: coremltools.converters.convert is blank: this process needs Bench.set(makes_models=True)"
    )


def test_an_input_freed_too_early_is_a_fault(bench: Bench, package: Path, compiled: Path) -> None:
    bench.behave(needs_inputs=30.0)
    program = 'ct.models.CompiledMLModel(compiled).predict({"x": np.ones((1, 4), np.float32)})'
    assert ran(bench, program, package, compiled).returncode == -signal.SIGSEGV


def test_a_plan_of_an_uncompiled_package_aborts_the_process(bench: Bench, package: Path, compiled: Path) -> None:
    assert ran(bench, "MLComputePlan.load_from_path(package)", package, compiled).returncode == -signal.SIGABRT


def plans(bench: Bench, package: Path, compiled: Path, *units: str) -> Any:
    """For each unit, the classes of preferred devices and the costs of the operations that have them, by operation."""
    program = f"""
import json
found = {{}}
for unit in {units}:
    plan = MLComputePlan.load_from_path(compiled, ct.ComputeUnit[unit])
    found[unit] = {{}}
    for name, function in plan.model_structure.program.functions.items():
        for operation in function.block.operations:
            usage = plan.get_compute_device_usage_for_mlprogram_operation(operation)
            cost = plan.get_estimated_cost_for_mlprogram_operation(operation)
            if usage is not None:
                found[unit][operation.operator_name] = (type(usage.preferred_compute_device).__name__, cost.weight)
print(json.dumps(found))
"""
    done = ran(bench, program, package, compiled)
    return json.loads(done.stdout or done.stderr)


def test_plans_follow_the_unit_and_what_falls_back(bench: Bench, package: Path, compiled: Path) -> None:
    neural_engine, cpu = ["MLNeuralEngineComputeDevice", 1.0], ["MLCPUComputeDevice", 1.0]
    assert plans(bench, package, compiled, "CPU_AND_NE", "CPU_ONLY") == {
        "CPU_AND_NE": {"ios18.linear": neural_engine},
        "CPU_ONLY": {"ios18.linear": cpu},
    }
    bench.behave("CPU_AND_NE", on_cpu=("linear",)).behave("CPU_ONLY", plan="none").behave("ALL", plan="empty")
    assert plans(bench, package, compiled, "CPU_AND_NE", "CPU_ONLY", "ALL") == {
        "CPU_AND_NE": {"ios18.linear": cpu},
        "CPU_ONLY": {},
        "ALL": {},
    }


def test_importing_coremltools_as_hettop_does_prints_nothing_where_its_native_part_is_missing() -> None:
    program = "from hettop.sources.engine.coreml.framework import Framework; Framework()"
    argv, environment = [sys.executable, "-c", program], {"PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("", "")
