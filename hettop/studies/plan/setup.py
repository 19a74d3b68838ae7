"""Prepares a plan: a cost table measured here or on the units of a Mac, the best plan or the given one, and its run.

Imports no framework; wrong use ends here, with a hint.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from hettop.compute_units import CORE_ML_UNITS, is_provider_unit
from hettop.errors import HettopError
from hettop.measurement.options import ModelOptions
from hettop.measurement.power import LivePower, PowerHere
from hettop.measurement.setup import DEFAULT_BACKEND, Setup, prepare, usual_backend
from hettop.sources.cpufreq import CpuFrequency
from hettop.sources.engine.backend import split_unit
from hettop.sources.engine.backends import create
from hettop.sources.power.source import this_machine
from hettop.studies.plan.cutting.child import OnProgress, run_in_child, survey_in_child
from hettop.studies.plan.cutting.coreml_child import CoreML
from hettop.studies.plan.cutting.costs import Costs, cost_table
from hettop.studies.plan.cutting.messages import MeasuringProgress, Piece, Subject, run_weight, survey_weight
from hettop.studies.plan.cutting.result import Survey
from hettop.studies.plan.energy import LayerPower, layer_power, power_of
from hettop.studies.plan.frequencies import governed, profiled, staged
from hettop.studies.plan.measure import RANDOM, Other, Sliced
from hettop.studies.plan.slicing.baselines import ON_DEMAND, baseline_notes, baseline_plans, baselines
from hettop.studies.plan.slicing.costs import ENERGY, CostTable, for_objective, times_of
from hettop.studies.plan.slicing.described import Described, extend, load_described
from hettop.studies.plan.slicing.levels import with_levels
from hettop.studies.plan.slicing.planner import Plan, Slice, plan, read_plan
from hettop.studies.plan.slicing.search import random_plans, search
from hettop.text import clean
from hettop.units import BYTES_PER_MB

CPU = "CPU_ONLY"
HIGHEST = 1e6  # watts, or MB: no device has more

Say = Callable[[str, float | None], None]
"""What is going on, and the share of all that is done, 0..1, None where that is not known."""


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What to plan: by which objective, with which watts and limits by device, or a plan that is given in words.

    described: a file that describes further devices. run_random: how many random plans to run as well, and the
    baselines' plans. frequencies: whether to profile at the lowest and the highest CPU
    frequency. power: the source that measures the energy of each layer, None for none.
    """

    objective: str = "latency"
    watts: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    given: str | None = None
    described: str | None = None
    run: bool = False
    run_random: int = 0
    frequencies: bool = False
    power: str | None = None
    warmup: int = 10
    runs: int = 50


def prepare_devices(options: ModelOptions, devices: tuple[str, ...] | None, cores: int) -> Setup:
    """The model and its devices; without `devices` one for each number of threads. Raises HettopError: as `prepare`."""
    if wanted(options, devices):
        return prepare_units(options, devices, cores)
    if options.backend not in (None, DEFAULT_BACKEND):
        hint = "leave out --backend: Core ML files are translated"
        raise HettopError("usage", f"per-layer costs need {DEFAULT_BACKEND} or Core ML's plan", hint)
    if options.custom_ops:
        raise HettopError("usage", "plans load no libraries of custom operators", "leave out --custom-ops")
    setup = prepare(replace(options, backend=DEFAULT_BACKEND), devices or ("all",), cores)
    if devices is None:
        threaded = tuple(unit for unit in setup.units if split_unit(unit)[1] is not None)
        return replace(setup, units=threaded or setup.units)
    for unit in setup.units:
        if split_unit(unit)[0] != CPU and not is_provider_unit(unit):
            raise HettopError(
                "unsupported-unit",
                f"{unit}: no per-layer times from ONNX Runtime there",
                f"devices are {CPU}@N and those of execution providers (OV:CPU); on a Mac, units of an ML Program "
                "with --backend coreml; or a table with --costs",
            )
    return setup


def make_plan(
    setup: Setup,
    model: str,
    options: PlanOptions,
    say: Say,
    known: Callable[[Sliced], None] = lambda _sliced: None,
    *,
    cpu: CpuFrequency | None = None,
) -> Sliced:
    """Measures, plans and with `options.run` runs; `known` takes the plan before it is run. Raises HettopError.

    cpu: sets frequencies for `options.frequencies`, of this machine if None.
    """
    _refuse(setup, options)
    described = load_described(Path(options.described)) if options.described is not None else ()
    if described and options.run and options.given is None:
        raise HettopError(
            "usage", f"cannot run on {clean(described[0].name)}: it is only described", "leave out --run or --describe"
        )
    devices, subject = setup.units, _subject(setup, model, options)
    measuring = survey_weight(len(devices))
    running = run_weight(len(devices), options.run_random) if options.run else 0.0
    planned = measuring / (measuring + running)

    def listen(progress: MeasuringProgress) -> None:
        say(progress.doing, progress.share * planned)

    measured = _measured(setup, subject, options, listen, cpu or CpuFrequency())
    say("communication by size, and the cheapest plan", planned)
    costs = replace(measured.costs, table=_extended(measured.costs.table, described, measured.survey))
    sliced = _planned(replace(measured, costs=costs), options)
    if not options.run:
        return sliced
    table, best = sliced.table, sliced.plan
    absent = [table.devices[each.device] for each in best.slices if table.devices[each.device] not in devices]
    if absent:
        raise HettopError("usage", f"cannot run on {clean(absent[0])}: it is only described", "leave out --run")
    known(sliced)

    def on_progress(progress: MeasuringProgress) -> None:
        say(progress.doing, planned + progress.share * (1 - planned))

    cut = pieces(sliced.survey, table, best.slices)
    if measured.core_ml is not None:
        return replace(sliced, ran=measured.core_ml.run(sliced.survey, cut, on_progress))
    others = other_plans(table.only(range(len(devices))), best, options.run_random)
    other_pieces = [pieces(sliced.survey, table, each.slices) for each in others]
    sliced = replace(sliced, ran=run_in_child(subject, cut, on_progress, others=other_pieces), others=others)
    if options.power is None:
        return sliced
    with closing(_power_source(options.power)) as source:
        return replace(sliced, slice_power=power_of(subject, cut, source, lambda each: say(each.doing, None)))


@dataclass(frozen=True, slots=True)
class _Measured:
    """Costs in ms. governed: measured ms of preferred devices under governors, by name of the baseline."""

    survey: Survey
    costs: Costs
    core_ml: CoreML | None = None
    governed: Mapping[str, float] = field(default_factory=dict)
    power: LayerPower | None = None


def _measured(setup: Setup, subject: Subject, options: PlanOptions, listen: OnProgress, cpu: CpuFrequency) -> _Measured:
    devices = setup.units
    watts = _by_device(options.watts, devices, "--watts", "CPU_ONLY@1=3.5") if options.objective == ENERGY else None
    limits = _by_device(options.limits, devices, "--limit", "CPU_ONLY@1=100")
    if setup.backend == COREML:
        core_ml = CoreML(subject, setup.hints, listen)
        found = core_ml.survey()
        limits = tightened(limits, found.limits_mb)
        costs = cost_table(devices, found.survey, limits_mb=limits, watts=watts)
        return _Measured(found.survey, without_untried_cuts(costs, found.survey), core_ml)
    if options.frequencies:
        return _at_frequencies(subject, limits, listen, cpu)
    if options.power is None:
        survey = survey_in_child(subject, listen)
        return _Measured(survey, cost_table(devices, survey, limits_mb=limits, watts=watts))
    survey = survey_in_child(subject, staged(listen, 0, 2, ""))
    with closing(_power_source(options.power)) as source:
        power = layer_power(subject, survey, source, staged(listen, 1, 2, ""))
    costs = cost_table(devices, survey, limits_mb=limits)
    return _Measured(survey, with_power(costs, power, needed=options.objective == ENERGY), power=power)


def _power_source(name: str) -> LivePower:
    """Raises HettopError: `usage` for one that cannot be had here."""
    return LivePower(name, simulated=False, here=PowerHere(this_machine()), now=time.monotonic_ns, origin_ns=0)


def with_power(costs: Costs, power: LayerPower, *, needed: bool) -> Costs:
    """With the watts of each layer where all are known. Raises HettopError: `power` where they are needed and not."""
    if any(watts is None for row in power.watts for watts in row):
        if needed:
            raise HettopError("power", f"energy per layer: n/a, {power.why}", "set --watts instead of --power")
        return costs
    return replace(costs, table=replace(costs.table, watts=np.array(power.watts, dtype=np.float64)))


def _at_frequencies(subject: Subject, limits: Mapping[str, float], listen: OnProgress, cpu: CpuFrequency) -> _Measured:
    found = profiled(subject, cpu, staged(listen, 0, 2, ""))
    costs = cost_table(found.devices, found.survey, limits_mb=found.of(limits))
    plain = replace(
        costs.table.only(range(len(subject.devices))), devices=subject.devices
    )  # at the highest frequency, by the devices' own names
    measured = governed(
        subject, cpu, plain, lambda slices: pieces(found.survey, plain, slices), staged(listen, 1, 2, "")
    )
    return _Measured(found.survey, replace(costs, table=with_levels(costs.table, found.levels)), governed=measured)


def _planned(measured: _Measured, options: PlanOptions) -> Sliced:
    costs = measured.costs
    table = for_objective(costs.table, options.objective)
    began = time.perf_counter_ns()
    best = plan(table) if options.given is None else read_plan(table, options.given)
    planner_ms = (time.perf_counter_ns() - began) / 1e6
    times = times_of(costs.table, options.objective)
    return Sliced(
        measured.survey,
        costs,
        table,
        best,
        {**baselines(table, times), **measured.governed},
        options.objective,
        planner_ms,
        given=options.given is not None,
        search=search(table),
        assumed=tuple(_assumed(measured, table, times)),
        power=measured.power,
    )


def _assumed(measured: _Measured, table: CostTable, times: CostTable | None) -> Iterator[str]:
    if not any(name.endswith(ON_DEMAND) for name in measured.governed):
        yield from baseline_notes(table, times)
    if measured.governed:
        names = ", ".join(dict.fromkeys(name.partition(", ")[2] for name in measured.governed))
        yield f"measured under the governor: {names}"


def _refuse(setup: Setup, options: PlanOptions) -> None:
    _refuse_random(setup, options)
    devices = setup.units
    core_ml = setup.backend == COREML
    if options.frequencies:
        why = (
            "Core ML lets no program set frequencies"
            if core_ml
            else "a plan is not run at its frequencies: setting one takes longer than a slice"
            if options.run
            else "power at a frequency is unknown without its voltage, which Linux does not report"
            if options.objective == ENERGY or options.power is not None
            else ""
        )
        if why:
            raise HettopError(
                "usage", f"frequencies: n/a, {why}", "leave out --frequencies, or use --costs with levels"
            )
    if options.power is not None and core_ml:
        raise HettopError("usage", "energy per layer: n/a, Core ML reports no layer's time", "leave out --power")
    if options.power is not None and options.watts:
        raise HettopError("usage", "--watts has no effect with --power, which measures", "leave out one of them")
    known = _by_device(options.watts, devices, "--watts", "CPU_ONLY@1=3.5")
    _by_device(options.limits, devices, "--limit", "CPU_ONLY@1=100")
    lacking = [device for device in devices if device not in known]
    if options.objective == ENERGY and options.power is None and lacking:
        hint = "set the power of each device: --watts CPU_ONLY@1=3.5; or measure it: --power"
        raise HettopError("usage", f"unknown power of {', '.join(lacking)}", hint)


def _refuse_random(setup: Setup, options: PlanOptions) -> None:
    if options.run_random and not options.run:
        raise HettopError("usage", "--run-random has no effect without --run", "add --run")
    if options.run_random and setup.backend == COREML:
        hint = "leave out --run-random: each plan of a Core ML model is compiled anew, which takes seconds"
        raise HettopError("usage", "random plans are run on ONNX Runtime only", hint)


def other_plans(table: CostTable, best: Plan, n: int) -> list[Other]:
    """`n` random plans and those of the baselines, each once and without the best; none for 0."""
    if not n:
        return []
    named = [(name, slices) for name, slices in baseline_plans(table).items() if slices is not None]
    drawn = [(RANDOM, each.slices) for each in random_plans(table, n).plans(table)]
    unique = {slices: name for name, slices in [*drawn, *named] if slices != best.slices}
    return [Other(name, slices) for slices, name in unique.items()]


def pieces(survey: Survey, table: CostTable, chosen: Sequence[Slice]) -> list[Piece]:
    """The plan's slices of layers as slices of steps."""
    return [
        Piece(
            first=survey.layers[each.first].first,
            last=survey.layers[each.last].last,
            device=table.devices[each.device],
        )
        for each in chosen
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
            raise HettopError("usage", f"invalid {option}: {clean(text, 60)}", f"write {option} {example}")
        if device not in devices:
            raise HettopError(
                "usage", f"invalid device in {option}: {clean(device, 60)!r}", f"devices: {', '.join(devices)}"
            )
        found[device] = number
    return found


COREML = "coreml"
USUAL = ("CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE")
"""Units to plan for where none are named: `ALL` chooses for itself, for each operation."""


def wanted(options: ModelOptions, devices: tuple[str, ...] | None) -> bool:
    """Whether it is Core ML's units that are to be planned for: by name of the backend, or by names of units of a Mac
    that are not also numbers of threads."""
    if options.backend is not None:
        return options.backend == COREML
    named = {split_unit(device)[0] for device in devices or ()} & {*CORE_ML_UNITS} - {"CPU_ONLY"}
    return bool(named) and usual_backend(options.model, devices, create) == COREML


def prepare_units(options: ModelOptions, devices: tuple[str, ...] | None, cores: int) -> Setup:
    """The model and the units to plan for. Raises HettopError: as `prepare`."""
    if options.shapes:
        hint = "leave out --shape: only models with fixed shapes can be cut"
        raise HettopError("usage", "slices of a Core ML model keep the shapes it was converted with", hint)
    setup = prepare(replace(options, backend=COREML), devices or ("all",), cores)
    if devices is None:
        usual = tuple(unit for unit in setup.units if unit in USUAL)
        return replace(setup, units=usual or setup.units)
    return setup


def tightened(limits: Mapping[str, float], observed: Mapping[str, float]) -> dict[str, float]:
    """The user's limits, and those that were observed, whichever is less."""
    return {device: min(limits.get(device, np.inf), observed.get(device, np.inf)) for device in {**limits, **observed}}


def without_untried_cuts(costs: Costs, survey: Survey) -> Costs:
    """No cut where none was tried on a device: what it costs there is not known."""
    table = costs.table
    entry, leaving = table.entry.copy(), table.exit.copy()
    known = {each.device for each in survey.moved}
    for device in range(len(table.devices)):
        if device not in known:
            entry[1:, device] = np.inf
            leaving[:-1, device] = np.inf
    return replace(costs, table=replace(table, entry=entry, exit=leaving))
