"""`hettop plan`: which layers to run on which device, by a table of costs."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path

from hettop.commands.options import make_parser

SUMMARY = "Cut a model's layers into slices and give each a device, so that the whole costs least (MOSAIC)."
EXAMPLE = """\
  hettop plan --costs costs.json
  hettop plan --costs costs.json --objective energy --json

  costs.json, for three layers on two devices, costs in ms, sizes and limits in MB:
    {"L": 3, "D": ["B", "N"], "e": [[19, null], [47, 33], [41, 13]], "cin": [[0, 11], [0, 5], [0, 30]],
     "cout": [[0, 29], [0, 29], [0, 19]], "size": [8, 60, 24], "limit": {"N": 100}}

  B_1, N_2
  latency 89.0 ms
  ..."""
NOTES = """\
e: cost of a layer on a device; cin, cout: of communication where a slice begins or ends with it; null: it cannot. A
slice pays at both ends, also beside another slice on the same device; its size may not exceed the device's limit.
Optional: "unit": "ms" or "mJ"; "P": watts by device, or by layer and device, which turn ms into mJ for the objective
energy. Without both, the costs are taken to be in the objective's unit. A device N^960 is N at 960 MHz. N_1, G_9 is a
plan: layers 1 to 8 on N, from 9 on G. Exit code 2 if no plan is finite; the layer in the way is named."""


def run(argv: list[str]) -> int:
    arguments = _parser().parse_args(argv)
    from hettop.slicing.baselines import baselines
    from hettop.slicing.costs import ENERGY, for_objective, load_costs
    from hettop.slicing.planner import plan

    told = load_costs(Path(arguments.costs))
    table = for_objective(told, arguments.objective)
    began = time.perf_counter_ns()
    best = plan(table)
    planner_ms = (time.perf_counter_ns() - began) / 1e6
    compared = baselines(table)
    facts = {
        "objective": arguments.objective,
        "unit_told": told.unit is not None or (arguments.objective == ENERGY and told.watts is not None),
        "planner_ms": planner_ms,
    }
    if arguments.as_json:
        from hettop.report.document import to_json
        from hettop.report.plan import plan_document

        sys.stdout.write(to_json(plan_document(table, best, compared, **facts)) + "\n")
    else:
        from hettop.report.plan import plan_text

        width = shutil.get_terminal_size((100, 24)).columns
        sys.stdout.write(plan_text(table, best, compared, **facts, width=width))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("plan", SUMMARY, EXAMPLE, NOTES)
    parser.add_argument("--costs", required=True, metavar="FILE", help="the cost table, as JSON")
    # Named here and not imported: --help must not wait for numpy.
    parser.add_argument(
        "--objective", choices=("latency", "energy"), default="latency", help="what to make least (latency)"
    )
    parser.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")
    return parser
