"""Figures of the simulated Apple M2: how long each unit takes, how it varies, and what slows it.

Data only. Latencies follow the published MobileNetV2 measurements on an M2 Mac mini (100 runs per unit, Core ML);
what those runs do not show (competing load, heat, spikes after the first call) is a plausible guess, kept mild.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

CORES = 8
"""Four performance and four efficiency cores."""


@dataclass(frozen=True, slots=True)
class SimulatedMode:
    """A shifted log-normal, `floor_ms + (median_ms - floor_ms) * exp(sigma * z)`, in `share` of the calls.

    `stay` is the mean number of calls before a mode is drawn anew: long enough for modes to come in blocks, short
    enough to mix within some hundred calls.
    """

    share: float
    floor_ms: float
    median_ms: float
    sigma: float
    stay: float = 6.0


@dataclass(frozen=True, slots=True)
class Spikes:
    """One call in `every` takes between `low_ms` and `high_ms`, log-uniform, instead."""

    every: float
    low_ms: float
    high_ms: float


@dataclass(frozen=True, slots=True)
class LoadResponse:
    """Slowdown by competing load: latency is multiplied by 1 plus the sum of these.

    cpu: x (workers / `CORES`), a share of the cores. memory: x (1 - exp(-workers / 2)), for bandwidth saturates.
    gpu, ane: x clients, for a device is shared in turns.
    """

    cpu: float
    memory: float
    gpu: float
    ane: float


@dataclass(frozen=True, slots=True)
class UnitProfile:
    """One unit. `heat` is the slowdown (0.05: 5 %) that continuous use ends at; `load_ms` the range of load times."""

    placed: str
    modes: tuple[SimulatedMode, ...]
    first_ms: float
    spikes: Spikes
    load: LoadResponse
    heat: float
    load_ms: tuple[float, float]


SETTLING = 0.08
SETTLING_CALLS = 4.0
"""Calls after the first are slower by `SETTLING`, which decays over `SETTLING_CALLS` calls."""

HEAT_SECONDS = 120.0
"""Time constant of the lumped thermal model: a small aluminium case."""

CROWDED_TAIL = 0.02
"""Competing load that doubles the latency makes this share of calls crowded out ..."""

CROWDED_FACTOR = (1.6, 4.0)
"""... for this many times their latency."""

M2: Mapping[str, UnitProfile] = {
    "CPU_ONLY": UnitProfile(
        placed="simulated CPU",
        modes=(SimulatedMode(share=1.0, floor_ms=2.40, median_ms=2.50, sigma=0.60),),
        first_ms=3.90,
        spikes=Spikes(every=2000, low_ms=3.8, high_ms=6.0),
        load=LoadResponse(cpu=1.0, memory=0.30, gpu=0.02, ane=0.01),
        heat=0.03,
        load_ms=(200, 260),
    ),
    "CPU_AND_GPU": UnitProfile(
        placed="simulated CPU+GPU",
        modes=(
            SimulatedMode(share=0.59, floor_ms=1.58, median_ms=1.70, sigma=0.30),
            SimulatedMode(share=0.40, floor_ms=1.76, median_ms=1.89, sigma=0.25),
            SimulatedMode(share=0.01, floor_ms=2.10, median_ms=2.25, sigma=0.25, stay=1.5),
        ),
        first_ms=138.1,
        spikes=Spikes(every=1000, low_ms=4.0, high_ms=14.0),
        load=LoadResponse(cpu=0.20, memory=0.35, gpu=0.80, ane=0.02),
        heat=0.04,
        load_ms=(260, 400),
    ),
    "CPU_AND_NE": UnitProfile(
        placed="simulated CPU+NE",
        modes=(SimulatedMode(share=1.0, floor_ms=0.45, median_ms=0.627, sigma=0.17),),
        first_ms=1.71,
        spikes=Spikes(every=2500, low_ms=1.0, high_ms=2.0),
        load=LoadResponse(cpu=0.15, memory=0.15, gpu=0.02, ane=0.90),
        heat=0.005,
        load_ms=(240, 360),
    ),
    "ALL": UnitProfile(
        placed="simulated CPU+GPU+NE",
        modes=(SimulatedMode(share=1.0, floor_ms=0.45, median_ms=0.614, sigma=0.24),),
        first_ms=25.95,
        spikes=Spikes(every=800, low_ms=2.0, high_ms=9.0),
        load=LoadResponse(cpu=0.20, memory=0.20, gpu=0.35, ane=0.70),
        heat=0.01,
        load_ms=(280, 400),
    ),
}
