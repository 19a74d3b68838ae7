"""`hettop plan`: which layers to run on which device, by a table of costs, or by what is measured of a model."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from hettop.cli.options import add_model_options, make_parser, model_options, not_negative, positive
from hettop.cli.output import Answer, add_result_options
from hettop.errors import HettopError
from hettop.measurement.options import DEFAULT_MODEL
from hettop.text import clean

if TYPE_CHECKING:
    from hettop.studies.plan.setup import PlanOptions

SUMMARY = "Cut a model's layers into slices and give each a device, so that the whole costs least (MOSAIC)."
EXAMPLE = """\
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
NOTES = """\
e: cost of a layer on a device; cin, cout: of communication where a slice begins or ends with it; null: it cannot. A
slice pays at both ends, also beside another slice on the same device; its size may not exceed the device's limit.
Optional: "unit": "ms" or "mJ"; "P": watts by device, or by layer and device, which turn ms into mJ for the objective
energy. Without both, the costs are taken to be in the objective's unit. A device N^960 is N at 960 MHz. N_1, G_9 is a
plan: layers 1 to 8 on N, from 9 on G. Exit code 2 if no plan is finite; the layer in the way is named.
With a MODEL the costs are measured: each layer on each device, and what it takes to cut between layers. --run runs the
plan in turns with the whole model on each device; exit code 1 if the outputs differ. docs/SLICING.md tells more."""
TABLE_ALONE = ("devices", "watts", "limit", "slices", "run", "describe", "save_costs", "stream", "record", "force")
NOT_EQUAL = 1


def run(argv: list[str]) -> int:
    arguments = _parser().parse_args(argv)
    if arguments.costs is None and arguments.model is None:
        arguments.model = DEFAULT_MODEL
    if arguments.costs is None:
        return _plan_model(argv, arguments)
    wrong = [f"--{name.replace('_', '-')}" for name in TABLE_ALONE if getattr(arguments, name)] + ["a model"] * bool(
        arguments.model
    )
    if wrong:
        raise HettopError("usage", f"{wrong[0]} and --costs exclude each other", "a table of costs runs nothing")
    return _plan_table(arguments)


def _plan_table(arguments: argparse.Namespace) -> int:
    from hettop.studies.plan.slicing.baselines import baselines
    from hettop.studies.plan.slicing.costs import ENERGY, for_objective, load_costs
    from hettop.studies.plan.slicing.planner import plan

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
        from hettop.studies.plan.page import plan_document

        sys.stdout.write(to_json(plan_document(table, best, compared, **facts)) + "\n")
    else:
        from hettop.studies.plan.page import plan_text

        width = shutil.get_terminal_size((100, 24)).columns
        sys.stdout.write(plan_text(table, best, compared, **facts, width=width))
    return 0


def _plan_model(argv: list[str], arguments: argparse.Namespace) -> int:
    from hettop.cli.layers import model_document, model_title
    from hettop.studies.plan.setup import make_plan, prepare_devices
    from hettop.studies.plan.sliced_page import sliced_document, sliced_text
    from hettop.studies.plan.slicing.costs import written_costs

    if arguments.save_costs is not None and Path(arguments.save_costs).exists():  # said before anything is measured
        raise _exists(arguments.save_costs)
    named = None if arguments.devices is None else tuple(each.strip() for each in arguments.devices.split(","))
    with Answer("plan", ["plan", *argv], arguments) as answer:
        setup = prepare_devices(model_options(arguments), named, os.cpu_count() or 1)
        answer.begin(setup)
        model = model_document(setup)
        sliced = make_plan(
            setup,
            arguments.model,
            _options(arguments),
            answer.doing,
            lambda planned: answer.known(lambda: sliced_document(model, planned)),
        )
        if arguments.save_costs is not None:
            _save(Path(arguments.save_costs), written_costs(sliced.costs.table))
        answer.give(
            lambda: sliced_document(model, sliced), lambda width: sliced_text(model_title(setup), sliced, width)
        )
    return NOT_EQUAL if sliced.ran is not None and not sliced.ran.equal else 0


def _options(arguments: argparse.Namespace) -> PlanOptions:
    from hettop.studies.plan.setup import PlanOptions

    return PlanOptions(
        objective=arguments.objective,
        watts=tuple(arguments.watts),
        limits=tuple(arguments.limit),
        given=arguments.slices,
        described=arguments.describe,
        run=arguments.run,
        warmup=arguments.warmup,
        runs=arguments.runs,
    )


def _save(path: Path, text: str) -> None:
    try:
        with path.open("x") as file:
            file.write(text)
    except FileExistsError as error:
        raise _exists(str(path)) from error
    except OSError as error:
        raise HettopError("io", f"{clean(str(path))} cannot be written: {error.strerror}") from error


def _exists(path: str) -> HettopError:
    return HettopError("usage", f"{clean(path)} exists", "name a new file for --save-costs")


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("plan", SUMMARY, EXAMPLE, NOTES)
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
    return parser
