"""The code that loads a model with a unit's configuration: in Swift for an application, in Python for coremltools.

Pure; knows Core ML's names of its units, and not which of them anybody recommends.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from hettop.text import clean

SWIFT_UNITS: Mapping[str, str] = {
    "CPU_ONLY": ".cpuOnly",
    "CPU_AND_GPU": ".cpuAndGPU",
    "CPU_AND_NE": ".cpuAndNeuralEngine",
    "ALL": ".all",
}
"""Cases of `MLComputeUnits`. `.cpuAndNeuralEngine` exists from macOS 13 and iOS 16 on."""


def swift_snippet(unit: str, function: str | None = None) -> str | None:
    """Lines of Swift that configure this unit, and the function of a multifunction model; None for no unit of Core ML.

    `functionName` exists from macOS 15 and iOS 18 on.
    """
    if unit not in SWIFT_UNITS:
        return None
    lines = ["let configuration = MLModelConfiguration()", f"configuration.computeUnits = {SWIFT_UNITS[unit]}"]
    if function is not None:
        lines.append(f"configuration.functionName = {_literal(function)}")
    return "\n".join(lines) + "\n"


def python_snippet(unit: str, function: str | None = None) -> str | None:
    """The same for coremltools, imported as `ct` as its own documentation does; None for no unit of Core ML."""
    if unit not in SWIFT_UNITS:
        return None
    named = "" if function is None else f", function_name={_literal(function)}"
    return f"model = ct.models.MLModel(path, compute_units=ct.ComputeUnit.{unit}{named})\n"


def _literal(text: str) -> str:
    """A string of both languages: with quotes and backslashes escaped, `\\(` begins no interpolation in Swift."""
    return json.dumps(clean(text), ensure_ascii=False)
