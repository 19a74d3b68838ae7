"""The options of `hettop plan`.

Light to import: help and completions read the options of all commands.
"""

from __future__ import annotations

import argparse

from hettop.compute_units import parse_units
from hettop.measurement.arguments import (
    MEASURE_GROUP,
    OUTPUT_GROUP,
    add_alias,
    add_model_options,
    add_power_option,
    add_result_options,
    add_runs_option,
    add_units_option,
    add_warmup_option,
    describe,
    group_of,
)
from hettop.measurement.options import DEFAULT_WARMUP

DEFAULT_RUNS = 50

_EXAMPLES = """\
  hettop plan model.onnx --units cpu@1,cpu@2 --run
  hettop plan model.onnx --slices 'CPU_ONLY@1_1, CPU_ONLY@2_9' --run
  hettop plan model.onnx --run --record plan.jsonl     for hettop report or hettop replay
  hettop plan --costs costs.json --objective energy -o plan.json"""

_NOTES = """\
With MODEL, the cost of each layer on each unit and of each cut is measured. With --costs, they are read from a JSON
table; docs/method/slicing.md describes it. N_1, G_9 is a plan: layers 1 to 8 on N, the others on G.

Exit codes: 0 done, 1 the outputs of --run differ from those of the whole model, 2 invalid use, or no plan is possible
(the layer that prevents it is named), 3 failed while running, 130 interrupted."""


MOST_RANDOM = 10_000


def _plans(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST_RANDOM:
        raise argparse.ArgumentTypeError(f"must be a whole number of 1 to {MOST_RANDOM:,}")
    return int(text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(parser, "Partition a model across units (MOSAIC).", _EXAMPLES, _NOTES)
    add_model_options(parser)
    parser.set_defaults(model=None)
    add_units_option(parser, "units to plan for (CPU_ONLY@N for every number of threads)", default=None)
    group = group_of(parser, MEASURE_GROUP)
    add_alias(group, "--devices", "units", parse_units)
    group.add_argument("--costs", metavar="FILE", help="read costs from this JSON table instead of a model")
    # Named here and not imported: --help must not wait for numpy.
    group.add_argument(
        "--objective", choices=("latency", "energy"), default="latency", help="what to minimize (latency)"
    )
    group.add_argument(
        "--watts", action="append", default=[], metavar="UNIT=W", help="power of a unit, for --objective energy"
    )
    group.add_argument(
        "--limit", action="append", default=[], metavar="UNIT=MB", help="memory limit of a slice: weights and outputs"
    )
    group.add_argument("--describe", metavar="FILE", help="JSON file of further units, relative to a measured one")
    group.add_argument(
        "--frequencies", action="store_true", help="profile at the lowest and highest CPU frequency (Linux, root)"
    )
    add_power_option(parser, "measure the energy of each layer; ", default="none")
    group.add_argument("--slices", metavar="PLAN", help="use this plan instead of the best one, such as A_1, B_9")
    group.add_argument("--run", action="store_true", help="run the plan, in turns with the whole model")
    group.add_argument(
        "--run-random",
        type=_plans,
        default=0,
        metavar="N",
        help="with --run, also run N random plans and the baselines (the paper: 1000)",
    )
    add_runs_option(parser, DEFAULT_RUNS)
    add_warmup_option(parser, DEFAULT_WARMUP)
    add_result_options(parser)
    group_of(parser, OUTPUT_GROUP).add_argument(
        "--save-costs", metavar="FILE", help="write the measured costs, for --costs"
    )
