"""Runs a plan: slices one after another on their devices, in turns with the whole model on each device.

For the measuring process; reports how long each took, and whether both answer the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import msgspec
import numpy as np

from hettop.models.cache import ModelCache
from hettop.sources.engine.backend import Clock
from hettop.sources.engine.providers.known import provider_of
from hettop.studies.layers.profile import mean_of_the_middle
from hettop.studies.plan.cutting.graph import Part, ends
from hettop.studies.plan.cutting.messages import (
    OPENING,
    OTHER,
    TIMING,
    CuttingProgress,
    Piece,
    Subject,
    Tell,
    nobody,
    run_weight,
)
from hettop.studies.plan.cutting.model import write
from hettop.studies.plan.cutting.result import Ran
from hettop.studies.plan.cutting.survey import Opened, open_subject, session
from hettop.units import NS_PER_MS

TOLERANCE = 1e-5
"""Of the largest element of an output, or of 1: slices fuse other operations than the whole, which rounds otherwise."""

HALF_TOLERANCE = 2.0**-10
"""Where values are of half precision: its last place. A runtime computes in single precision within what it fuses, and
a slice ends with a value that is rounded to half."""

ROUNDINGS = 2
"""Which of two roundings is nearer to the truth is chance: slices on a device may be so many times as far away from the
reference as the whole model on that device is."""

HALF = ("float16", "bfloat16")

OTHER_WARMUP, OTHER_RUNS = 2, 5
"""Turns of each other plan: there are up to a thousand."""

Run = Callable[[list[str], Mapping[str, Any]], list[Any]]


@dataclass(frozen=True, slots=True)
class _Loaded:
    run: Run
    takes: tuple[str, ...]
    gives: list[str]


def run_plan(
    subject: Subject,
    pieces: Sequence[Piece],
    folder: Path,
    cache: ModelCache,
    clock: Clock,
    *,
    others: Sequence[Sequence[Piece]] = (),
    tell: Tell = nobody,
) -> Ran:
    """Raises HettopError: as `open_subject` does, and `load`."""
    progress = CuttingProgress(run_weight(len(subject.devices), len(others)), tell)
    progress.begin("cutting the model into the plan's slices", OPENING)
    opened = open_subject(subject, folder, cache, clock)
    slices = [_slice(opened, piece, folder) for piece in pieces]
    whole_file = write(opened.model.extract(_all(opened), opened.types), folder / "whole.onnx")
    wholes = [session(whole_file, device).run for device in subject.devices]
    half = any(value.dtype.name in HALF for value in opened.values.values())
    least = HALF_TOLERANCE if half else TOLERANCE
    answers = _answers(opened, subject.devices, wholes)
    reference = _reference(subject.devices)
    expected = answers[reference]
    difference, same = compare(expected, _plans_answer(slices, opened, clock))
    apart = {device: compare(expected, answer)[0] for device, answer in answers.items()}
    own = [ROUNDINGS * (apart.get(piece.device) or 0.0) for piece in pieces if provider_of(piece.device) is not None]
    tolerance = max(least, *own) if own else least
    mixed = _Mixed()
    if any(provider_of(device) is not None for device in subject.devices):
        on_reference = [_slice(opened, msgspec.structs.replace(piece, device=reference), folder) for piece in pieces]
        cut = compare(expected, _plans_answer(on_reference, opened, clock))[0]
        mixed = _Mixed(reference, cut, least, tuple(apart[device] for device in subject.devices))
    progress.begin("running the plan interleaved with each device alone", TIMING * (1 + len(wholes)))
    slice_times, plan_times, whole_times = _in_turns(slices, wholes, opened, subject, clock=clock, progress=progress)
    whole = [mean_of_the_middle(times) / NS_PER_MS for times in zip(*whole_times, strict=True)]
    best = int(np.argmin(whole))
    beside = list(_others(others, slices, opened, folder, clock, progress=progress))
    return Ran(
        slice_ms=tuple(mean_of_the_middle(times) / NS_PER_MS for times in zip(*slice_times, strict=True)),
        plan_ms=mean_of_the_middle(plan_times) / NS_PER_MS,
        whole_ms=tuple(whole),
        gains=tuple(others[best] / total - 1 for others, total in zip(whole_times, plan_times, strict=True)),
        difference=difference,
        equal=same and difference is not None and difference <= tolerance,
        tolerance=tolerance,
        runs=subject.runs,
        others_ms=tuple(other for other, _ in beside),
        others_runs=OTHER_RUNS if beside else 0,
        beside_ms=tuple(plan for _, plan in beside),
        reference=mixed.reference,
        cut_difference=mixed.cut_difference,
        cut_tolerance=mixed.cut_tolerance,
        apart=mixed.apart,
    )


@dataclass(frozen=True, slots=True)
class _Mixed:
    """What is known where devices compute differently, as `Ran` has it."""

    reference: str | None = None
    cut_difference: float | None = None
    cut_tolerance: float | None = None
    apart: tuple[float | None, ...] = ()


def _reference(devices: Sequence[str]) -> str:
    """The device whose outputs count as correct: one of ONNX Runtime's CPU engine if there is one."""
    return next((device for device in devices if provider_of(device) is None), devices[0])


def _answers(opened: Opened, devices: Sequence[str], wholes: Sequence[Run]) -> dict[str, list[Any]]:
    """Outputs of the whole model by device."""
    outputs = list(opened.model.flow.outputs)
    return {device: run(outputs, opened.feed) for device, run in zip(devices, wholes, strict=True)}


def _plans_answer(slices: Sequence[_Loaded], opened: Opened, clock: Clock) -> list[Any]:
    """Outputs of the slices, run one after another."""
    values = _chain(slices, opened, clock)[0]
    return [values[name] for name in opened.model.flow.outputs]


def _others(
    others: Sequence[Sequence[Piece]],
    slices: Sequence[_Loaded],
    opened: Opened,
    folder: Path,
    clock: Clock,
    *,
    progress: CuttingProgress,
) -> Iterator[tuple[float, float]]:
    """The ms of each other plan, and of the plan in turns with it. Their files and sessions go as the next begins."""
    for number, pieces in enumerate(others, start=1):
        progress.begin(f"running other plans: {number} of {len(others)}", OTHER)
        with TemporaryDirectory(dir=folder) as scratch:
            plans = [[_slice(opened, piece, Path(scratch)) for piece in pieces], slices]
            turns = [
                both_ways(turn, [partial(_plan, each, opened, clock) for each in plans])
                for turn in range(OTHER_WARMUP + OTHER_RUNS)
            ]
        other, plan = zip(*((one[0], two[0]) for one, two in turns[OTHER_WARMUP:]), strict=True)
        yield median(other) / NS_PER_MS, median(plan) / NS_PER_MS


def compare(expected: Sequence[Any], found: Sequence[Any]) -> tuple[float | None, bool]:
    """The largest difference of any element in units of the largest (or of 1), and whether they can be compared.

    They cannot if shapes differ, or what is not a real number is not the same, or infinities and NaN stand elsewhere.
    """
    worst = 0.0
    for one, other in zip(expected, found, strict=True):
        if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray) or one.shape != other.shape:
            return None, False
        if one.dtype.kind not in "fc":
            if not np.array_equal(one, other):
                return None, False
            continue
        finite = np.isfinite(one)
        if not np.array_equal(one[~finite], other[~finite], equal_nan=True) or not np.isfinite(other[finite]).all():
            return None, False
        if finite.any():
            a, b = one[finite].astype(np.float64), other[finite].astype(np.float64)
            worst = max(worst, float(np.abs(a - b).max() / max(1.0, np.abs(a).max())))
    return worst, True


def _all(opened: Opened) -> Part:
    return Part(0, len(opened.model.flow.steps) - 1)


def _slice(opened: Opened, piece: Piece, folder: Path) -> _Loaded:
    part = Part(piece.first, piece.last)
    takes, gives = ends(opened.model.flow, part)
    file = write(opened.model.extract(part, opened.types), folder / f"slice-{piece.first}.onnx")
    return _Loaded(session(file, piece.device).run, takes, list(gives))


def _in_turns(
    slices: Sequence[_Loaded],
    wholes: Sequence[Run],
    opened: Opened,
    subject: Subject,
    *,
    clock: Clock,
    progress: CuttingProgress,
) -> tuple[list[list[int]], list[int], list[list[int]]]:
    """By turn, in ns: the time of each slice, of the plan, and of the whole model on each device."""
    slice_times, plan_times, whole_times = [], [], []
    outputs = list(opened.model.flow.outputs)
    turns = subject.warmup + subject.runs
    for turn in range(turns):
        progress.within(turn / turns)
        whole = [partial(_timed, run, outputs, opened.feed, clock) for run in wholes]
        parts, *others = both_ways(turn, [partial(_plan, slices, opened, clock), *whole])
        if turn >= subject.warmup:
            slice_times.append(parts[1:])
            plan_times.append(parts[0])
            whole_times.append([ns for (ns,) in others])
    return slice_times, plan_times, whole_times


def _chain(slices: Sequence[_Loaded], opened: Opened, clock: Clock) -> tuple[dict[str, Any], list[int], int]:
    """All values that slices gave, the time of each slice, and of all together, in ns."""
    values: dict[str, Any] = dict(opened.feed)
    times = []
    begin = before = clock.now()
    for each in slices:
        feed = {name: values[name] for name in each.takes}
        values.update(zip(each.gives, each.run(each.gives, feed), strict=True))
        now = clock.now()
        times.append(now - before)
        before = now
    return values, times, before - begin


def _plan(slices: Sequence[_Loaded], opened: Opened, clock: Clock) -> list[int]:
    """The time of all slices together, then of each, in ns."""
    _, parts, total = _chain(slices, opened, clock)
    return [total, *parts]


def _timed(run: Run, outputs: list[str], feed: Mapping[str, Any], clock: Clock) -> list[int]:
    begin = clock.now()
    run(outputs, feed)
    return [clock.now() - begin]


Told = TypeVar("Told")


def both_ways(turn: int, calls: Sequence[Callable[[], Told]]) -> list[Told]:
    """What each call returns, in their order; in every other turn they are called from the last to the first.

    What ran just before leaves its threads spinning and its data in the caches.
    """
    if turn % 2 == 0:
        return [call() for call in calls]
    return [call() for call in reversed(calls)][::-1]
