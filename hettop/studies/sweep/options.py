"""The options of `hettop sweep`.

Light to import: help and completions read the options of all commands.
"""

from __future__ import annotations

import argparse

from hettop.measurement.arguments import (
    MEASURE_GROUP,
    add_length_options,
    add_model_options,
    add_power_option,
    add_result_options,
    add_units_option,
    add_warmup_option,
    describe,
    group_of,
    rest,
)
from hettop.measurement.options import DEFAULT_WARMUP

DEFAULT_LOADS = "none,cpu:1,memory:1"

DEFAULT_RUNS = 100

DEFAULT_REST_NS = 2 * 10**9

_EXAMPLES = """\
  hettop sweep --batch 1,2,4,8,16,32 --units cpu     throughput and latency by batch size, and the knee
  hettop sweep model.onnx --size 224,320,448 --budget 30ms@p90
  hettop sweep --loads none,cpu:1,cpu:2,memory:1     competing loads, one after another
  hettop sweep model.onnx --units cpu@1,cpu@2 --loads none,cpu:1+memory:1 --duration 10s
  hettop sweep --loads none,cpu:1,cpu:4 --alone --duration 10s   CPU use and missed frames of each unit
  hettop sweep --backend simulated --loads none,cpu:4,gpu:1 --record m2-loads.jsonl -o loads.json"""

_NOTES = """\
--batch and --size measure points in turns on each unit; a model file needs dynamic axes for that. A point that fails
is a row with the reason. --loads measures units under each load; a comma separates loads, a plus combines them.
--record s.jsonl keeps the result; samples of points are recorded beside it, such as s-b4-CPU_ONLY.jsonl.
See docs/method/sweeps.md.

Exit codes: 0 measured, 2 invalid use, 3 everything failed, 130 interrupted (what was measured is printed)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "Measure across batch sizes, image sizes or competing loads.", _EXAMPLES, _NOTES)
    add_model_options(parser)
    add_units_option(parser, "units to measure (all)")
    group = group_of(parser, MEASURE_GROUP)
    group.add_argument("--batch", metavar="1,2,4", help="batch sizes")
    group.add_argument(
        "--batch-axis",
        action="append",
        default=[],
        metavar="NAME=1",
        help="with --batch: which axis of an input is the batch (named batch, or the first)",
    )
    group.add_argument("--size", metavar="224,320", help="image sizes in pixels: height and width, or HxW")
    group.add_argument(
        "--budget",
        metavar="16ms@p90",
        help="with --batch or --size: highest throughput within it (a bare number is ms)",
    )
    group.add_argument("--loads", metavar="L,M", help=f"competing loads ({DEFAULT_LOADS})")
    group.add_argument("--rest", type=rest, metavar="2s", help="with --loads: pause between loads (2s)")
    group.add_argument(
        "--alone", action="store_true", help="with --loads: one unit after another: CPU use and frames of each"
    )
    add_warmup_option(parser, DEFAULT_WARMUP)
    add_length_options(parser, DEFAULT_RUNS, "unit and point or load, at least")
    add_power_option(parser, "with --loads: ")
    add_result_options(parser)
