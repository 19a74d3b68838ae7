"""Measures what a cost table is made of: the layers of a model on each device, and what cuts between them cost.

For the measuring process; all of it runs on ONNX Runtime: on its CPU engine, or on devices of execution providers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from hettop.errors import HettopError
from hettop.models.cache import ModelCache
from hettop.models.ports import Feed
from hettop.models.resolve import is_core_ml, model_file
from hettop.models.translated import translated_file
from hettop.processes.framework_errors import reason
from hettop.sources.engine.backend import Clock, LoadOptions, split_unit
from hettop.sources.engine.custom_ops import register_custom_ops
from hettop.sources.engine.providers.devices import assigned_nodes, placed_on, select_device
from hettop.sources.engine.providers.known import provider_of
from hettop.studies.layers.graph import named_copy
from hettop.studies.layers.job import LayersJob
from hettop.studies.layers.profile import mean_of_the_middle
from hettop.studies.layers.result import LayerRow, LayersResult
from hettop.studies.layers.running import measure, session_options
from hettop.studies.plan.cutting.graph import Flow, Part, crossings, ends, gather, layers, step_of
from hettop.studies.plan.cutting.messages import (
    CUTTING,
    OPENING,
    PROFILING,
    TIMING,
    CuttingProgress,
    Subject,
    Tell,
    nobody,
    survey_weight,
)
from hettop.studies.plan.cutting.model import RANDOM, Model, write
from hettop.studies.plan.cutting.result import Moved, Survey, SurveyedLayer
from hettop.text import clean
from hettop.units import NS_PER_MS

MOST_TRIED = 10
"""Cuts that are tried on each device, of sizes as different as there are; a line needs no more."""

TRIED_WARMUP, TRIED_RUNS = 5, 40
CPU = "CPU_ONLY"

Values = Mapping[str, Any]
Types = Mapping[str, tuple[int, tuple[int, ...]]]


@dataclass(frozen=True, slots=True)
class Opened:
    """The model that a subject names, its inputs, and its values that can cross a cut, as they are for these inputs."""

    model: Model
    path: Path
    feed: Feed
    values: Values
    types: Types


def open_subject(subject: Subject, folder: Path, cache: ModelCache, clock: Clock) -> Opened:
    """Opens it and runs it once. Raises HettopError: as a backend's load does, and `unsupported-op`."""
    from hettop.sources.engine.backends.onnxruntime import OnnxRuntimeBackend

    backend = OnnxRuntimeBackend(clock, cache)
    loaded = backend.load(subject.model, CPU, LoadOptions(1, subject.function))
    feed = backend.make_inputs(loaded.inputs, subject.inputs())
    path = model_file(subject.model, cache)
    file = translated_file(path, subject.function, cache) if is_core_ml(path) else path
    model = Model(named_copy(file, folder))
    if not model.flow.steps:
        raise HettopError(
            "input", f"{clean(path.name)} has no operation that depends on its inputs", "there is nothing to plan"
        )
    random = next((step for step in model.flow.steps if step.op in RANDOM), None)
    if random is not None:
        raise HettopError("unsupported-op", f"{random.name} ({random.op}) is random, so outputs cannot be compared")
    values = _values(model, feed, folder)
    return Opened(model, path, feed, values, {name: _type(value) for name, value in values.items()})


def survey(subject: Subject, folder: Path, cache: ModelCache, clock: Clock, *, tell: Tell = nobody) -> Survey:
    """Raises HettopError: as `open_subject` and the measuring of layers do."""
    progress = CuttingProgress(survey_weight(len(subject.devices)), tell)
    progress.begin("opening the model", OPENING)
    opened = open_subject(subject, folder, cache, clock)
    measured = measure_layers(opened, subject, folder, cache, clock, progress=progress)
    moved = list(_moved(opened, measured, subject, folder, clock, progress=progress))
    return Survey(
        layers=tuple(_layers(opened, measured)),
        end_to_end_ms=tuple(measured.whole_ms),
        moved=tuple(moved),
        notes=tuple(
            dict.fromkeys(
                (*_counted(measured), *(note for each in measured.profiles for note in each.notes), *measured.notes)
            )
        ),
        profiled_ms=measured.profiled_ms,
    )


def _counted(measured: MeasuredLayers) -> Iterator[str]:
    """Why there are more or fewer layers than the user may have seen."""
    parts, rows = len(measured.parts), len(measured.profiles[0].layers)
    if parts != rows:
        yield (
            f"{parts} layers here, {rows} in hettop layers: plan counts parts that a cut can separate, "
            "layers counts what the runtime executes"
        )


@dataclass(frozen=True, slots=True)
class MeasuredLayers:
    """Layers as steps, with their times and that of the whole model in ms, by device.

    profiled_ms: of the whole model while its layers were profiled, None for a device without profiles.
    """

    parts: tuple[Part, ...]
    times: list[list[float]]
    whole_ms: list[float]
    profiles: list[LayersResult]
    profiled_ms: tuple[float | None, ...] = ()
    notes: tuple[str, ...] = ()


def measure_layers(
    opened: Opened, subject: Subject, folder: Path, cache: ModelCache, clock: Clock, *, progress: CuttingProgress
) -> MeasuredLayers:
    """Raises HettopError: as the measuring of layers does, and `unsupported-op`."""
    profiles = _profiles(subject, folder, cache, clock, progress)
    flow = opened.model.flow
    known = step_of(flow, opened.model.names)
    rows = [_names(row) for profile in profiles.values() for row in profile.layers]
    parts = layers(_uncuttable(flow, opened.values), gather(rows, known))
    progress.begin("timing the whole model", TIMING * len(subject.devices))
    wholes = _whole_ms(opened, subject, folder, clock, progress)
    times, notes = [], []
    for device, whole in zip(subject.devices, wholes, strict=True):
        if device in profiles:
            times.append(_times(profiles[device], whole, parts, known))
            continue
        progress.begin(f"timing each layer on {device}", PROFILING)
        alone = _alone_ms(opened, device, parts, folder, clock, progress=progress)
        scale = whole / sum(alone)
        times.append([ms * scale for ms in alone])
        notes += [_placed(opened, device, folder), f"{device}: layers were timed alone, and scaled by {scale:.2f}"]
    return MeasuredLayers(
        parts,
        times,
        wholes,
        list(profiles.values()),
        tuple(profiles[device].end_to_end_ms if device in profiles else None for device in subject.devices),
        tuple(notes),
    )


def _alone_ms(
    opened: Opened, device: str, parts: Sequence[Part], folder: Path, clock: Clock, *, progress: CuttingProgress
) -> list[float]:
    """Ms of each layer in a session of its own: a provider compiles layers together, and no profile parts them."""
    found = []
    for number, part in enumerate(parts):
        progress.within(number / len(parts))
        call = call_of(opened, device, part, folder)
        taken = [_ns(call, clock) for _ in range(TRIED_WARMUP + TRIED_RUNS)][TRIED_WARMUP:]
        found.append(max(mean_of_the_middle(taken), 1) / NS_PER_MS)
    return found


def _placed(opened: Opened, device: str, folder: Path) -> str:
    """What of the whole model the provider runs on the device."""
    provider = provider_of(device)
    assert provider is not None  # noqa: S101 (other devices have profiles)
    everything = Part(0, len(opened.model.flow.steps) - 1)
    file = write(opened.model.extract(everything, opened.types), folder / f"part-0-{everything.last}.onnx")
    placed = placed_on(provider, device, assigned_nodes(session(file, device), provider.ep))
    return f"{device} runs on {placed or 'n/a: this ONNX Runtime does not report the assignment of nodes'}"


def session(file: Path, device: str) -> Any:
    """An ONNX Runtime session on the device, with its number of threads, set up as the engine's."""
    import onnxruntime

    provider = provider_of(device)
    try:
        if provider is not None:
            options = session_options(None)
            register_custom_ops(options, file)
            select_device(onnxruntime, provider, device, options)
            return onnxruntime.InferenceSession(file, options, enable_fallback=0)
        options = session_options(split_unit(device)[1])
        register_custom_ops(options, file)
        return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    except HettopError:
        raise
    except Exception as error:
        where = "" if provider is None else f" on {device}"
        raise HettopError("load", f"cannot load a slice of the model{where}: {reason(error)}") from error


def nbytes_of(values: Values, names: Sequence[str]) -> int:
    return sum(int(values[name].nbytes) for name in names)


# -- layers --------------------------------------------------------------------------------------------------------


def _profiles(
    subject: Subject, folder: Path, cache: ModelCache, clock: Clock, progress: CuttingProgress
) -> dict[str, LayersResult]:
    """By device of ONNX Runtime's CPU engine; of the CPU where no device is one, to know the layers."""
    devices = [device for device in subject.devices if provider_of(device) is None] or [CPU]
    found = {}
    for number, device in enumerate(devices, start=1):
        place = f", device {number} of {len(devices)}" if len(devices) > 1 else ""
        progress.begin(f"profiling layers on {device}{place}", PROFILING)
        (scratch := folder / f"profile-{number}").mkdir()
        found[device] = _profile(subject, device, scratch, cache, clock)
    return found


def _profile(subject: Subject, device: str, scratch: Path, cache: ModelCache, clock: Clock) -> LayersResult:
    job = LayersJob(
        model=subject.model,
        unit=device,
        function=subject.function,
        seed=subject.seed,
        shapes=subject.shapes,
        values=subject.values,
        warmup=subject.warmup,
        runs=subject.runs,
        roofs=False,
    )
    return measure(job, scratch, cache, clock, _no_roofs)


def _no_roofs(_threads: int) -> Any:
    raise AssertionError("roofs were not requested")


def _whole_ms(opened: Opened, subject: Subject, folder: Path, clock: Clock, progress: CuttingProgress) -> list[float]:
    """Of a call of the whole model on each device, in turns: profiles are taken one after another, and a machine is
    not as fast at one time as at another."""
    everything = Part(0, len(opened.model.flow.steps) - 1)
    calls = [call_of(opened, device, everything, folder) for device in subject.devices]
    times: list[list[int]] = [[] for _ in calls]
    for turn in range(subject.warmup + subject.runs):
        progress.within(turn / (subject.warmup + subject.runs))
        for call, taken in zip(calls, times, strict=True):
            ns = _ns(call, clock)
            if turn >= subject.warmup:
                taken.append(ns)
    return [mean_of_the_middle(taken) / NS_PER_MS for taken in times]


def _times(profile: LayersResult, whole_ms: float, parts: Sequence[Part], known: Mapping[str, int]) -> list[float]:
    """Ms of each part. They sum to the time of a call: what the profiler costs itself is taken off in proportion.

    What the runtime put in by itself belongs to what ran before it.
    """
    part_of = {step: index for index, part in enumerate(parts) for step in range(part.first, part.last + 1)}
    times = [0.0] * len(parts)
    current = 0
    for row in profile.layers:
        current = next((part_of[known[name]] for name in _names(row) if name in known), current)
        times[current] += row.ms
    scale = whole_ms / profile.total_ms if profile.total_ms > 0 else 0.0
    return [time * scale for time in times]


def _names(row: LayerRow) -> tuple[str, ...]:
    return (row.name, *row.fused)


def _layers(opened: Opened, measured: MeasuredLayers) -> Iterator[SurveyedLayer]:
    flow, parts = opened.model.flow, measured.parts
    cut = crossings(flow)
    ops = {row.name: row for row in measured.profiles[0].layers}
    for index, part in enumerate(parts):
        steps = flow.steps[part.first : part.last + 1]
        heart = max(steps, key=lambda step: ops[step.name].ms if step.name in ops else -1.0)
        over = cut[part.last] if index < len(parts) - 1 else ()
        given = [name for name in ends(flow, part)[1] if name in opened.values]
        yield SurveyedLayer(
            name=heart.name,
            op=heart.op,
            ops=tuple(dict.fromkeys(step.op for step in steps)),
            first=part.first,
            last=part.last,
            ms=tuple(each[index] for each in measured.times),
            weight_bytes=opened.model.weight_bytes(part),
            output_bytes=nbytes_of(opened.values, given),
            crossing=len(over),
            crossing_bytes=nbytes_of(opened.values, over),
        )


# -- values and cuts -------------------------------------------------------------------------------------------------


def _values(model: Model, feed: Feed, folder: Path) -> Values:
    """What can cross a cut, and the model's inputs, as arrays; sequences and the like are left out."""
    names = tuple(dict.fromkeys(name for values in crossings(model.flow) for name in values))
    names += tuple(name for name in model.flow.outputs if name not in names)
    whole = session(write(model.with_outputs(names), folder / "all-outputs.onnx"), "CPU_ONLY@1")
    try:
        found = whole.run(list(names), feed)
    except Exception as error:
        raise HettopError("predict", f"cannot run the model: {reason(error)}") from error
    arrays = {name: value for name, value in zip(names, found, strict=True) if isinstance(value, np.ndarray)}
    return {**arrays, **feed}


def _type(value: Any) -> tuple[int, tuple[int, ...]]:
    import onnx

    return onnx.helper.np_dtype_to_tensor_dtype(value.dtype), tuple(value.shape)


def _uncuttable(flow: Flow, values: Values) -> Flow:
    """The flow, if every value can cross a cut. Raises HettopError: `unsupported-op` for one with other values."""
    for step in flow.steps:
        for name in step.reads:
            if name not in values:
                raise HettopError(
                    "unsupported-op",
                    f"{step.name} ({step.op}) reads {clean(name)}, which is not an array: the model cannot be cut",
                )
    return flow


def _moved(
    opened: Opened, measured: MeasuredLayers, subject: Subject, folder: Path, clock: Clock, *, progress: CuttingProgress
) -> Iterator[Moved]:
    tried = list(_tried(measured.parts, opened.model.flow, opened.values))
    for index, device in enumerate(subject.devices):
        for number, (around, nbytes) in enumerate(tried, start=1):
            text = f"measuring transfer cost on {device}: cut {number} of {len(tried)}"
            progress.begin(text, CUTTING / len(tried))
            yield Moved(index, nbytes, _cut_ms(opened, device, around, folder, clock))


def _tried(parts: Sequence[Part], flow: Flow, values: Values) -> Iterator[tuple[tuple[Part, Part], int]]:
    """Cuts to try, of sizes spread over all there are, with the bytes that cross."""
    cut = crossings(flow)
    by_size = {nbytes_of(values, cut[before.last]): (before, after) for before, after in pairwise(parts)}
    sizes = sorted(by_size)
    if not sizes:
        return
    chosen = np.unique(np.linspace(0, len(sizes) - 1, MOST_TRIED).round().astype(int))
    for index in chosen:
        yield by_size[sizes[index]], sizes[index]


def _cut_ms(opened: Opened, device: str, around: tuple[Part, Part], folder: Path, clock: Clock) -> float:
    """What it costs to run the two layers around a cut in sessions of their own, beyond one session of both."""
    before, after = around
    calls = [call_of(opened, device, part, folder) for part in (before, after, Part(before.first, after.last))]
    costs = []
    for turn in range(TRIED_WARMUP + TRIED_RUNS):
        first, second, both = (_ns(call, clock) for call in calls)
        if turn >= TRIED_WARMUP:
            costs.append(first + second - both)
    return mean_of_the_middle(costs) / NS_PER_MS


def call_of(opened: Opened, device: str, part: Part, folder: Path) -> Callable[[], object]:
    """Runs this part of the model alone on the device."""
    taken, given = ends(opened.model.flow, part)
    file = write(opened.model.extract(part, opened.types), folder / f"part-{part.first}-{part.last}.onnx")
    run = session(file, device).run
    feed = {name: opened.values[name] for name in taken}
    outputs = list(given)
    return lambda: run(outputs, feed)


def _ns(call: Callable[[], object], clock: Clock) -> int:
    begin = clock.now()
    call()
    return clock.now() - begin
