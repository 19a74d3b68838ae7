"""`hettop predict`: how far latency predictors are off, on networks they have not seen and under load."""

from __future__ import annotations

import argparse
import os
from typing import Any

from hettop.console.signals import stop_signals_ignored
from hettop.errors import HettopError
from hettop.exits import EXIT_FAILED, EXIT_INTERRUPTED
from hettop.measurement.options import ModelOptions
from hettop.measurement.setup import Setup, prepare
from hettop.report.document import head
from hettop.sources.engine.backend import split_unit
from hettop.sources.engine.backends.onnxruntime import UNIT as CPU_UNIT
from hettop.sources.host import describe_host
from hettop.sources.load.parts import condition_of
from hettop.studies.embench.measure import chosen_networks
from hettop.studies.layers.job import PROFILED, LayersJob
from hettop.studies.output import StudyOutput
from hettop.studies.predict.findings import FEWEST_NETWORKS, predict_result
from hettop.studies.predict.measure import chosen_loads, measure_networks
from hettop.studies.predict.result import PredictResult
from hettop.text import clean

INTERRUPTED = "interrupted: not all networks were measured"


def run(arguments: argparse.Namespace) -> int:
    networks, loads = chosen_networks(arguments.nets), chosen_loads(arguments.loads)
    if len(networks) < FEWEST_NETWORKS:
        raise HettopError("usage", f"too few networks: {len(networks)}", f"name {FEWEST_NETWORKS} or more with --nets")
    with StudyOutput("predict", arguments) as output:
        setup = _prepare(networks[0], arguments.units)
        output.begin(setup)
        job = LayersJob(model=networks[0], unit=setup.units[0], warmup=arguments.warmup, runs=arguments.runs)
        try:
            measured, interrupted = measure_networks(networks, loads, job, output.progress.show)
        except KeyboardInterrupt:
            output.failed("interrupted: nothing was measured yet")
            raise
        with stop_signals_ignored():
            notes = [INTERRUPTED] if interrupted else []
            names = [condition_of(parts) for parts in loads]
            result = predict_result(setup.units[0], arguments.runs, measured, names, notes)
            output.finish(result, lambda: _document(result), _title(result), interrupted=interrupted)
        if interrupted:
            return EXIT_INTERRUPTED
        if result.accuracy:
            return 0
        for why in dict.fromkeys([*result.failures().values(), *result.notes]):
            output.failed(why)
    return EXIT_FAILED


def _prepare(model: str, unit: str) -> Setup:
    """Raises HettopError: `usage` for a unit whose layers have no times."""
    setup = prepare(ModelOptions(model=model, backend=PROFILED), (unit,), os.cpu_count() or 1)
    if len(setup.units) != 1 or split_unit(setup.units[0])[0] != CPU_UNIT:
        raise HettopError("usage", "layers are timed on one CPU unit", "use --units cpu, or cpu@N for N threads")
    return setup


def _document(result: PredictResult) -> dict[str, Any]:
    return {**head("predict"), "backend": PROFILED, "chip": describe_host().chip, **result.document()}


def _title(result: PredictResult) -> str:
    return " · ".join(filter(None, [clean(describe_host().chip or ""), PROFILED, result.unit, f"{result.runs} calls"]))
