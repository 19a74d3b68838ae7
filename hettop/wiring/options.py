"""What the user asked for, as plain values; the commands fill them in, the wiring acts on them.

Imports nothing heavy: every command's help goes through here.
"""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_MODEL = "mobilenetv2"
DEFAULT_WARMUP = 10


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What to run, and with which inputs, as the user wrote it."""

    model: str = DEFAULT_MODEL
    backend: str | None = None
    function: str | None = None
    shapes: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    seed: int = 0


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """How to measure: the limits per unit (steady samples or time), arrivals a second, competing load, recording.

    canary: whether a process counts the frames that a 60 Hz screen misses meanwhile.
    power: the source of power by name, `none`, or None for the best there is.
    """

    warmup: int = DEFAULT_WARMUP
    runs: int | None = None
    duration_ns: int | None = None
    rate_hz: float | None = None
    interleave: bool = False
    load: str = "none"
    canary: bool = False
    power: str | None = None
    record: str | None = None
    force: bool = False
