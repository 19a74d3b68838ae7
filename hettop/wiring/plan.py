"""Joins what the user asked for to a plan: a cost table measured here, the best plan or the user's own, and its run.

Imports no framework; wrong use ends here, with a hint.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hettop.cutting.child import run_in_child, survey_in_child
from hettop.cutting.costs import BYTES_PER_MB, cost_table
from hettop.cutting.messages import Piece, Subject
from hettop.cutting.result import Survey
from hettop.engine.backend import split_unit
from hettop.errors import HettopError
from hettop.report.sliced import Sliced
from hettop.slicing.baselines import baselines
from hettop.slicing.costs import ENERGY, CostTable, for_objective
from hettop.slicing.described import Described, extend, load_described
from hettop.slicing.given import read_plan
from hettop.slicing.planner import Plan, plan
from hettop.text import clean
from hettop.wiring.options import ModelOptions
from hettop.wiring.setup import DEFAULT_BACKEND, Setup, prepare

CPU = "CPU_ONLY"
HIGHEST = 1e6  # watts, or MB: no device has more


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
    if options.backend not in (None, DEFAULT_BACKEND):
        hint = "leave out --backend: Core ML files are translated"
        raise HettopError("usage", f"only {DEFAULT_BACKEND} tells the time of each layer", hint)
    setup = prepare(replace(options, backend=DEFAULT_BACKEND), devices or ("all",), cores)
    if devices is None:
        threaded = tuple(unit for unit in setup.units if split_unit(unit)[1] is not None)
        return replace(setup, units=threaded or setup.units)
    for unit in setup.units:
        if split_unit(unit)[0] != CPU:
            raise HettopError(
                "unsupported-unit",
                f"{unit}: Core ML tells no time by layer, so there is no table to plan by",
                f"devices are {CPU}@N; or give a table of your own with --costs",
            )
    return setup


def make_plan(setup: Setup, model: str, options: PlanOptions, tell: Callable[[str], None]) -> Sliced:
    """Measures, plans and with `options.run` runs. Raises HettopError."""
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
    tell("measuring layers and cuts, some seconds …")
    survey = survey_in_child(subject)
    costs = cost_table(devices, survey, limits_mb=limits, watts=watts if options.objective == ENERGY else None)
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
    tell("running the plan, some seconds …")
    return replace(sliced, ran=run_in_child(subject, pieces(survey, table, best)))


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
