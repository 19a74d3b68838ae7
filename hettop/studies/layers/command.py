"""`hettop layers`: how long each layer of a model takes, and what limits it."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

from hettop.errors import HettopError
from hettop.measurement.arguments import (
    model_options,
)
from hettop.measurement.recorded import looks_like_recording
from hettop.measurement.setup import Setup, prepare
from hettop.models.cache import default_cache
from hettop.sources.engine.backends import has_plans
from hettop.studies.layers.job import LayersJob, measure_in_child
from hettop.studies.layers.notes import noted
from hettop.studies.layers.published import Work
from hettop.studies.layers.recorded import layers_of_recording
from hettop.studies.layers.result import LayersResult
from hettop.studies.layers.work import read_model_work
from hettop.studies.output import StudyOutput, model_document, model_title
from hettop.version import __version__

BACKEND = "onnxruntime"
PROFILED_BACKENDS = (None, BACKEND)


def run(arguments: argparse.Namespace) -> int:
    with StudyOutput("layers", arguments) as output:
        if looks_like_recording(arguments.model):
            title, model, result = _of_recording(arguments)
        else:
            setup, result = measure(arguments, output)
            title, model = model_title(setup), model_document(setup)
        result = noted(result)
        document = {"hettop": __version__, "model": model, **result.document()}
        output.finish(result, lambda: document, result_title(title, result))
    return 0


def _of_recording(arguments: argparse.Namespace) -> tuple[str, dict[str, Any], LayersResult]:
    if arguments.record is not None:
        raise HettopError("usage", "what is read from a recording is not recorded again", "leave out --record")
    return layers_of_recording(Path(arguments.model), arguments.unit)


def measure(arguments: argparse.Namespace, output: StudyOutput) -> tuple[Setup, LayersResult]:
    """What the options name, measured with the roofs of this machine. Raises HettopError."""
    backend = _backend(arguments.backend)
    setup = prepare(replace(model_options(arguments), backend=backend), (arguments.unit,), os.cpu_count() or 1)
    if len(setup.units) != 1:
        raise HettopError("usage", "layers are measured on one unit at a time", f"use --unit {setup.units[0]}")
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
    )
    output.begin(setup)
    what = "measuring layers, then the roofs for three seconds …" if job.roofs else "timing calls of the whole model …"
    output.progress.show(what)
    return setup, measure_in_child(job)


def _backend(name: str | None) -> str:
    """One that is profiled, or has plans. Raises HettopError: `usage`."""
    if name in PROFILED_BACKENDS:
        return BACKEND
    if name is not None and has_plans(name):
        return name
    hint = "leave out --backend: Core ML files are translated"
    raise HettopError("usage", f"only {BACKEND} tells the time of each layer, and coreml an estimate", hint)


def read_work(arguments: argparse.Namespace) -> tuple[Setup, list[Work]]:
    """The work of the layers that have MACs, from the model's file alone: nothing is run. Raises HettopError."""
    setup = prepare(replace(model_options(arguments), backend=BACKEND), (arguments.unit,), os.cpu_count() or 1)
    return setup, read_model_work(arguments.model, setup.function, setup.inputs.shapes, default_cache())


def result_title(model: str, result: LayersResult) -> str:
    """The model, the unit and the shapes of its inputs."""
    threads = [f"{result.threads} thread{'' if result.threads == 1 else 's'}"] if result.threads else []
    estimated = ["ESTIMATED"] if result.estimated else []
    return " · ".join([*estimated, model, result.unit, *threads, *result.shapes])
