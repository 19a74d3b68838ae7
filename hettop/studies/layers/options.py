"""The options of `hettop layers`, and those that a roofline shares.

Light to import: help and completions read the options of all commands.
"""

from __future__ import annotations

import argparse

from hettop.measurement.arguments import (
    add_model_options,
    add_result_options,
    add_runs_option,
    add_unit_option,
    add_warmup_option,
    describe,
)
from hettop.measurement.options import DEFAULT_WARMUP

DEFAULT_RUNS = 50


def add_layer_options(parser: argparse.ArgumentParser) -> None:
    add_model_options(parser)
    add_unit_option(parser, "unit to measure", default="CPU_ONLY")
    add_runs_option(parser, DEFAULT_RUNS)
    add_warmup_option(parser, DEFAULT_WARMUP)
    add_result_options(parser)


_EXAMPLES = """\
  hettop layers                                   MobileNetV2 with seeded weights
  hettop layers model.onnx --units cpu@1 -n 200
  hettop layers Model.mlpackage --shape image=1,3,640,640 -o layers.csv
  hettop layers Model.mlpackage --backend coreml --units ne   estimated, on a Mac
  hettop layers session.jsonl --units ne                      estimated from the plan in a recording"""

_NOTES = """\
Times come from ONNX Runtime's profiler. A layer is an operation that the runtime executes, with those fused into it.
Core ML reports no times per layer: --backend coreml and recordings give estimates from its plan, marked ESTIMATED.
See docs/method/layers.md."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "Profile a model layer by layer.", _EXAMPLES, _NOTES)
    add_layer_options(parser)
