"""The code that a verdict ends with."""

from __future__ import annotations

import ast

import pytest

from hettop.compute_units import CORE_ML_UNITS
from hettop.report.swift import SWIFT_UNITS, python_snippet, swift_snippet


def test_the_neural_engine_in_swift() -> None:
    assert swift_snippet("CPU_AND_NE") == (
        "let configuration = MLModelConfiguration()\nconfiguration.computeUnits = .cpuAndNeuralEngine\n"
    )


@pytest.mark.parametrize(
    ("unit", "case"),
    [("CPU_ONLY", ".cpuOnly"), ("CPU_AND_GPU", ".cpuAndGPU"), ("CPU_AND_NE", ".cpuAndNeuralEngine"), ("ALL", ".all")],
)
def test_each_unit_has_its_case_of_the_enumeration(unit: str, case: str) -> None:
    assert f"computeUnits = {case}\n" in str(swift_snippet(unit))
    assert f"compute_units=ct.ComputeUnit.{unit})" in str(python_snippet(unit))


def test_no_unit_of_core_ml_is_left_out() -> None:
    assert tuple(SWIFT_UNITS) == CORE_ML_UNITS


def test_a_function_is_named() -> None:
    assert 'configuration.functionName = "adapter_1"\n' in str(swift_snippet("ALL", "adapter_1"))
    assert str(python_snippet("ALL", "adapter_1")).endswith('ComputeUnit.ALL, function_name="adapter_1")\n')


def test_hints_are_set_one_by_one() -> None:
    hints = {
        "reshapeFrequency": "infrequent",
        "specializationStrategy": "FastPrediction",
        "allowLowPrecisionAccumulationOnGPU": "TRUE",
    }
    assert str(swift_snippet("ALL", hints=hints)).splitlines()[2:] == [
        "configuration.optimizationHints.reshapeFrequency = .infrequent",
        "configuration.optimizationHints.specializationStrategy = .fastPrediction",
        "configuration.allowLowPrecisionAccumulationOnGPU = true",
    ]
    python = str(python_snippet("ALL", "f", hints))
    ast.parse(python)
    assert python.endswith(
        'function_name="f", optimization_hints={"reshapeFrequency": ct.ReshapeFrequency.Infrequent, '
        '"specializationStrategy": ct.SpecializationStrategy.FastPrediction, '
        '"allowLowPrecisionAccumulationOnGPU": True})\n'
    )


def test_what_is_no_hint_is_no_code() -> None:
    for hints in ({"x = 1; exit()": "true"}, {"reshapeFrequency": "sometimes"}, {}):
        assert swift_snippet("ALL", hints=hints) == swift_snippet("ALL")
        assert python_snippet("ALL", hints=hints) == python_snippet("ALL")


def test_a_function_cannot_break_out_of_its_quotes() -> None:
    hostile = '"; exit() \\(x)\n\x1b[31m'
    swift = str(swift_snippet("ALL", hostile))
    assert 'functionName = "\\"; exit() \\\\(x)' in swift
    assert swift.count("\n") == 3
    assert "\x1b" not in swift
    call = ast.parse(str(python_snippet("ALL", '"; exit() \\(x)'))).body
    assert len(call) == 1
    assert isinstance(call[0], ast.Assign)
    assert isinstance(call[0].value, ast.Call)
    assert ast.literal_eval(call[0].value.keywords[1].value) == '"; exit() \\(x)'


@pytest.mark.parametrize("unit", ["CPU_ONLY@2", "TPU", ""])
def test_what_core_ml_has_no_name_for_has_no_code(unit: str) -> None:
    assert swift_snippet(unit) is None
    assert python_snippet(unit) is None
