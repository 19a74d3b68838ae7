"""`hettop layers`: time by layer of a model, of a recording, or the work alone, without a measurement."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hettop.analysis.unit_samples import WALL, in_order_of, main_load, measured
from hettop.console.messages import warn_of_damage
from hettop.errors import HettopError
from hettop.measurement.arguments import (
    model_options,
)
from hettop.measurement.recorded import looks_like_recording, read_recording
from hettop.measurement.setup import Setup, prepare
from hettop.models.cache import ModelCache, default_cache
from hettop.models.core_ai import is_core_ai
from hettop.models.resolve import is_core_ml, model_file
from hettop.models.shapes import check_names, choose_shapes
from hettop.models.translated import translated_file
from hettop.processes.cpus import usable_threads
from hettop.report.document import head
from hettop.session.session import Session
from hettop.sources.engine.backends import has_plans
from hettop.sources.engine.names import CORE_AI
from hettop.studies.layers.graph import read_layers
from hettop.studies.layers.job import LayersJob, measure_in_child
from hettop.studies.layers.notes import noted
from hettop.studies.layers.planned import by_event
from hettop.studies.layers.published import Work
from hettop.studies.layers.result import LayersResult
from hettop.studies.output import StudyOutput, model_document, model_title
from hettop.text import clean

BACKEND = "onnxruntime"
PROFILED_BACKENDS = (None, BACKEND)
CORE_AI_UNIT = "COREAI:cpu_only"
"""What is profiled of a Core AI model if no unit is named."""
FOR_MEASURING = ("backend", "function", "shape", "input", "hint", "seed", "runs", "warmup", "record")


def run(arguments: argparse.Namespace) -> int:
    with StudyOutput("layers", arguments) as output:
        if looks_like_recording(arguments.model):
            title, model, result = _of_recording(arguments)
        else:
            setup, result = measure(arguments, output)
            title, model = model_title(setup), model_document(setup)
        result = noted(result)
        document = {**head("layers"), "model": model, **result.document()}
        output.finish(result, lambda: document, result_title(title, result))
    return 0


def _of_recording(arguments: argparse.Namespace) -> tuple[str, dict[str, Any], LayersResult]:
    wrong = next((arguments.given[name] for name in FOR_MEASURING if name in arguments.given), None)
    if wrong is not None:
        raise HettopError("usage", f"{wrong} has no effect on a recording", f"leave out {wrong}")
    return layers_of_recording(Path(arguments.model), arguments.units)


def measure(arguments: argparse.Namespace, output: StudyOutput) -> tuple[Setup, LayersResult]:
    """What the options name, measured with the roofs of this machine. Raises HettopError."""
    backend = _backend(arguments.backend, arguments.model)
    units = CORE_AI_UNIT if backend == CORE_AI and "units" not in arguments.given else arguments.units
    setup = prepare(replace(model_options(arguments), backend=backend), (units,), usable_threads())
    if len(setup.units) != 1:
        raise HettopError("usage", "layers need exactly one unit: --units all", f"use --units {setup.units[0]}")
    job = LayersJob(
        model=arguments.model,
        unit=setup.units[0],
        function=setup.function,
        seed=setup.inputs.seed,
        shapes=dict(setup.inputs.shapes),
        values=dict(setup.inputs.values),
        warmup=arguments.warmup,
        runs=arguments.runs,
        roofs=backend == BACKEND,
        backend=backend,
        hints=dict(setup.hints),
        custom_ops=setup.custom_ops,
    )
    output.begin(setup)
    what = (
        ("profiling layers, then measuring the roofs for three seconds …")
        if job.roofs
        else "timing calls of the whole model …"
    )
    output.progress.show(what)
    return setup, measure_in_child(job)


def _backend(name: str | None, model: str) -> str:
    """One that is profiled, or has plans. Raises HettopError: `usage`."""
    if name == CORE_AI or (name is None and is_core_ai(Path(model))):
        return CORE_AI
    if name in PROFILED_BACKENDS:
        return BACKEND
    if name is not None and has_plans(name):
        return name
    hint = "leave out --backend: Core ML files are translated"
    raise HettopError("usage", f"per-layer times need {BACKEND}; coreml gives an estimate", hint)


def read_work(arguments: argparse.Namespace) -> tuple[Setup, list[Work]]:
    """The work of the layers that have MACs, from the model's file alone: nothing is run. Raises HettopError."""
    setup = prepare(replace(model_options(arguments), backend=BACKEND), (arguments.units,), usable_threads())
    return setup, read_model_work(arguments.model, setup.function, setup.inputs.shapes, default_cache())


def result_title(model: str, result: LayersResult) -> str:
    """The model, the unit and the shapes of its inputs."""
    threads = [f"{result.threads} thread{'' if result.threads == 1 else 's'}"] if result.threads else []
    estimated = ["ESTIMATED"] if result.estimated else []
    return " · ".join([*estimated, model, result.unit, *threads, *result.shapes])


def read_model_work(
    model: str, function: str | None, shapes: Mapping[str, tuple[int, ...]], cache: ModelCache
) -> list[Work]:
    """The layers with MACs, in order; those whose MACs cannot be counted are left out.

    An ML Program is read by its translation. Raises HettopError: `format`, `io`, `input`.
    """
    from hettop.models.inspection.onnx_file import onnx_ports, open_onnx

    path = model_file(model, cache)
    file = translated_file(path, function, cache) if is_core_ml(path) else path
    ports = onnx_ports(open_onnx(file))[0]
    check_names(ports, shapes, "--shape")
    layers, _ = read_layers(file, choose_shapes(ports, shapes, {}))
    return [Work(clean(layer.name), clean(layer.op), layer.macs, layer.moved_bytes) for layer in layers if layer.macs]


def layers_of_recording(path: Path, unit: str) -> tuple[str, dict[str, Any], LayersResult]:
    """The model's title, the model for a document, and the unit's layers by its plan.

    Raises HettopError: `recording` for what cannot be read, `input` for a unit that has no plan or no samples there.
    """
    recorded = read_recording(path)
    warn_of_damage(recorded.report, path)
    session = recorded.session
    plan = session.units[unit].plan if unit in session.units else None
    if plan is None:
        raise HettopError("input", f"{clean(path.name)} has no plan of {clean(unit)}", _hint(session))
    found = [each for each in measured(session, main_load(session), in_order_of(session), WALL) if each.unit == unit]
    if not found:
        raise HettopError(
            "input", f"{clean(path.name)} has no samples of {clean(unit)} to distribute over layers", _hint(session)
        )
    result = by_event(plan, found[0].mean_ms, found[0].n)
    model = session.header.model if session.header is not None else None
    name = model.name if model is not None and model.name else "model"
    title = f"{'SIMULATED · ' if session.simulated else ''}{clean(name)}"
    document = {
        "name": name,
        "sha256": None if model is None else model.sha256,
        "backend": None if model is None else model.backend,
        "note": None if model is None else model.note,
        "simulated": session.simulated,
    }
    return title, document, result


def _hint(session: Session) -> str:
    units = [name for name, unit in session.units.items() if unit.plan is not None and unit.plan.error is None]
    return f"it has plans of {', '.join(units)}" if units else "plans come from Core ML on macOS 14.4 or later"
