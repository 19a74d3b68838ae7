"""The code that loads a model with a unit's configuration: in Swift for an application, in Python for coremltools.

Pure; knows Core ML's names of its units, and not which of them anybody recommends.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hettop.text import clean

SWIFT_UNITS: Mapping[str, str] = {
    "CPU_ONLY": ".cpuOnly",
    "CPU_AND_GPU": ".cpuAndGPU",
    "CPU_AND_NE": ".cpuAndNeuralEngine",
    "ALL": ".all",
}
"""Cases of `MLComputeUnits`. `.cpuAndNeuralEngine` exists from macOS 13 and iOS 16 on."""


@dataclass(frozen=True, slots=True)
class _Hint:
    """How an optimisation hint is written: in Swift from `property` on, for coremltools as the value for its name."""

    property: str
    swift: str
    python: str


_HINTS: Mapping[tuple[str, str], _Hint] = {
    ("allowLowPrecisionAccumulationOnGPU", "true"): _Hint("", "true", "True"),
    ("allowLowPrecisionAccumulationOnGPU", "false"): _Hint("", "false", "False"),
    **{
        (name, value.lower()): _Hint("optimizationHints.", f".{value[0].lower()}{value[1:]}", f"ct.{kind}.{value}")
        for name, kind, values in (
            ("reshapeFrequency", "ReshapeFrequency", ("Frequent", "Infrequent")),
            ("specializationStrategy", "SpecializationStrategy", ("Default", "FastPrediction")),
        )
        for value in values
    },
}
"""By name and value, whose case does not matter. `optimizationHints` exists from macOS 15 and iOS 18 on."""

_NO_HINTS: Mapping[str, str] = {}


def swift_snippet(unit: str, function: str | None = None, hints: Mapping[str, str] = _NO_HINTS) -> str | None:
    """Lines of Swift that configure this unit, and the function of a multifunction model; None for no unit of Core ML.

    hints: optimisation hints as coremltools names them and their values; what is none of them is left out.
    `functionName` exists from macOS 15 and iOS 18 on.
    """
    if unit not in SWIFT_UNITS:
        return None
    lines = ["let configuration = MLModelConfiguration()", f"configuration.computeUnits = {SWIFT_UNITS[unit]}"]
    if function is not None:
        lines.append(f"configuration.functionName = {_literal(function)}")
    lines += [f"configuration.{hint.property}{name} = {hint.swift}" for name, hint in _known(hints)]
    return "\n".join(lines) + "\n"


def python_snippet(unit: str, function: str | None = None, hints: Mapping[str, str] = _NO_HINTS) -> str | None:
    """The same for coremltools, imported as `ct` as its own documentation does; None for no unit of Core ML."""
    if unit not in SWIFT_UNITS:
        return None
    named = "" if function is None else f", function_name={_literal(function)}"
    pairs = ", ".join(f'"{name}": {hint.python}' for name, hint in _known(hints))
    hinted = f", optimization_hints={{{pairs}}}" if pairs else ""
    return f"model = ct.models.MLModel(path, compute_units=ct.ComputeUnit.{unit}{named}{hinted})\n"


def _known(hints: Mapping[str, str]) -> Iterator[tuple[str, _Hint]]:
    for name, value in hints.items():
        if hint := _HINTS.get((name, value.lower())):
            yield name, hint


def _literal(text: str) -> str:
    """A string of both languages: with quotes and backslashes escaped, `\\(` begins no interpolation in Swift."""
    return json.dumps(clean(text), ensure_ascii=False)
