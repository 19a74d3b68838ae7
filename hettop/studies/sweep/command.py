"""`hettop sweep`: one model over batches, image sizes or competing loads, in turns."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hettop.analysis.budget import Budget, parse_budget
from hettop.console.measuring import (
    after_recording,
    measure,
    print_header_warnings,
    print_power_problem,
    print_recorded,
    print_warnings,
)
from hettop.console.messages import print_error, print_warning
from hettop.console.progress import ProgressStream
from hettop.console.signals import stop_signals_ignored
from hettop.errors import HettopError
from hettop.exits import EXIT_FAILED, EXIT_INTERRUPTED
from hettop.format import group_names
from hettop.measurement.arguments import (
    check_result_options,
    model_options,
)
from hettop.measurement.options import MeasureOptions
from hettop.measurement.rounds import Rounds, Trial, samples_of, statistics_of
from hettop.measurement.setup import Setup, load_warnings, prepare
from hettop.processes.cpus import usable_threads
from hettop.report.conditions import conditions_blocks, conditions_document
from hettop.report.document import session_document
from hettop.report.page import Items
from hettop.report.verdict_words import provenance
from hettop.session.session import RAW_LIMIT
from hettop.sources.host import cpu_seconds
from hettop.sources.load.parts import LoadPart, condition_of, parse_load
from hettop.sources.load.source import unavailable
from hettop.studies.output import StudyOutput
from hettop.studies.rounds import (
    INTERRUPTED,
    exit_code,
    heading,
    make_rounds,
    measure_rounds,
    print_recordings,
    study_options,
)
from hettop.studies.sweep.curves import PointResult, judged
from hettop.studies.sweep.loads import Sweep, SweepOptions
from hettop.studies.sweep.measure import Point, core_ml_compilations, make_points, points_result
from hettop.studies.sweep.options import DEFAULT_LOADS, DEFAULT_REST_NS, DEFAULT_RUNS
from hettop.studies.sweep.page import contention_blocks, headline_blocks
from hettop.studies.sweep.result import SweepResult

MOST_LOADS = 64


def run(arguments: argparse.Namespace) -> int:
    if arguments.batch_axis and arguments.batch is None:
        raise HettopError("usage", "--batch-axis needs --batch", "leave out --batch-axis")
    if arguments.batch is not None or arguments.size is not None:
        if arguments.loads is not None:
            raise HettopError("usage", "options exclude each other: --loads, --batch or --size", "run two sweeps")
        if arguments.power is not None:
            raise HettopError("usage", "--power needs --loads: turns of points are too short", "leave out --power")
        if arguments.rest is not None:
            raise HettopError("usage", "--rest needs --loads", "leave out --rest")
        if arguments.alone:
            raise HettopError("usage", "--alone needs --loads", "leave out --alone")
        return run_points(arguments)
    if arguments.budget is not None:
        raise HettopError("usage", "--budget needs --batch or --size", "use hettop decide --load to judge a load")
    check_result_options(arguments)
    options = SweepOptions(
        loads=_loads(DEFAULT_LOADS if arguments.loads is None else arguments.loads),
        runs=arguments.runs if arguments.runs or arguments.duration else DEFAULT_RUNS,
        duration_ns=arguments.duration,
        rest_ns=DEFAULT_REST_NS if arguments.rest is None else arguments.rest,
        alone=arguments.alone,
    )
    setup = prepare(model_options(arguments), arguments.units, usable_threads())
    _check_loads(setup, options)
    measure = MeasureOptions(
        warmup=arguments.warmup,
        interleave=True,
        canary=True,
        power=arguments.power,
        record=arguments.record,
        force=arguments.force,
    )
    sweep = Sweep(
        setup,
        measure,
        options,
        arguments.command[1:],
        raw_limit=RAW_LIMIT,
        cpu_seconds=None if setup.simulated else cpu_seconds,
    )
    # What it found joins the recording of its samples: there is none for the output to begin.
    with StudyOutput("sweep", arguments) as output:
        return _sweep(sweep, measure, output)


def _loads(text: str) -> tuple[tuple[LoadPart, ...], ...]:
    """The loads of a comma list, each once, in the order given. Raises HettopError (`usage`)."""
    loads = tuple(dict.fromkeys(parse_load(part.strip()) for part in text.split(",")))
    if len(loads) > MOST_LOADS:
        raise HettopError("usage", f"too many loads: {len(loads)}", f"the limit is {MOST_LOADS}")
    return loads


def _check_loads(setup: Setup, options: SweepOptions) -> None:
    """Refuses loads that this machine cannot run before anything starts: a sweep may take hours."""
    if setup.simulated:
        return
    for parts in options.loads:
        why = unavailable(parts)
        if why is not None:
            raise HettopError("load-unavailable", why, "cpu and memory loads work everywhere")
        print_warnings(load_warnings(condition_of(parts), usable_threads()))


def _sweep(sweep: Sweep, measure_options: MeasureOptions, output: StudyOutput) -> int:
    def known() -> dict[str, Any]:
        return _loads_document(sweep, sweep.result(certain=False), [])

    print_header_warnings(sweep.session)
    progress = ProgressStream(output.progress, known, partial_every_ns=0)

    def show() -> bool:
        progress.poll(f"load {sweep.load}", sweep.share_done, idle=sweep.resting)
        return False

    outcome = measure(sweep, show, output.progress.clear)
    with stop_signals_ignored():
        notes = [INTERRUPTED] if outcome.interrupted else []
        session = sweep.session
        result = sweep.result()
        page = [
            *headline_blocks(result),
            *contention_blocks(result),
            *conditions_blocks(session, sweep.failed_loads),
            Items(notes),
        ]
        output.finish(result, lambda: _loads_document(sweep, result, notes), " · ".join(provenance(session)), page)
        sys.stdout.flush()
        if outcome.closed is not None:
            print_recorded(outcome.closed)
        print_power_problem(sweep.session, measure_options)
    if outcome.interrupted:
        return EXIT_INTERRUPTED
    if any(condition.wall.n for condition in sweep.session.conditions.values()):
        return after_recording(0, outcome.closed, sweep.session)
    failed = [(unit.name, unit.error) for unit in sweep.session.units.values()]
    reasons = ((unit, (error.message, error.hint) if error else ("nothing was measured", "")) for unit, error in failed)
    for units, (why, hint) in group_names(reasons):
        print_error(f"{units}: {why}", hint)
    for load, why in sweep.failed_loads.items():
        print_error(f"load {load}: {why}")
    return EXIT_FAILED


def _loads_document(sweep: Sweep, result: SweepResult, notes: list[str]) -> dict[str, Any]:
    """Statistics, the matrix, how wrong estimates are, loads that could not be had, and the result."""
    session = sweep.session
    return {
        **session_document(session, name="sweep"),
        **conditions_document(session),
        **result.document(),
        "failed_loads": dict(sweep.failed_loads),
        "notes": notes,
    }


MOST_POINTS = 64
LARGEST = 65_536
COMPILATIONS_TO_WARN_OF = 10
"""Each takes disk space of about the model's size, and macOS keeps it."""
COMPILATION_WARNING = "Core ML compiles {count} times for this sweep, and macOS keeps what it compiles"
COMPILATION_HINT = "hettop doctor shows the sizes of its caches and how to clear them"

_SIZE = re.compile(r"(?P<height>[1-9][0-9]{0,4})(?:[x×](?P<width>[1-9][0-9]{0,4}))?")


def run_points(arguments: argparse.Namespace) -> int:
    """Measure every point on every unit; a point that fails is a row with the reason."""
    batches, sizes = parse_batches(arguments.batch), parse_sizes(arguments.size)
    if max(1, len(batches)) * max(1, len(sizes)) > MOST_POINTS:
        raise HettopError("usage", "too many points", f"the limit is {MOST_POINTS}")
    budget = parse_budget(arguments.budget, None)
    axes = dict(map(parse_batch_axis, arguments.batch_axis))
    options = model_options(arguments)
    with StudyOutput("sweep", study_options(arguments)) as output:
        output.progress.show("preparing the points …")
        setup, points = make_points(options, arguments.units, usable_threads(), batches=batches, sizes=sizes, axes=axes)
        if (count := core_ml_compilations(setup, points)) >= COMPILATIONS_TO_WARN_OF:
            output.progress.clear()
            print_warning(COMPILATION_WARNING.format(count=count), COMPILATION_HINT)
        output.begin(setup)
        rounds = make_rounds([point.candidate for point in points], setup.units, arguments, DEFAULT_RUNS)
        return _measure(PointSweep(setup, points, rounds, budget), output)


def parse_batches(text: str | None) -> list[int]:
    """`1,2,4` as numbers. Raises HettopError (`usage`)."""
    parts = [] if text is None else [part.strip() for part in text.split(",")]
    for part in parts:
        if not re.fullmatch(r"[1-9][0-9]{0,4}", part) or int(part) > LARGEST:
            raise HettopError("usage", f"invalid batch size: {part[:40]!r}", "write --batch 1,2,4,8,16,32")
    return [int(part) for part in parts]


def parse_batch_axis(text: str) -> tuple[str, int]:
    """`NAME=1` as name and axis. Raises HettopError (`usage`)."""
    name, equals, axis = text.rpartition("=")
    if not (equals and name and re.fullmatch("[0-9]", axis)):
        raise HettopError("usage", f"invalid --batch-axis: {text[:40]!r}", "example: NAME=1, counted from 0")
    return name, int(axis)


def parse_sizes(text: str | None) -> list[tuple[int, int]]:
    """`224,320x448` as (height, width). Raises HettopError (`usage`)."""
    found = []
    for part in [] if text is None else text.split(","):
        match = _SIZE.fullmatch(part.strip())
        if match is None:
            raise HettopError(
                "usage", f"invalid image size: {part[:40]!r}", "write --size 224,320,448x224 (height x width)"
            )
        found.append((int(match["height"]), int(match["width"] or match["height"])))
    return found


@dataclass(frozen=True, slots=True)
class PointSweep:
    """A sweep over points that is under way, or has been."""

    setup: Setup
    points: Sequence[Point]
    rounds: Rounds
    budget: Budget | None

    def results(self) -> list[PointResult]:
        """Of every point on every unit."""
        return [self._result(trial, modes=True) for trial in self.rounds.trials]

    def results_so_far(self) -> list[PointResult]:
        """Of those that had a turn, and of those that cannot be had; without what would take long to work out."""
        begun = [trial for trial in self.rounds.trials if trial.error is not None or trial.steady[0]]
        return [self._result(trial, modes=False) for trial in begun]

    def document(self, result: SweepResult) -> dict[str, Any]:
        _, head = heading(self.setup, self.rounds.trials, "sweep")
        return {**head, **result.document()}

    @property
    def title(self) -> str:
        return heading(self.setup, self.rounds.trials, "sweep")[0]

    def _result(self, trial: Trial, *, modes: bool) -> PointResult:
        point = next(point for point in self.points if point.candidate is trial.candidate)
        statistics, samples = statistics_of(trial, self.setup.backend, modes=modes), samples_of(trial)
        name = point.candidate.name or "as it is"
        result = PointResult(name, point.batch, point.height, point.width, statistics, samples)
        return replace(result, judgement=judged(result, self.budget))


def _measure(sweep: PointSweep, output: StudyOutput) -> int:
    def so_far() -> dict[str, Any]:
        return sweep.document(points_result(sweep.results_so_far(), sweep.budget, certain=False))

    interrupted = measure_rounds(sweep.rounds, output, so_far)
    with stop_signals_ignored():
        results, notes = sweep.results(), [INTERRUPTED] if interrupted else []
        result = points_result(results, sweep.budget, notes)
        output.finish(result, lambda: sweep.document(result), sweep.title, interrupted=interrupted)
        print_recordings(sweep.rounds.trials)
    code = exit_code([result.statistics for result in results], interrupted, output)
    for trial in sweep.rounds.trials:
        if trial.session is not None:
            code = after_recording(code, trial.closed, trial.session)
    return code
