"""The options of `hettop sweep`.

Light to import: help and completions read the options of all commands.
"""

from __future__ import annotations

import argparse

from hettop.measurement.arguments import (
    add_model_options,
    add_power_option,
    add_result_options,
    describe,
    duration_ns,
    not_negative,
    positive,
    rest,
)
from hettop.measurement.options import DEFAULT_WARMUP

DEFAULT_LOADS = "none,cpu:1,memory:1"

DEFAULT_REST_NS = 2 * 10**9

_EXAMPLES = """\
  hettop sweep --batch 1,2,4,8,16,32 --units CPU_ONLY     rate and time by batch, the knee, the best batch
  hettop sweep model.onnx --size 224,320,448 --budget 30ms@p90
  hettop sweep --loads none,cpu:1,cpu:2,memory:1     units interleaved, each load in turn, with rests
  hettop sweep model.onnx --units CPU_ONLY@1,CPU_ONLY@2 --loads none,cpu:1+memory:1 --duration 10s
  hettop sweep --backend simulated --loads none,cpu:4,gpu:1 --record m2-loads.jsonl --json"""

_NOTES = """\
Batches and sizes: points take turns on each unit, one unit after another, with inputs that are really so large; a
file needs dynamic axes for that, MobileNetV2 is built for each point. A point that fails is a row with the reason; what
is more work than a point that ran out of memory is not tried. See docs/method/sweeps.md.
Loads: a comma parts loads, a plus joins them. Samples taken before a load is confirmed count for none. Between loads
nothing runs for --rest. --runs and --duration count steady samples, or steady time, of each unit at each point or under
each load. --record s.jsonl keeps what was found, for a sweep over loads with its samples; those of points are recorded
beside it, such as s-b4-CPU_ONLY.jsonl. Quantiles are numpy's linear (type 7). Exit codes: 0 measured, 2 wrong use, 3
everything failed while running, 130 interrupted (what was measured is printed)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Measure a model over batches, image sizes or competing loads, on some units, and tell what each does.",
        _EXAMPLES,
        _NOTES,
    )
    add_model_options(parser)
    parser.add_argument("--units", default="all", metavar="U,V", help="units to measure, or all (the default)")
    parser.add_argument("--batch", metavar="1,2,4", help="batches: items a call")
    parser.add_argument("--size", metavar="224,320", help="sizes of images, in pixels: height and width, or HxW")
    parser.add_argument("--budget", metavar="16ms@p90", help="with --batch or --size: the most items/s within it")
    parser.add_argument("--loads", metavar="L,M", help=f"competing loads, one after another ({DEFAULT_LOADS})")
    parser.add_argument("--rest", type=rest, default=DEFAULT_REST_NS, metavar="2s", help="pause between loads (2s)")
    parser.add_argument(
        "--warmup", type=not_negative, default=DEFAULT_WARMUP, metavar="N", help="calls that do not count (10)"
    )
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("--runs", type=positive, metavar="N", help="steady samples per unit and point or load (100)")
    limit.add_argument("--duration", type=duration_ns, metavar="10s", help="or steady time per unit and point or load")
    add_power_option(parser, "with --loads: ")
    add_result_options(parser)
