"""The options of `hettop plan`.

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

_EXAMPLES = """\
  hettop plan model.onnx --devices CPU_ONLY@1,CPU_ONLY@2 --run
  hettop plan model.onnx --slices 'CPU_ONLY@1_1, CPU_ONLY@2_9' --run
  hettop plan model.onnx --run --record plan.jsonl     to show with hettop report or hettop replay
  hettop plan --costs costs.json
  hettop plan --costs costs.json --objective energy --json

  costs.json, for three layers on two devices, costs in ms, sizes and limits in MB:
    {"L": 3, "D": ["B", "N"], "e": [[19, null], [47, 33], [41, 13]], "cin": [[0, 11], [0, 5], [0, 30]],
     "cout": [[0, 29], [0, 29], [0, 19]], "size": [8, 60, 24], "limit": {"N": 100}}

  B_1, N_2
  latency 89.0 ms
  ..."""

_NOTES = """\
e: cost of a layer on a device; cin, cout: of communication where a slice begins or ends with it; null: it cannot. A
slice pays at both ends, also beside another slice on the same device; its size may not exceed the device's limit.
Optional: "unit": "ms" or "mJ"; "P": watts by device, or by layer and device, which turn ms into mJ for the objective
energy. Without both, the costs are taken to be in the objective's unit. A device N^960 is N at 960 MHz. N_1, G_9 is a
plan: layers 1 to 8 on N, from 9 on G. Exit code 2 if no plan is finite; the layer in the way is named.
With a MODEL the costs are measured: each layer on each device, and what it takes to cut between layers. --run runs the
plan in turns with the whole model on each device; exit code 1 if the outputs differ. See docs/method/slicing.md."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Cut a model's layers into slices and give each a device, so that the whole costs least (MOSAIC).",
        _EXAMPLES,
        _NOTES,
    )
    add_model_options(parser)
    parser.set_defaults(model=None)
    parser.add_argument("--costs", metavar="FILE", help="a cost table as JSON, instead of a model")
    parser.add_argument(
        "--devices", metavar="A,B", help="units to plan for, CPU_ONLY@N each (every number of threads of this machine)"
    )
    # Named here and not imported: --help must not wait for numpy.
    parser.add_argument(
        "--objective", choices=("latency", "energy"), default="latency", help="what to make least (latency)"
    )
    parser.add_argument(
        "--watts", action="append", default=[], metavar="DEVICE=W", help="power of a device, for the objective energy"
    )
    parser.add_argument(
        "--limit", action="append", default=[], metavar="DEVICE=MB", help="weights and outputs that a slice may have"
    )
    parser.add_argument(
        "--describe", metavar="FILE", help="further devices as JSON, by how they differ from a measured one"
    )
    parser.add_argument("--save-costs", metavar="FILE", help="write the measured table, for --costs")
    parser.add_argument("--slices", metavar="PLAN", help="a plan of your own instead of the best, such as A_1, B_9")
    parser.add_argument("--run", action="store_true", help="run the plan, in turns with the whole model")
    parser.add_argument("--runs", type=positive, default=50, metavar="N", help="calls that count (50)")
    parser.add_argument("--warmup", type=not_negative, default=10, metavar="N", help="calls before, that do not (10)")
    add_result_options(parser)
