"""`hettop layers`: how long each layer of a model takes, and what limits it."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hettop.cli.options import Parser, add_model_options, make_parser, model_options, not_negative, positive
from hettop.cli.output import Answer, add_result_options
from hettop.errors import HettopError

if TYPE_CHECKING:
    from hettop.measurement.setup import Setup
    from hettop.studies.layers.published import Work
    from hettop.studies.layers.rows import Measured

SUMMARY = "Measure each layer of a model on ONNX Runtime's CPU engine, or estimate it by Core ML's plan."
EXAMPLE = """\
  hettop layers                                   MobileNetV2 with seeded weights
  hettop layers model.onnx --unit CPU_ONLY@1 --runs 200
  hettop layers Model.mlpackage --shape image=1,3,640,640 --json
  hettop layers Model.mlpackage --backend coreml --unit CPU_AND_NE   estimated, on a Mac
  hettop layers session.jsonl --unit CPU_AND_NE                      estimated, by the plan in a recording"""
NOTES = """\
Times are those of ONNX Runtime's profiler, means of the middle half of the calls. A layer is what the runtime runs: an
operation of the model with those fused into it, called after the one that does the work. Bytes are weights, inputs and
outputs, each moved once. Bound is compute or memory by the ridge of roofs that are measured here, which takes three
seconds. docs/LAYERS.md tells more. Units of Core ML have no times by layer: its plan only estimates shares, which is
what --backend coreml and recordings tell, labelled estimated."""
BACKEND = "onnxruntime"
PROFILED_BACKENDS = (None, BACKEND)


def run(argv: list[str]) -> int:
    arguments = _parser().parse_args(argv)
    from hettop.measurement.recorded import looks_like_recording
    from hettop.studies.layers.page import layers_document, layers_text

    with Answer("layers", ["layers", *argv], arguments) as answer:
        if looks_like_recording(arguments.model):
            title, model, measured = _of_recording(arguments)
        else:
            setup, measured = measure(arguments, answer)
            title, model = model_title(setup), model_document(setup)
        answer.give(lambda: layers_document(model, measured), lambda width: layers_text(title, measured, width))
    return 0


def _of_recording(arguments: argparse.Namespace) -> tuple[str, dict[str, Any], Measured]:
    from hettop.studies.layers.recorded import layers_of_recording

    if arguments.record is not None:
        raise HettopError("usage", "what is read from a recording is not recorded again", "leave out --record")
    return layers_of_recording(Path(arguments.model), arguments.unit)


def _parser() -> Parser:
    parser = make_parser("layers", SUMMARY, EXAMPLE, NOTES)
    add_layer_options(parser)
    return parser


def add_layer_options(parser: argparse.ArgumentParser) -> None:
    add_model_options(parser)
    parser.add_argument("--unit", default="CPU_ONLY", metavar="U", help="unit to measure (CPU_ONLY)")
    parser.add_argument("--runs", type=positive, default=50, metavar="N", help="calls that count (50)")
    parser.add_argument("--warmup", type=not_negative, default=10, metavar="N", help="calls before, that do not (10)")
    add_result_options(parser)


def measure(arguments: argparse.Namespace, answer: Answer) -> tuple[Setup, Measured]:
    """What the options name, measured with the roofs of this machine. Raises HettopError."""
    from hettop.measurement.setup import prepare
    from hettop.studies.layers.job import LayersJob, measure_in_child

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
    answer.begin(setup)
    what = "measuring layers, then the roofs for three seconds …" if job.roofs else "timing calls of the whole model …"
    answer.doing(what)
    return setup, measure_in_child(job)


def _backend(name: str | None) -> str:
    """One that is profiled, or has plans. Raises HettopError: `usage`."""
    from hettop.sources.engine.backends import has_plans

    if name in PROFILED_BACKENDS:
        return BACKEND
    if name is not None and has_plans(name):
        return name
    hint = "leave out --backend: Core ML files are translated"
    raise HettopError("usage", f"only {BACKEND} tells the time of each layer, and coreml an estimate", hint)


def read_work(arguments: argparse.Namespace) -> tuple[Setup, list[Work]]:
    """The work of the layers that have MACs, from the model's file alone: nothing is run. Raises HettopError."""
    from hettop.measurement.setup import prepare
    from hettop.models.cache import default_cache
    from hettop.studies.layers.work import read_model_work

    setup = prepare(replace(model_options(arguments), backend=BACKEND), (arguments.unit,), os.cpu_count() or 1)
    return setup, read_model_work(arguments.model, setup.function, setup.inputs.shapes, default_cache())


def model_title(setup: Setup) -> str:
    return f"{setup.model.name} ({setup.model.note})" if setup.model.note else setup.model.name


def model_document(setup: Setup) -> dict[str, Any]:
    model = setup.model
    return {"name": model.name, "sha256": model.sha256, "backend": setup.backend, "note": model.note or None}
