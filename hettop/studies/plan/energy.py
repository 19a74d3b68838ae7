"""The energy of each layer on each device: power while it runs again and again, times its time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from hettop.events import Baseline, Power, PowerStatus, is_capture
from hettop.session.power_summary import CAPTURE_WORDS
from hettop.session.rails import PowerWindow, estimate, measured
from hettop.studies.plan.cutting.child import OnProgress, repeat_in_child
from hettop.studies.plan.cutting.messages import MeasuringProgress, Piece, Subject
from hettop.studies.plan.cutting.result import Block, Survey
from hettop.units import NS_PER_MS, NS_PER_S

BLOCK_NS = 2 * NS_PER_S
"""For each layer: three whole windows of a source that reports every half second."""

NO_SAMPLE = "no power sample lies within the time that the layer ran"


class PowerDrain(Protocol):
    """What is asked of `LivePower`."""

    def drain(self, t: int) -> list[Power | PowerStatus | Baseline]: ...


@dataclass(frozen=True, slots=True)
class LayerPower:
    """By layer and device: `watts`, mean power while it ran, and `mj` of one call; None where unknown, with `why`."""

    watts: tuple[tuple[float | None, ...], ...]
    mj: tuple[tuple[float | None, ...], ...]
    source: str | None
    why: str = ""


def layer_power(
    subject: Subject,
    survey: Survey,
    power: PowerDrain,
    on_progress: OnProgress,
    *,
    now: Callable[[], int] = time.monotonic_ns,
    block_ns: int = BLOCK_NS,
) -> LayerPower:
    """Total power, that of the idle machine included. Raises HettopError: as the measuring does."""
    pieces = [
        Piece(first=layer.first, last=layer.last, device=device)
        for layer in survey.layers
        for device in subject.devices
    ]
    return power_of(subject, pieces, power, on_progress, columns=len(subject.devices), now=now, block_ns=block_ns)


def power_of(
    subject: Subject,
    pieces: Sequence[Piece],
    power: PowerDrain,
    on_progress: OnProgress,
    *,
    columns: int = 1,
    now: Callable[[], int] = time.monotonic_ns,
    block_ns: int = BLOCK_NS,
) -> LayerPower:
    """The same of any pieces of the model, so many in a row of the answer."""
    events = power.drain(now())
    if _ended(events):
        none = ((None,) * columns,) * (len(pieces) // columns)
        return LayerPower(none, none, None, _why(events))

    def listen(progress: MeasuringProgress) -> None:
        events.extend(power.drain(now()))
        on_progress(progress)

    blocks = repeat_in_child(subject, pieces, block_ns, listen).blocks
    events.extend(power.drain(now()))
    return by_layer(blocks, events, columns)


def by_layer(blocks: Sequence[Block], events: Sequence[Power | PowerStatus | Baseline], devices: int) -> LayerPower:
    """blocks: of each layer on each device, one after another."""
    samples = [each for each in events if isinstance(each, Power)]
    windows = [window for each in samples if not is_capture(each.source) if (window := measured(each)) is not None]
    watts = [_watts(block, windows) for block in blocks]
    mj = [
        None if each is None or not block.calls else each * (block.end_ns - block.begin_ns) / NS_PER_MS / block.calls
        for each, block in zip(watts, blocks, strict=True)
    ]
    return LayerPower(
        watts=tuple(tuple(watts[at : at + devices]) for at in range(0, len(blocks), devices)),
        mj=tuple(tuple(mj[at : at + devices]) for at in range(0, len(blocks), devices)),
        source=next((each.source for each in samples if not is_capture(each.source)), None),
        why=_why(events) if None in mj else "",
    )


def _watts(block: Block, windows: Sequence[PowerWindow]) -> float | None:
    """The mean of what lies wholly within the block, by length."""
    inside = [
        (mw, each.elapsed_ns)
        for each in windows
        if block.begin_ns <= each.start_ns and each.end_ns <= block.end_ns and (mw := estimate(each.known)) is not None
    ]
    covered = sum(ns for _, ns in inside)
    return sum(mw * ns for mw, ns in inside) / covered / 1000 if covered else None


def _ended(events: Sequence[Power | PowerStatus | Baseline]) -> bool:
    """Whether no source gives samples, which is known by then."""
    states = [each.state for each in events if isinstance(each, PowerStatus)]
    return bool(states) and states[-1] not in ("starting", "running")


def _why(events: Sequence[Power | PowerStatus | Baseline]) -> str:
    if any(isinstance(each, Power) and is_capture(each.source) for each in events):
        return CAPTURE_WORDS
    reasons = [each.reason for each in events if isinstance(each, PowerStatus) and each.reason]
    return reasons[-1] if reasons else NO_SAMPLE
