"""The simulated Apple M2: draws latencies from a seeded model and sleeps them in real time.

It runs no inference, and whatever it returns is marked simulated.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from hettop.compute_units import CORE_ML_UNITS
from hettop.errors import HettopError
from hettop.models.inputs import make_inputs
from hettop.models.ports import Feed, InputOptions, Port
from hettop.sources.engine.backend import Clock, Loaded, LoadOptions, split_unit
from hettop.units import NS_PER_MS, NS_PER_S

INPUTS = (Port("image", "float32", (1, 3, 224, 224)),)
OUTPUTS = (Port("logits", "float32", (1, 1000)),)


class SimulatedBackend:
    """Backend of `--demo`; deterministic for a seed, apart from what heat does, which follows the clock."""

    name = "simulated"
    simulated = True
    has_native = False

    def __init__(self, clock: Clock) -> None:
        self._clock = VirtualClock(clock)
        self.clock: Clock = self._clock
        self._latencies: M2Latencies | None = None
        self._unit = ""
        self._condition = "none"

    def units(self) -> dict[str, str | None]:
        return dict.fromkeys(CORE_ML_UNITS)

    def load(self, model: str, unit: str, options: LoadOptions) -> Loaded:  # noqa: ARG002 (any model is as good)
        profile = M2.get(unit)
        if profile is None or options.threads is not None:
            raise _no_such_unit(unit, options.threads)
        self._unit = unit
        rng = _generator(0, unit)
        start = self.clock.now()
        self.clock.sleep_until(start + int(rng.uniform(*profile.load_ms) * NS_PER_MS))
        self._latencies = self._fresh_latencies(seed=0)
        return Loaded(unit, profile.placed, self.clock.now() - start, INPUTS, OUTPUTS, note="simulated Apple M2")

    def make_inputs(self, ports: Sequence[Port], options: InputOptions) -> Feed:
        """Inputs for `ports`; their seed is the simulation's seed, too."""
        if self._unit:
            self._latencies = self._fresh_latencies(options.seed)
        return make_inputs(ports, options)

    def predict(self, feed: Feed) -> None:  # noqa: ARG002 (nothing looks at the data)
        if self._latencies is None:
            raise HettopError("predict", "no model is loaded")
        self._clock.advance(self._latencies.draw(self._clock.moment))

    def outputs(self) -> Mapping[str, np.ndarray]:
        return {}

    def native_ns(self) -> int | None:
        return None

    def told_load(self, condition: str) -> None:
        self._condition = condition
        if self._latencies is not None:
            self._latencies.told_load(condition)

    def _fresh_latencies(self, seed: int) -> M2Latencies:
        latencies = M2Latencies(M2[self._unit], _generator(seed, self._unit))
        latencies.told_load(self._condition)
        return latencies


class M2Latencies:
    """Latencies of one unit in order, first call included."""

    def __init__(self, profile: UnitProfile, rng: np.random.Generator) -> None:
        self._profile = profile
        self._rng = rng
        self._calls = 0
        self._mode = profile.modes[0]
        # Long stays are drawn less often, so that shares come out as shares of the calls.
        odds = np.array([mode.share / mode.stay for mode in profile.modes])
        self._odds = odds / odds.sum()
        self._slowdown = 1.0
        self._heat = 0.0
        self._last_end: int | None = None

    def told_load(self, condition: str) -> None:
        self._slowdown = slowdown(self._profile.load, condition)

    def draw(self, now: int) -> int:
        """The latency (ns) of a call that starts at `now` (ns)."""
        self._cool(now)
        latency = self._first() if self._calls == 0 else self._later()
        latency_ns = round(latency * self._slowdown * (1 + self._profile.heat * self._heat) * NS_PER_MS)
        self._calls += 1
        self._warm_up(latency_ns)
        self._last_end = now + latency_ns
        return latency_ns

    def _first(self) -> float:
        return self._profile.first_ms * float(self._rng.uniform(0.97, 1.03))

    def _later(self) -> float:
        spikes = self._profile.spikes
        if self._rng.random() < 1 / spikes.every:
            return float(np.exp(self._rng.uniform(math.log(spikes.low_ms), math.log(spikes.high_ms))))
        mode = self._current_mode()
        latency = mode.floor_ms + (mode.median_ms - mode.floor_ms) * math.exp(mode.sigma * self._rng.standard_normal())
        latency *= 1 + SETTLING * math.exp(-self._calls / SETTLING_CALLS)
        if self._rng.random() < CROWDED_TAIL * (self._slowdown - 1):
            latency *= float(self._rng.uniform(*CROWDED_FACTOR))
        return latency

    def _current_mode(self) -> SimulatedMode:
        """The active mode: after each call one is drawn anew, with odds of 1 to the mean length of a stay."""
        if self._rng.random() < 1 / self._mode.stay:
            self._mode = self._profile.modes[int(self._rng.choice(self._odds.size, p=self._odds))]
        return self._mode

    def _warm_up(self, busy_ns: int) -> None:
        self._heat = 1 - (1 - self._heat) * _decay(busy_ns)

    def _cool(self, now: int) -> None:
        if self._last_end is not None:
            self._heat *= _decay(max(0, now - self._last_end))


def slowdown(response: LoadResponse, condition: str) -> float:
    """Factor (at least 1) on the latency under a load such as `cpu:2+memory:1@50%`; an unknown load adds nothing."""
    level = _levels(condition)
    return (
        1
        + response.cpu * level.get("cpu", 0.0) / CORES
        + response.memory * (1 - math.exp(-level.get("memory", 0.0) / 2))
        + response.gpu * level.get("gpu", 0.0)
        + response.ane * level.get("ane", 0.0)
    )


def _levels(condition: str) -> dict[str, float]:
    """Level times duty of each load."""
    levels: dict[str, float] = {}
    for part in condition.split("+"):
        what, _, amount = part.partition(":")
        level, _, duty = amount.partition("@")
        try:
            levels[what] = float(level) * (float(duty.rstrip("%")) / 100 if duty else 1.0)
        except ValueError:
            continue
    return levels


def _decay(duration_ns: int) -> float:
    return math.exp(-duration_ns / (HEAT_SECONDS * NS_PER_S))


def _generator(seed: int, unit: str) -> np.random.Generator:
    """Each unit has a stream of its own."""
    return np.random.default_rng([seed, zlib.crc32(unit.encode())])


def _no_such_unit(unit: str, threads: int | None) -> HettopError:
    try:
        threaded = threads is not None or split_unit(unit)[1] is not None
    except ValueError:
        threaded = False
    why = "the simulated M2 has no thread counts" if threaded else "unknown unit of the simulated M2"
    return HettopError("unsupported-unit", f"{unit}: {why}", f"its units: {', '.join(CORE_ML_UNITS)}")


MAX_LEAD_NS = 1_000_000
"""How far virtual time may run ahead of real time: a sleep overshoots by about 60 us, so shorter ones are saved up."""


class VirtualClock:
    """A clock on which simulated work takes exactly as long as it is said to, in step with the real one.

    `advance` is the work. The next `now` is its exact end; any other `now` first catches up with real time, so that
    pauses, sleeps and the caller's own work count as they happen. Once `advance` returns, virtual time is less than
    `MAX_LEAD_NS` ahead of real time. It belongs to the one thread that runs the work.
    """

    def __init__(self, real: Clock) -> None:
        self._real = real
        self._moment = real.now()
        self._just_worked = False

    @property
    def moment(self) -> int:
        """Virtual time as it was last reported, without catching up."""
        return self._moment

    def now(self) -> int:
        if self._just_worked:
            self._just_worked = False
        else:
            self._moment = max(self._moment, self._real.now())
        return self._moment

    def sleep_until(self, moment: int) -> None:
        self._just_worked = False
        self._real.sleep_until(moment)
        self._moment = max(self._moment, moment)

    def advance(self, duration: int) -> None:
        """Lets `duration` (ns) of work pass."""
        self._moment += duration
        self._just_worked = True
        if self._moment - self._real.now() >= MAX_LEAD_NS:
            self._real.sleep_until(self._moment)


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
    """One unit. `heat` is the slowdown (0.05: 5%) that continuous use ends at; `load_ms` the range of load times."""

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
