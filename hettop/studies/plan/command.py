"""`hettop plan`: which layers to run on which device, by a table of costs, or by what is measured of a model."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hettop.errors import HettopError
from hettop.exits import EXIT_NOT_MET
from hettop.measurement.arguments import (
    model_options,
)
from hettop.measurement.options import DEFAULT_MODEL
from hettop.measurement.setup import Setup
from hettop.processes.cpus import usable_threads
from hettop.report.document import head
from hettop.report.formats import result_text
from hettop.sources.power.names import NONE
from hettop.studies.output import StudyOutput, model_document, model_title
from hettop.studies.plan.measure import plan_result, table_result
from hettop.studies.plan.page import blocks
from hettop.studies.plan.result import PlanResult
from hettop.studies.plan.setup import PlanOptions, make_plan, prepare_devices
from hettop.studies.plan.slicing.baselines import baseline_notes, baselines
from hettop.studies.plan.slicing.cost_file import load_costs, written_costs
from hettop.studies.plan.slicing.costs import ENERGY, UNITS, CostTable, for_objective, times_of
from hettop.studies.plan.slicing.planner import plan
from hettop.studies.plan.slicing.search import search
from hettop.text import clean

FOR_MEASURING = (
    *("backend", "function", "shape", "input", "hint", "seed", "units", "runs", "warmup", "watts", "limit", "slices"),
    *("run", "run_random", "frequencies", "power", "describe", "save_costs", "stream", "record"),
)


def run(arguments: argparse.Namespace) -> int:
    if arguments.costs is None and arguments.model is None:
        arguments.model = DEFAULT_MODEL
    if arguments.costs is None:
        return _plan_model(arguments)
    wrong = [arguments.given[name] for name in FOR_MEASURING if name in arguments.given] + ["MODEL"] * bool(
        arguments.model
    )
    if wrong:
        raise HettopError(
            "usage", f"{wrong[0]} has no effect with --costs, which measures nothing", f"leave out {wrong[0]}"
        )
    return _plan_table(arguments)


def _plan_table(arguments: argparse.Namespace) -> int:
    costs = load_costs(Path(arguments.costs))
    table = for_objective(costs, arguments.objective)
    began = time.perf_counter_ns()
    best = plan(table)
    planner_ms = (time.perf_counter_ns() - began) / 1e6
    unit_told = costs.unit is not None or (arguments.objective == ENERGY and costs.watts is not None)
    times = times_of(costs, arguments.objective)
    result = table_result(
        table,
        best,
        baselines(table, times),
        objective=arguments.objective,
        planner_ms=planner_ms,
        unit_told=unit_told,
        search=search(table),
        notes=(*baseline_notes(table, times), *_energy(costs)),
    )
    width = shutil.get_terminal_size((100, 24)).columns
    document = {**head("plan"), **result.document()}
    sys.stdout.write(result_text(arguments.format, lambda: document, blocks(result), width))
    return 0


def _energy(costs: CostTable) -> Iterator[str]:
    if costs.watts is None and costs.unit != UNITS[ENERGY]:
        yield "energy per layer: n/a, the file has no power (P)"


def _plan_model(arguments: argparse.Namespace) -> int:
    if arguments.save_costs is not None and Path(arguments.save_costs).exists():  # said before anything is measured
        raise _exists(arguments.save_costs)
    with StudyOutput("plan", arguments) as output:
        setup = prepare_devices(model_options(arguments), arguments.units, usable_threads())
        output.begin(setup)
        sliced = make_plan(
            setup,
            arguments.model,
            _options(arguments),
            output.progress.show,
            lambda planned: output.progress.partial(lambda: _document(setup, plan_result(planned))),
        )
        if arguments.save_costs is not None:
            _save(Path(arguments.save_costs), written_costs(sliced.costs.table))
        result = plan_result(sliced)
        output.finish(result, lambda: _document(setup, result), model_title(setup))
    return EXIT_NOT_MET if result.run is not None and not result.run.outputs_equal else 0


def _document(setup: Setup, result: PlanResult) -> dict[str, Any]:
    return {**head("plan"), "model": model_document(setup), **result.document()}


def _options(arguments: argparse.Namespace) -> PlanOptions:
    return PlanOptions(
        objective=arguments.objective,
        watts=tuple(arguments.watts),
        limits=tuple(arguments.limit),
        given=arguments.slices,
        described=arguments.describe,
        run=arguments.run,
        run_random=arguments.run_random,
        frequencies=arguments.frequencies,
        power=None if arguments.power == NONE else arguments.power,
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
    return HettopError("usage", f"{clean(path)} exists", "choose a new file for --save-costs")
