"""`hettop sweep`: measure a model over a range of something, unattended: loads here, batches and sizes elsewhere."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from hettop.cli.bench import say_recorded
from hettop.cli.measuring import after_recording, measure, print_header_warnings, say_power
from hettop.cli.output import StudyOutput
from hettop.cli.parsers.studies import DEFAULT_LOADS
from hettop.cli.progress import ProgressStream
from hettop.cli.rounds import INTERRUPTED
from hettop.cli.signals import stop_signals_ignored
from hettop.cli.sweep_points import run_points
from hettop.errors import HettopError
from hettop.exits import EXIT_FAILED, EXIT_INTERRUPTED
from hettop.measurement.arguments import (
    check_result_options,
    model_options,
)
from hettop.measurement.options import MeasureOptions
from hettop.measurement.setup import Setup, prepare
from hettop.report.conditions import conditions_text
from hettop.report.grid import wrapped
from hettop.report.verdict_words import provenance
from hettop.session.session import RAW_LIMIT
from hettop.sources.load.parts import LoadPart, parse_load
from hettop.sources.load.source import unavailable
from hettop.studies.sweep.loads import Sweep, SweepOptions
from hettop.studies.sweep.page import loads_document
from hettop.text import clean

DEFAULT_RUNS = 100
MOST_LOADS = 64


def run(arguments: argparse.Namespace) -> int:
    if arguments.batch is not None or arguments.size is not None:
        if arguments.loads is not None:
            raise HettopError("usage", "one sweep is over loads, or over batches and sizes", "make it two")
        if arguments.power is not None:
            raise HettopError("usage", "--power is for a sweep over loads", "turns of points are too short for it")
        return run_points(arguments)
    if arguments.budget is not None:
        raise HettopError("usage", "--budget is for a sweep over batches or sizes", "hettop decide judges loads")
    check_result_options(arguments)
    units = tuple(unit.strip() for unit in arguments.units.split(","))
    options = SweepOptions(
        loads=_loads(DEFAULT_LOADS if arguments.loads is None else arguments.loads),
        runs=arguments.runs if arguments.runs or arguments.duration else DEFAULT_RUNS,
        duration_ns=arguments.duration,
        rest_ns=arguments.rest,
    )
    setup = prepare(model_options(arguments), units, os.cpu_count() or 1)
    _check_loads(setup, options)
    measure = MeasureOptions(
        warmup=arguments.warmup,
        interleave=True,
        canary=True,
        power=arguments.power,
        record=arguments.record,
        force=arguments.force,
    )
    sweep = Sweep(setup, measure, options, arguments.command[1:], raw_limit=RAW_LIMIT)
    # What it found joins the recording of its samples: there is none for the output to begin.
    with StudyOutput("sweep", arguments) as output:
        return _sweep(sweep, measure, output)


def _loads(text: str) -> tuple[tuple[LoadPart, ...], ...]:
    """The loads of a comma list, each once, in the order given. Raises HettopError (`usage`)."""
    loads = tuple(dict.fromkeys(parse_load(part.strip()) for part in text.split(",")))
    if len(loads) > MOST_LOADS:
        raise HettopError("usage", f"{len(loads)} loads are too many", f"give {MOST_LOADS} at most")
    return loads


def _check_loads(setup: Setup, options: SweepOptions) -> None:
    """Refuses loads that this machine cannot run before anything starts: a sweep may take hours."""
    if setup.simulated:
        return
    for parts in options.loads:
        why = unavailable(parts)
        if why is not None:
            raise HettopError("load-unavailable", why, "cpu and memory loads work everywhere")


def _sweep(sweep: Sweep, measure_options: MeasureOptions, output: StudyOutput) -> int:
    def known() -> dict[str, Any]:
        return loads_document(sweep.session, sweep.failed_loads)

    print_header_warnings(sweep.session)
    progress = ProgressStream(output.progress, known, partial_every_ns=0)

    def show() -> bool:
        progress.poll(f"load {sweep.load}", sweep.share_done, idle=sweep.resting)
        return False

    outcome = measure(sweep, show, output.progress.clear)
    with stop_signals_ignored():
        notes = [INTERRUPTED] if outcome.interrupted else []
        output.finish(
            lambda: loads_document(sweep.session, sweep.failed_loads, notes), lambda width: _text(sweep, notes, width)
        )
        sys.stdout.flush()
        if outcome.closed is not None:
            say_recorded(outcome.closed)
        say_power(sweep.session, measure_options)
    if outcome.interrupted:
        return EXIT_INTERRUPTED
    if any(condition.wall.n for condition in sweep.session.conditions.values()):
        return after_recording(0, outcome.closed, sweep.session)
    for unit in sweep.session.units.values():
        sys.stderr.write(
            f"hettop: {unit.name}: {clean(unit.error.message if unit.error else 'nothing measured', 400)}\n"
        )
    for load, why in sweep.failed_loads.items():
        sys.stderr.write(f"hettop: load {load}: {clean(why, 400)}\n")
    return EXIT_FAILED


def _text(sweep: Sweep, notes: list[str], width: int) -> str:
    title = wrapped(" · ".join(provenance(sweep.session)), width)
    page = conditions_text(sweep.session, sweep.failed_loads, width)
    return "\n".join([*title, "", ""]) + page + "".join(f"{note}\n" for note in notes)
