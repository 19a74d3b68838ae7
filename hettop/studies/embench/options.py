"""The options of `hettop embench`.

Light to import: help and completions read the options of all commands.
"""

from __future__ import annotations

import argparse

from hettop.measurement.arguments import (
    MEASURE_GROUP,
    OUTPUT_GROUP,
    add_power_option,
    add_result_options,
    add_units_option,
    add_warmup_option,
    describe,
    group_of,
    positive,
    rest,
)
from hettop.units import NS_PER_S

DEFAULT_WARMUP, DEFAULT_RUNS, DEFAULT_REST_NS = 10, 50, 2 * NS_PER_S
"""As published (section 4): ten calls to warm up, fifty that count, two seconds between."""

_EXAMPLES = """\
  hettop embench --units cpu                                   all 26 networks as published, about an hour
  hettop embench --nets light --rest 0 --runs 20               networks under 1 billion MACs, in a few minutes
  hettop embench --nets resnet50,mobilenetv2 --batches 1,2,4,8,16
  hettop embench --resume embench.jsonl                        again after an interruption: goes on where it stood"""

_NOTES = """\
Networks are those of EmBench's table 1 with synthetic weights (hettop models), measured one after another. The time is
the shortest call, as published. Results: time against MACs with a fitted line, items per second by batch, the Pareto
front of published accuracy and rate, and shares of time by type of operation (CPU). A batch that fails is a row with
its reason; larger ones are not tried. Inferences per joule need --power. See docs/papers/embench.md.

Exit codes: 0 measured, 2 invalid use, 3 everything failed, 130 interrupted (what was measured is printed)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "Measure the networks of EmBench on this machine.", _EXAMPLES, _NOTES)
    add_units_option(parser, "units to measure (all)")
    group = group_of(parser, MEASURE_GROUP)
    group.add_argument("--nets", default="all", metavar="A,B", help="names (hettop models), light, or all (default)")
    group.add_argument("--batches", default="1", metavar="1,2,4", help="batch sizes (1)")
    group.add_argument("--backend", metavar="B", help="as of hettop bench")
    group.add_argument(
        "--rest", type=rest, default=DEFAULT_REST_NS, metavar="2s", help="pause between calls (2s, as published)"
    )
    group.add_argument(
        "--runs", type=positive, default=DEFAULT_RUNS, metavar="N", help=f"calls that count ({DEFAULT_RUNS})"
    )
    add_warmup_option(parser, DEFAULT_WARMUP)
    group.add_argument("--no-layers", action="store_true", help="leave out shares of time by type of operation")
    add_power_option(parser)
    group_of(parser, OUTPUT_GROUP).add_argument(
        "--resume", metavar="FILE", help="keep each row in FILE as it is measured; rows that are in it are not repeated"
    )
    add_result_options(parser)
