"""Joins what the user asked for to a plan: a cost table measured here, the best plan or the user's own, and its run.

Imports no framework; wrong use ends here, with a hint.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hettop.errors import HettopError
from hettop.measurement.options import ModelOptions
from hettop.measurement.setup import DEFAULT_BACKEND, Setup, prepare
from hettop.sources.engine.backend import split_unit
from hettop.studies.plan import coreml_slices
from hettop.studies.plan.cutting.child import run_in_child, survey_in_child
from hettop.studies.plan.cutting.coreml_child import CoreML
from hettop.studies.plan.cutting.costs import cost_table
from hettop.studies.plan.cutting.messages import MeasuringProgress, Piece, Subject
from hettop.studies.plan.cutting.progress import run_weight, survey_weight
from hettop.studies.plan.cutting.result import Survey
from hettop.studies.plan.measure import Sliced
from hettop.studies.plan.slicing.baselines import baselines
from hettop.studies.plan.slicing.costs import ENERGY, CostTable, for_objective
from hettop.studies.plan.slicing.described import Described, extend, load_described
from hettop.studies.plan.slicing.given import read_plan
from hettop.studies.plan.slicing.planner import Plan, plan
from hettop.text import clean
from hettop.units import BYTES_PER_MB

CPU = "CPU_ONLY"
HIGHEST = 1e6  # watts, or MB: no device has more

Say = Callable[[str, float | None], None]
"""What is going on, and the share of all that is done, 0..1, None where that is not known."""


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What to plan: by which objective, with which watts and limits by device, or a plan that is given in words.

    described: a file that describes further devices.
    """

    objective: str = "latency"
    watts: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    given: str | None = None
    described: str | None = None
    run: bool = False
    warmup: int = 10
    runs: int = 50


def prepare_devices(options: ModelOptions, devices: tuple[str, ...] | None, cores: int) -> Setup:
    """The model and its devices; without `devices` one for each number of threads. Raises HettopError: as `prepare`."""
    if coreml_slices.wanted(options, devices):
        return coreml_slices.prepare_units(options, devices, cores)
    if options.backend not in (None, DEFAULT_BACKEND):
        hint = "leave out --backend: Core ML files are translated"
        raise HettopError("usage", f"only {DEFAULT_BACKEND} tells the time of each layer, and Core ML's plan", hint)
    setup = prepare(replace(options, backend=DEFAULT_BACKEND), devices or ("all",), cores)
    if devices is None:
        threaded = tuple(unit for unit in setup.units if split_unit(unit)[1] is not None)
        return replace(setup, units=threaded or setup.units)
    for unit in setup.units:
        if split_unit(unit)[0] != CPU:
            raise HettopError(
                "unsupported-unit",
                f"{unit}: ONNX Runtime tells no time by layer there, so there is no table to plan by",
                f"devices are {CPU}@N; on a Mac, units of an ML Program with --backend coreml; or a table with --costs",
            )
    return setup


def make_plan(
    setup: Setup, model: str, options: PlanOptions, say: Say, known: Callable[[Sliced], None] = lambda _sliced: None
) -> Sliced:
    """Measures, plans and with `options.run` runs; `known` takes the plan before it is run. Raises HettopError."""
    devices = setup.units
    watts = _by_device(options.watts, devices, "--watts", "CPU_ONLY@1=3.5")
    limits = _by_device(options.limits, devices, "--limit", "CPU_ONLY@1=100")
    lacking = [device for device in devices if device not in watts]
    if options.objective == ENERGY and lacking:
        raise HettopError(
            "usage", f"the watts of {', '.join(lacking)} are unknown", "tell each device's: --watts CPU_ONLY@1=3.5"
        )
    described = load_described(Path(options.described)) if options.described is not None else ()
    if described and options.run and options.given is None:
        raise HettopError("usage", f"{clean(described[0].name)} is only described", "leave out --run or --describe")
    subject = _subject(setup, model, options)
    measuring, running = survey_weight(len(devices)), run_weight(len(devices)) if options.run else 0.0
    planned = measuring / (measuring + running)

    def listen(told: MeasuringProgress) -> None:
        say(told.doing, told.share * planned)

    core_ml = CoreML(subject, setup.hints, listen) if setup.backend == coreml_slices.COREML else None
    if core_ml is None:
        survey = survey_in_child(subject, listen)
    else:
        found = core_ml.survey()
        survey, limits = found.survey, coreml_slices.tightened(limits, found.limits_mb)
    say("communication by size, and the cheapest plan", planned)
    costs = cost_table(devices, survey, limits_mb=limits, watts=watts if options.objective == ENERGY else None)
    if core_ml is not None:
        costs = coreml_slices.without_untried_cuts(costs, survey)
    costs = replace(costs, table=_extended(costs.table, described, survey))
    table = for_objective(costs.table, options.objective)
    began = time.perf_counter_ns()
    best = plan(table) if options.given is None else read_plan(table, options.given)
    planner_ms = (time.perf_counter_ns() - began) / 1e6
    sliced = Sliced(
        survey, costs, table, best, baselines(table), options.objective, planner_ms, given=options.given is not None
    )
    if not options.run:
        return sliced
    absent = [table.devices[each.device] for each in best.slices if table.devices[each.device] not in devices]
    if absent:
        raise HettopError("usage", f"{clean(absent[0])} is only described: nothing runs there", "leave out --run")
    known(sliced)

    def on_progress(told: MeasuringProgress) -> None:
        say(told.doing, planned + told.share * (1 - planned))

    cut = pieces(survey, table, best)
    return replace(
        sliced, ran=core_ml.run(survey, cut, on_progress) if core_ml else run_in_child(subject, cut, on_progress)
    )


def pieces(survey: Survey, table: CostTable, chosen: Plan) -> list[Piece]:
    """The plan's slices of layers as slices of steps."""
    return [
        Piece(
            first=survey.layers[each.first].first,
            last=survey.layers[each.last].last,
            device=table.devices[each.device],
        )
        for each in chosen.slices
    ]


def _extended(table: CostTable, described: Sequence[Described], survey: Survey) -> CostTable:
    cut_mb = [layer.crossing_bytes / BYTES_PER_MB for layer in survey.layers]
    return extend(table, described, [layer.ops for layer in survey.layers], cut_mb)


def _subject(setup: Setup, model: str, options: PlanOptions) -> Subject:
    return Subject(
        model=model,
        devices=setup.units,
        function=setup.function,
        seed=setup.inputs.seed,
        shapes=dict(setup.inputs.shapes),
        values=dict(setup.inputs.values),
        warmup=options.warmup,
        runs=options.runs,
    )


def _by_device(texts: Sequence[str], devices: Sequence[str], option: str, example: str) -> dict[str, float]:
    found = {}
    for text in texts:
        device, _, value = text.partition("=")
        try:
            number = float(value)
        except ValueError:
            number = -1.0
        if not 0 < number <= HIGHEST:
            raise HettopError(
                "usage", f"{option} {clean(text, 60)}: no number for a device", f"write {option} {example}"
            )
        if device not in devices:
            raise HettopError(
                "usage", f"{option}: {clean(device, 60)!r} is no device here", f"devices: {', '.join(devices)}"
            )
        found[device] = number
    return found
