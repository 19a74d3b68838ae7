"""`hettop sweep --batch … --size …`: one model in several shapes, in turns, and what their curves tell."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import sys
from typing import TYPE_CHECKING

from hettop.commands.options import model_options
from hettop.errors import HettopError
from hettop.wiring.options import MeasureOptions

if TYPE_CHECKING:
    from hettop.analysis.budget import Budget
    from hettop.analysis.sweeps import PointResult
    from hettop.wiring.points import Point
    from hettop.wiring.rounds import Rounds
    from hettop.wiring.setup import Setup

MOST_POINTS = 64
LARGEST = 65_536
DEFAULT_RUNS = 100
_SIZE = re.compile(r"(?P<height>[1-9][0-9]{0,4})(?:[x×](?P<width>[1-9][0-9]{0,4}))?")


def run_points(arguments: argparse.Namespace) -> int:
    """Measure every point on every unit; a point that fails is a row with the reason."""
    from hettop.analysis.budget import parse_budget
    from hettop.session.session import RAW_LIMIT
    from hettop.wiring.points import make_points
    from hettop.wiring.rounds import Rounds

    batches, sizes = parse_batches(arguments.batch), parse_sizes(arguments.size)
    if max(1, len(batches)) * max(1, len(sizes)) > MOST_POINTS:
        raise HettopError("usage", "a sweep of so many points", f"{MOST_POINTS} at most")
    budget = parse_budget(arguments.budget, None)
    units = tuple(unit.strip() for unit in arguments.units.split(","))
    options = model_options(arguments)
    setup, points = make_points(options, units, os.cpu_count() or 1, batches=batches, sizes=sizes)
    measure = MeasureOptions(
        warmup=arguments.warmup,
        runs=arguments.runs if arguments.runs or arguments.duration else DEFAULT_RUNS,
        duration_ns=arguments.duration,
        power="none",
        record=arguments.record,
        force=arguments.force,
    )
    rounds = Rounds([point.candidate for point in points], setup.units, measure, raw_limit=RAW_LIMIT)
    return _measure(setup, points, rounds, budget, as_json=arguments.as_json)


def parse_batches(text: str | None) -> list[int]:
    """`1,2,4` as numbers. Raises HettopError (`usage`)."""
    parts = [] if text is None else [part.strip() for part in text.split(",")]
    for part in parts:
        if not re.fullmatch(r"[1-9][0-9]{0,4}", part) or int(part) > LARGEST:
            raise HettopError("usage", f"{part[:40]!r} is no batch", "write --batch 1,2,4,8,16,32")
    return [int(part) for part in parts]


def parse_sizes(text: str | None) -> list[tuple[int, int]]:
    """`224,320x448` as (height, width). Raises HettopError (`usage`)."""
    found = []
    for part in [] if text is None else text.split(","):
        match = _SIZE.fullmatch(part.strip())
        if match is None:
            raise HettopError("usage", f"{part[:40]!r} is no size", "write --size 224,320,448x224 (height x width)")
        found.append((int(match["height"]), int(match["width"] or match["height"])))
    return found


def _measure(setup: Setup, points: list[Point], rounds: Rounds, budget: Budget | None, *, as_json: bool) -> int:
    from hettop.commands.closing import undisturbed
    from hettop.commands.measuring import after_recording
    from hettop.commands.rounds import exit_code, run_rounds, say_recordings

    interrupted = run_rounds(rounds)
    with undisturbed():
        results = _results(setup, points, rounds, budget)
        _print(setup, rounds, results, budget, as_json=as_json)
        say_recordings(rounds.trials)
    code = exit_code([result.statistics for result in results], interrupted)
    for trial in rounds.trials:
        if trial.session is not None:
            code = after_recording(code, trial.closed, trial.session)
    return code


def _results(setup: Setup, points: list[Point], rounds: Rounds, budget: Budget | None) -> list[PointResult]:
    from dataclasses import replace

    from hettop.analysis.sweeps import PointResult, judged
    from hettop.wiring.trials import samples_of, statistics_of

    by_name = {point.candidate.name: point for point in points}
    found = []
    for trial in rounds.trials:
        point = by_name[trial.candidate.name]
        statistics, samples = statistics_of(trial, setup.backend), samples_of(trial)
        name = point.candidate.name or "as it is"
        result = PointResult(name, point.batch, point.height, point.width, statistics, samples)
        found.append(replace(result, judgement=judged(result, budget)))
    return found


def _print(setup: Setup, rounds: Rounds, results: list[PointResult], budget: Budget | None, *, as_json: bool) -> None:
    from hettop.commands.rounds import heading
    from hettop.report.document import to_json
    from hettop.report.sweeps import sweep_document, sweep_text

    title, head = heading(setup, rounds.trials)
    if as_json:
        sys.stdout.write(to_json({**head, **sweep_document(results, budget)}) + "\n")
    else:
        sys.stdout.write(sweep_text(title, results, budget, shutil.get_terminal_size((100, 24)).columns))
    sys.stdout.flush()
