"""`hettop layers`: how long each layer of a model takes, and what limits it."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hettop.commands.options import Parser, add_model_options, make_parser, model_options, not_negative, positive
from hettop.errors import HettopError

if TYPE_CHECKING:
    from hettop.layers.rows import Measured
    from hettop.wiring.setup import Setup

SUMMARY = "Measure each layer of a model on ONNX Runtime's CPU engine: time, share, MACs, bytes, and what limits it."
EXAMPLE = """\
  hettop layers                                   MobileNetV2 with seeded weights
  hettop layers model.onnx --unit CPU_ONLY@1 --runs 200
  hettop layers Model.mlpackage --shape image=1,3,640,640 --json"""
NOTES = """\
Times are those of ONNX Runtime's profiler, means of the middle half of the calls. A layer is what the runtime runs: an
operation of the model with those fused into it, called after the one that does the work. Bytes are weights, inputs and
outputs, each moved once. Bound is compute or memory by the ridge of roofs that are measured here, which takes three
seconds. docs/LAYERS.md tells more. Units of Core ML have no times by layer: its plan only estimates shares."""
BACKEND = "onnxruntime"
PROFILED_BACKENDS = (None, BACKEND)


def run(argv: list[str]) -> int:
    arguments = _parser().parse_args(argv)
    setup, measured = measure(arguments)
    if arguments.as_json:
        from hettop.report.document import to_json
        from hettop.report.layers import layers_document

        sys.stdout.write(to_json(layers_document(model_document(setup), measured)) + "\n")
    else:
        from hettop.report.layers import layers_text

        width = shutil.get_terminal_size((100, 24)).columns
        sys.stdout.write(layers_text(model_title(setup), measured, width))
    return 0


def _parser() -> Parser:
    parser = make_parser("layers", SUMMARY, EXAMPLE, NOTES)
    add_layer_options(parser)
    return parser


def add_layer_options(parser: argparse.ArgumentParser) -> None:
    add_model_options(parser)
    parser.add_argument("--unit", default="CPU_ONLY", metavar="U", help="unit to measure (CPU_ONLY)")
    parser.add_argument("--runs", type=positive, default=50, metavar="N", help="calls that count (50)")
    parser.add_argument("--warmup", type=not_negative, default=10, metavar="N", help="calls before, that do not (10)")
    parser.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")


def measure(arguments: argparse.Namespace) -> tuple[Setup, Measured]:
    """What the options name, measured with the roofs of this machine. Raises HettopError."""
    from hettop.layers.child import measure_in_child
    from hettop.layers.job import Job
    from hettop.wiring.setup import prepare

    if arguments.backend not in PROFILED_BACKENDS:
        hint = "leave out --backend: Core ML files are translated"
        raise HettopError("usage", f"only {BACKEND} tells the time of each layer", hint)
    setup = prepare(replace(model_options(arguments), backend=BACKEND), (arguments.unit,), os.cpu_count() or 1)
    if len(setup.units) != 1:
        raise HettopError("usage", "layers are measured on one unit at a time", f"use --unit {setup.units[0]}")
    job = Job(
        model=arguments.model,
        unit=setup.units[0],
        folder="",
        function=setup.function,
        seed=setup.inputs.seed,
        shapes=dict(setup.inputs.shapes),
        values=dict(setup.inputs.values),
        warmup=arguments.warmup,
        runs=arguments.runs,
    )
    _say("measuring layers and roofs, some seconds …")
    try:
        return setup, measure_in_child(job)
    finally:
        _say("")


def model_title(setup: Setup) -> str:
    return f"{setup.model.name} ({setup.model.note})" if setup.model.note else setup.model.name


def model_document(setup: Setup) -> dict[str, Any]:
    model = setup.model
    return {"name": model.name, "sha256": model.sha256, "backend": setup.backend, "note": model.note or None}


def _say(text: str) -> None:
    """One line of progress, on a terminal only, wiped by the next."""
    from hettop.commands.progress import width_of

    if width_of(sys.stderr, os.environ.get("TERM", "")):
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
