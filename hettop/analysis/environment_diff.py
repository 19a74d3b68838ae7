"""What differs between two recordings beside the model: the machine, its load, how each was measured.

Pure. Reports what differs and which side had worse conditions; the effect on latency is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from hettop.analysis.runs import Run
from hettop.events import Header
from hettop.stats.clock import LEAST_LOSS, LEVEL

NOTABLE_CORES = 0.5
"""Busy cores by which machines differ. Two runs of the same work on an idle machine differ by less than a fifth."""

NOTABLE_SHARE_OF_CORES = 0.05
"""Relative difference for machines with many cores, where half a core of sixty-four does not matter."""

NOTABLE_MEMORY = 25.0
"""Percentage points of memory in use."""

NOTABLE_FRAMES = 0.01
LEAST_MISSED = 10
"""Frames, on the side that missed more of them: a share of a few frames is chance."""

LEAST_KERNELS = 5
"""Times of the canary's fixed work on each side, for a level of them."""


AT_BEST = frozenset({"nominal", "normal", "high power", "mains"})
"""Of thermal states, power modes and power supplies: with any other one, a machine may hold back."""


@dataclass(frozen=True, slots=True)
class Circumstance:
    """`what` was `a` when the first session was made, and `b` when the second was.

    unit, load: while this unit ran under this load; None: all the time. `measure` is what numbers are of (`cores`,
    `share`, `ms`, `percent`), None for words. `worse` is the side that latency suffers on (`a` or `b`), None where that
    cannot be said.
    """

    what: str
    a: float | str | None
    b: float | str | None
    unit: str | None = None
    load: str | None = None
    measure: str | None = None
    worse: str | None = None

    def concerns(self, unit: str, load: str) -> bool:
        return self.unit is None or (self.unit, self.load) == (unit, load)


def in_words(difference: Difference, unit: str | None = None, load: str | None = None) -> Circumstance:
    """A difference of a state that has a name: the side that is not at its best is worse off, if the other is."""
    states = [(difference.a or "").lower(), (difference.b or "").lower()]
    at_best = [state in AT_BEST for state in states]
    worse = None
    if all(states) and at_best[0] != at_best[1]:
        worse = "b" if at_best[0] else "a"
    return Circumstance(difference.what, difference.a, difference.b, unit, load, worse=worse)


def while_it_ran(unit: str, load: str, runs: tuple[Run, Run]) -> Iterator[Circumstance]:
    """What differs while a unit ran under a load. Simulated sessions have no host data."""
    if any(run.simulated for run in runs):
        return
    a, b = (run.meanwhile(unit, load) for run in runs)
    if a is not None and b is not None:
        least = max(NOTABLE_CORES, NOTABLE_SHARE_OF_CORES * max(a.cores, b.cores))
        if abs(b.busy_cores - a.busy_cores) >= least:
            yield _numbers("busy cores, its own included", (a.busy_cores, b.busy_cores), unit, load, "cores")
        memory = a.memory_percent, b.memory_percent
        if memory[0] is not None and memory[1] is not None and abs(memory[1] - memory[0]) >= NOTABLE_MEMORY:
            yield _numbers("memory in use", (memory[0], memory[1]), unit, load, "percent")
    yield from _frames(unit, load, runs)
    yield from _clock(unit, load, runs)


def _frames(unit: str, load: str, runs: Iterable[Run]) -> Iterator[Circumstance]:
    """Of the canary, which does the same on every machine: it misses frames where there is no core for it in time."""
    counted = []
    for run in runs:
        mine = [f for key, f in run.canary.conditions.items() if (key.unit, key.load) == (unit, load)]
        counted.append((sum(frames.missed for frames in mine), sum(frames.due for frames in mine)))
    (missed_a, due_a), (missed_b, due_b) = counted
    if not due_a or not due_b:
        return
    a, b = missed_a / due_a, missed_b / due_b
    if abs(b - a) >= NOTABLE_FRAMES and (missed_b if b > a else missed_a) >= LEAST_MISSED:
        yield _numbers("frames that the canary missed", (a, b), unit, load, "share")


def _clock(unit: str, load: str, runs: Iterable[Run]) -> Iterator[Circumstance]:
    """The level (lower quartile) of the times that the canary's fixed work took: it goes with the clock's period."""
    levels = []
    for run in runs:
        times = [
            time
            for situation, kernels in run.canary.kernels.items()
            if situation.load == load and unit in situation.units
            for time in (*kernels.first, *kernels.recent)
        ]
        levels.append(float(np.quantile(times, LEVEL)) / 1e6 if len(times) >= LEAST_KERNELS else None)
    a, b = levels
    if a is not None and b is not None and 1 - min(a, b) / max(a, b) >= LEAST_LOSS:
        yield _numbers("time of the canary's fixed work", (a, b), unit, load, "ms")


def _numbers(what: str, sides: tuple[float, float], unit: str, load: str, measure: str) -> Circumstance:
    a, b = sides
    return Circumstance(what, a, b, unit, load, measure, worse="b" if b > a else "a")


@dataclass(frozen=True, slots=True)
class Difference:
    """`what` is `a` in the first session and `b` in the second; None where a session does not report."""

    what: str
    a: str | None
    b: str | None


POWER_MODE, POWER_SUPPLY = "power mode", "power supply"
ALL = "all"
MODEL, SHA256 = "model", "model's sha256"
MODEL_FACTS = (MODEL, SHA256)
"""What differs between an old and a new model on purpose."""
SETTINGS = ("rate_hz", "warmup", "shapes", "seed")


def differences(a: Run, b: Run) -> Iterator[Difference]:
    """Everything known to differ; a value that only one session has counts as different."""
    if a.header is not None and b.header is not None:
        for what, first, second in _facts(a.header, b.header):
            if first != second:
                yield Difference(what, _text(first), _text(second))
    if a.on_battery and b.on_battery and a.on_battery != b.on_battery:
        yield Difference(POWER_SUPPLY, _supply(a.on_battery), _supply(b.on_battery))
    if a.dropped or b.dropped:
        yield Difference("dropped samples", str(a.dropped), str(b.dropped))


def thermal_difference(a: Iterable[str | None], b: Iterable[str | None]) -> Difference | None:
    """The thermal states under which the samples of both sides were taken, if they are not the same."""
    first, second = set(a), set(b)
    return None if first == second else Difference("thermal state", _states(first), _states(second))


def _facts(a: Header, b: Header) -> Iterator[tuple[str, object, object]]:
    yield "simulated", a.simulated, b.simulated
    for what, name in (("chip", "chip"), ("OS", "os"), ("cores", "cores"), (POWER_MODE, "power_mode")):
        yield what, getattr(a.host, name), getattr(b.host, name)
    yield "CPUs that it may use", a.host.cpus or ALL, b.host.cpus or ALL
    yield "CPU quota", a.host.cpu_quota or ALL, b.host.cpu_quota or ALL
    for name in sorted({*a.host.frameworks, *b.host.frameworks}):
        yield name, a.host.frameworks.get(name), b.host.frameworks.get(name)
    yield "backend", a.model.backend, b.model.backend
    yield MODEL, a.model.name, b.model.name
    yield SHA256, a.model.sha256, b.model.sha256
    for name in SETTINGS:
        yield name.removesuffix("_hz"), a.settings.get(name), b.settings.get(name)


def _text(value: object) -> str | None:
    match value:
        case None:
            return None
        case bool():
            return "yes" if value else "no"
        case dict():
            return ", ".join(f"{name}={each}" for name, each in value.items()) or "none"
    return str(value)


def _supply(states: frozenset[bool]) -> str:
    return " and ".join("battery" if state else "mains" for state in sorted(states))


def _states(states: set[str | None]) -> str:
    return ", ".join(sorted(state or "unknown" for state in states))
