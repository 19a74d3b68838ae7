"""The options of `hettop layers`, and those that a roofline shares.

Light to import: help and completions read the options of all commands.
"""

from __future__ import annotations

import argparse

from hettop.measurement.arguments import (
    add_model_options,
    add_result_options,
    describe,
    not_negative,
    positive,
)


def add_layer_options(parser: argparse.ArgumentParser) -> None:
    add_model_options(parser)
    parser.add_argument("--unit", default="CPU_ONLY", metavar="U", help="unit to measure (CPU_ONLY)")
    parser.add_argument("--runs", type=positive, default=50, metavar="N", help="calls that count (50)")
    parser.add_argument("--warmup", type=not_negative, default=10, metavar="N", help="calls before, that do not (10)")
    add_result_options(parser)


_EXAMPLES = """\
  hettop layers                                   MobileNetV2 with seeded weights
  hettop layers model.onnx --unit CPU_ONLY@1 --runs 200
  hettop layers Model.mlpackage --shape image=1,3,640,640 --json
  hettop layers Model.mlpackage --backend coreml --unit CPU_AND_NE   estimated, on a Mac
  hettop layers session.jsonl --unit CPU_AND_NE                      estimated, by the plan in a recording"""

_NOTES = """\
Times are those of ONNX Runtime's profiler, means of the middle half of the calls. A layer is what the runtime runs: an
operation of the model with those fused into it, called after the one that does the work. Bytes are weights, inputs and
outputs, each moved once. Bound is compute or memory by the ridge of roofs that are measured here, which takes three
seconds. See docs/method/layers.md. Units of Core ML have no times by layer: its plan only estimates shares, which is
what --backend coreml and recordings tell, labelled estimated."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Measure each layer of a model on ONNX Runtime's CPU engine, or estimate it by Core ML's plan.",
        _EXAMPLES,
        _NOTES,
    )
    add_layer_options(parser)
