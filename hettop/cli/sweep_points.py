"""`hettop sweep --batch … --size …`: one model in several shapes, in turns, and what their curves tell."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hettop.analysis.budget import Budget, parse_budget
from hettop.analysis.sweeps import PointResult, judged
from hettop.cli.measuring import after_recording
from hettop.cli.output import StudyOutput
from hettop.cli.rounds import (
    INTERRUPTED,
    exit_code,
    heading,
    make_rounds,
    measure_rounds,
    say_recordings,
    study_options,
)
from hettop.cli.signals import stop_signals_ignored
from hettop.errors import HettopError
from hettop.measurement.arguments import model_options
from hettop.measurement.rounds import Rounds, Trial
from hettop.measurement.setup import Setup
from hettop.measurement.trials import samples_of, statistics_of
from hettop.studies.sweep.page import sweep_document, sweep_text
from hettop.studies.sweep.points import Point, core_ml_compilations, make_points

MOST_POINTS = 64
LARGEST = 65_536
DEFAULT_RUNS = 100
COMPILATIONS_TO_WARN_OF = 10
"""Each takes disk space of about the model's size, and macOS keeps it."""
COMPILATION_WARNING = """\
warning: this sweep makes Core ML compile {count} times, and macOS keeps what it compiles
hint: hettop doctor shows the sizes of its caches and how to clear them
"""

_SIZE = re.compile(r"(?P<height>[1-9][0-9]{0,4})(?:[x×](?P<width>[1-9][0-9]{0,4}))?")


def run_points(arguments: argparse.Namespace) -> int:
    """Measure every point on every unit; a point that fails is a row with the reason."""
    batches, sizes = parse_batches(arguments.batch), parse_sizes(arguments.size)
    if max(1, len(batches)) * max(1, len(sizes)) > MOST_POINTS:
        raise HettopError("usage", "a sweep of so many points", f"{MOST_POINTS} at most")
    budget = parse_budget(arguments.budget, None)
    units = tuple(unit.strip() for unit in arguments.units.split(","))
    options = model_options(arguments)
    with StudyOutput("sweep", study_options(arguments)) as output:
        output.progress.show("preparing the points …")
        setup, points = make_points(options, units, os.cpu_count() or 1, batches=batches, sizes=sizes)
        if (count := core_ml_compilations(setup, points)) >= COMPILATIONS_TO_WARN_OF:
            output.progress.clear()
            sys.stderr.write(COMPILATION_WARNING.format(count=count))
        output.begin(setup)
        rounds = make_rounds([point.candidate for point in points], setup.units, arguments, DEFAULT_RUNS)
        return _measure(PointSweep(setup, points, rounds, budget), output)


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

    def document(self, results: Sequence[PointResult], notes: Sequence[str], *, certain: bool) -> dict[str, Any]:
        _, head = heading(self.setup, self.rounds.trials)
        return {**head, **sweep_document(results, self.budget, notes, certain=certain)}

    def text(self, results: Sequence[PointResult], notes: Sequence[str], width: int) -> str:
        title, _ = heading(self.setup, self.rounds.trials)
        return sweep_text(title, results, self.budget, width, notes)

    def _result(self, trial: Trial, *, modes: bool) -> PointResult:
        point = next(point for point in self.points if point.candidate is trial.candidate)
        statistics, samples = statistics_of(trial, self.setup.backend, modes=modes), samples_of(trial)
        name = point.candidate.name or "as it is"
        result = PointResult(name, point.batch, point.height, point.width, statistics, samples)
        return replace(result, judgement=judged(result, self.budget))


def _measure(sweep: PointSweep, output: StudyOutput) -> int:
    def so_far() -> dict[str, Any]:
        return sweep.document(sweep.results_so_far(), [], certain=False)

    interrupted = measure_rounds(sweep.rounds, output, so_far)
    with stop_signals_ignored():
        results, notes = sweep.results(), [INTERRUPTED] if interrupted else []
        output.finish(
            lambda: sweep.document(results, notes, certain=True),
            lambda width: sweep.text(results, notes, width),
            interrupted=interrupted,
        )
        say_recordings(sweep.rounds.trials)
    code = exit_code([result.statistics for result in results], interrupted)
    for trial in sweep.rounds.trials:
        if trial.session is not None:
            code = after_recording(code, trial.closed, trial.session)
    return code
