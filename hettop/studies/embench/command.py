"""`hettop embench`: the experiments of the paper on this machine."""

from __future__ import annotations

import argparse
import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from hettop.console.measuring import Outcome, measure
from hettop.console.signals import stop_signals_ignored
from hettop.errors import HettopError
from hettop.exits import EXIT_FAILED, EXIT_INTERRUPTED
from hettop.measurement.headless import Headless
from hettop.measurement.options import MeasureOptions, ModelOptions
from hettop.measurement.setup import Setup, prepare
from hettop.report.document import head
from hettop.session.session import RAW_LIMIT
from hettop.session.statistics import statistics
from hettop.sources.engine.backend import split_unit
from hettop.sources.engine.backends.onnxruntime import UNIT as CPU_UNIT
from hettop.sources.host import describe_host
from hettop.studies.embench.findings import embench_result
from hettop.studies.embench.measure import (
    NOT_TRIED,
    Conditions,
    Kept,
    Point,
    chosen_batches,
    chosen_networks,
    points_of,
)
from hettop.studies.embench.result import EmBenchResult, OpShares
from hettop.studies.layers.job import PROFILED, LayersJob, measure_in_child
from hettop.studies.output import StudyOutput
from hettop.text import clean
from hettop.units import NS_PER_S
from hettop.version import __version__

INTERRUPTED = "interrupted: not all was measured"


def run(arguments: argparse.Namespace) -> int:
    points = points_of(chosen_networks(arguments.nets), chosen_batches(arguments.batches))
    if not points:
        raise HettopError("usage", "no network to measure", "hettop models lists them")
    with StudyOutput("embench", arguments) as output:
        setup = prepare(_model(points[0], arguments), arguments.units, os.cpu_count() or 1)
        if setup.simulated:
            raise HettopError("usage", "the simulated machine has one network only", "leave out --backend simulated")
        output.begin(setup)
        return EmBench(setup, points, arguments, output).run()


def _model(point: Point, arguments: argparse.Namespace) -> ModelOptions:
    return ModelOptions(model=point.model, backend=arguments.backend)


class EmBench:
    """The networks one after another, each on every unit; then the shares of time by type of operation."""

    def __init__(self, setup: Setup, points: list[Point], arguments: argparse.Namespace, output: StudyOutput) -> None:
        self._setup, self._points, self._arguments, self._output = setup, points, arguments, output
        self._options = MeasureOptions(
            warmup=arguments.warmup, runs=arguments.runs, rest_ns=arguments.rest, power=arguments.power or "none"
        )
        conditions = Conditions(
            warmup=arguments.warmup,
            runs=arguments.runs,
            rest_ns=arguments.rest,
            backend=setup.backend,
            chip=describe_host().chip or "",
            hettop=__version__,
        )
        path = None if arguments.resume is None else Path(arguments.resume)
        self._kept = Kept(path, conditions)
        self._shares: list[OpShares] = []
        self._unit = next((unit for unit in setup.units if split_unit(unit)[0] == CPU_UNIT), "")
        """The unit whose time is reported by type of operation: ONNX Runtime profiles its CPU engine."""
        profiles = self._unit and setup.backend == PROFILED and not arguments.no_layers
        self._profiled = list(dict.fromkeys(point.network for point in points)) if profiles else []
        self._steps = len(points) + len(self._profiled)

    def run(self) -> int:
        """Returns the exit code. Raises HettopError as measuring does."""
        with closing(self._kept):
            self._kept.read()
            return self._run()

    def _run(self) -> int:
        interrupted = not all(self._measure(point, place) for place, point in enumerate(self._points))
        if not interrupted:
            interrupted = not self._profile()
        with stop_signals_ignored():
            notes = [INTERRUPTED] if interrupted else []
            result = self._result(notes)
            self._output.finish(result, lambda: self._document(result), self._title, interrupted=interrupted)
        if interrupted:
            return EXIT_INTERRUPTED
        if any(row.n for row in result.rows):
            return 0
        for why in dict.fromkeys(row.error or "nothing was measured" for row in result.rows):
            self._output.failed(why)
        return EXIT_FAILED

    def _measure(self, point: Point, place: int) -> bool:
        """Rows of one point on all units. Returns whether it was not interrupted."""
        missing = self._kept.missing(point, self._setup.units)
        for unit in missing:
            if self._kept.failed(point, unit):
                self._kept.add(point.row(unit, None, NOT_TRIED, tried=False))
        units = self._kept.missing(point, missing)
        if not units:
            return True
        outcome, headless = self._headless(point, units, place / self._steps)
        if outcome.interrupted:
            return False
        measured = {row.unit: row for row in statistics(headless.session)}
        for unit in units:
            self._kept.add(point.row(unit, measured.get(unit)))
        self._output.progress.partial(lambda: self._document(self._result([])))
        return True

    def _headless(self, point: Point, units: tuple[str, ...], share: float) -> tuple[Outcome, Headless]:
        setup = replace(prepare(_model(point, self._arguments), units, os.cpu_count() or 1), warnings=())
        headless = Headless(setup, self._options, raw_limit=RAW_LIMIT)

        def show() -> bool:
            self._output.progress.show(point.model, share)
            return False

        return measure(headless, show, lambda: None), headless

    def _profile(self) -> bool:
        """Shares of time by type of operation. Returns whether it was not interrupted."""
        for place, name in enumerate(self._profiled, len(self._points)):
            self._output.progress.show(f"operations of {name}", place / self._steps)
            job = LayersJob(model=name, unit=self._unit, warmup=2, runs=min(10, self._arguments.runs), roofs=False)
            try:
                by_op = measure_in_child(job).by_op
            except HettopError:
                continue  # a network that cannot be profiled has its row, with the reason, above
            except KeyboardInterrupt:
                return False
            self._shares.append(OpShares(network=name, unit=self._unit, by_op=by_op))
        return True

    def _result(self, notes: list[str]) -> EmBenchResult:
        rows = self._kept.ordered(self._points, self._setup.units)
        return embench_result(rows, self._shares, notes)

    def _document(self, result: EmBenchResult) -> dict[str, Any]:
        conditions = self._kept.conditions
        return {
            **head("embench"),
            "backend": conditions.backend,
            "chip": conditions.chip or None,
            "protocol": {"warmup": conditions.warmup, "runs": conditions.runs, "rest_s": conditions.rest_ns / NS_PER_S},
            **result.document(),
        }

    @property
    def _title(self) -> str:
        conditions = self._kept.conditions
        rest = f"{conditions.rest_ns / NS_PER_S:g} s of rest"
        return " · ".join(
            filter(
                None,
                [clean(conditions.chip), conditions.backend, f"{conditions.warmup} + {conditions.runs} calls", rest],
            )
        )
