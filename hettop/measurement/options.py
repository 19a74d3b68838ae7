"""What the user asked for, as plain values; the commands fill them in, the wiring acts on them.

Imports nothing heavy: every command's help goes through here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

DEFAULT_MODEL = "mobilenetv2"
DEFAULT_WARMUP = 10
LONGEST_WARMUP = 1000
"""Calls that a warm-up may take which ends when the unit is steady; what is not steady by then has modes, or drifts."""


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

    warmup: calls after the first that do not count; `until_steady`, at most so many.
    least_runs: steady samples that are taken even if the time is over. rest_ns: a rest before each sample.
    protocol: the published way to measure that this follows, as the recording tells it.
    canary: whether a process counts the frames that a 60 Hz screen misses meanwhile.
    budget, energy: what the verdict on the screen is to judge, as `hettop decide` takes them.
    prometheus: the port of this machine's loopback on which metrics are served; None: nowhere.
    power: the source of power by name, `none`, or None for the best there is. why_no_power: reason and remedy that are
    told where it is `none` and the user did not say so.
    """

    warmup: int = DEFAULT_WARMUP
    until_steady: bool = False
    runs: int | None = None
    duration_ns: int | None = None
    least_runs: int = 0
    rest_ns: int = 0
    rate_hz: float | None = None
    interleave: bool = False
    load: str = "none"
    canary: bool = False
    power: str | None = None
    why_no_power: tuple[str, str] | None = None
    budget: str | None = None
    energy: str | None = None
    record: str | None = None
    force: bool = False
    prometheus: int | None = None
    protocol: Mapping[str, Any] | None = None


def metrics_address(port: int) -> str:
    """Where metrics are served: on this machine's loopback alone."""
    return f"http://127.0.0.1:{port}/metrics"
