"""The options of `hettop predict`.

Light to import: help and completions read the options of all commands.
"""

from __future__ import annotations

import argparse

from hettop.measurement.arguments import (
    MEASURE_GROUP,
    add_result_options,
    add_runs_option,
    add_unit_option,
    add_warmup_option,
    describe,
    group_of,
)

DEFAULT_NETS = "shufflenetv2,mobilenetv2,mnasnet,squeezenet1.1,squeezenet1.0,googlenet,resnet18,densenet121"
DEFAULT_LOADS = "none,cpu:1,memory:1"
DEFAULT_RUNS, DEFAULT_WARMUP = 20, 3

_EXAMPLES = """\
  hettop predict --units cpu@1                              eight networks, a few minutes
  hettop predict --nets light --loads none,cpu:1,cpu:2
  hettop predict --record p.jsonl                           then: hettop report p.jsonl -o p.html"""

_NOTES = """\
Two predictors are fitted to times measured without load, on all networks but the one that they predict: a line of the
call's time by MACs, and for each type of operation a line of a layer's time by MACs and bytes, summed over the layers.
Their estimates are compared with the measurement without load and under each load, as is the measurement without load
itself. Layers are those of ONNX Runtime's profiler on the CPU. See docs/method/predict.md.

Exit codes: 0 measured, 2 invalid use, 3 too little was measured, 130 interrupted (what was measured is printed)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "Test latency predictors against measurement, idle and under load.", _EXAMPLES, _NOTES)
    add_unit_option(parser, "CPU unit to measure", default="CPU_ONLY")
    group = group_of(parser, MEASURE_GROUP)
    group.add_argument("--nets", default=DEFAULT_NETS, metavar="A,B", help="names (hettop models), light, or all")
    group.add_argument("--loads", default=DEFAULT_LOADS, metavar="L,M", help=f"competing loads ({DEFAULT_LOADS})")
    add_runs_option(parser, DEFAULT_RUNS)
    add_warmup_option(parser, DEFAULT_WARMUP)
    add_result_options(parser)
