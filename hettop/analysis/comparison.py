"""Two sessions against each other: where quantiles differ, how sure that is, and whether the comparison is fair.

Pure. A regression is a slowdown proven to be beyond the tolerance, never one that merely looks so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from hettop.analysis.environment_diff import (
    POWER_MODE,
    POWER_SUPPLY,
    Circumstance,
    Difference,
    differences,
    in_words,
    thermal_difference,
    while_it_ran,
)
from hettop.analysis.host_load import Meanwhile, Surroundings
from hettop.analysis.unit_samples import WALL, InOrder, Measured, loads_of, measured
from hettop.session.session import Session
from hettop.session.views.units import are_wrong
from hettop.stats.quantiles import CONFIDENCE, samples_needed
from hettop.stats.resampling import MIN_SAMPLES, block_length, dependence_time, resampled_levels, resamples_for

LEVELS: Mapping[str, float] = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
DEFAULT_TOLERANCE = 0.05

OF_THE_MACHINE = frozenset({POWER_MODE, POWER_SUPPLY})
"""Differences that are circumstances: the same machine and model can be measured without them."""

LEAST_EFFECTIVE = 15
"""Independent samples a side: resampled intervals of fewer are known to be too narrow."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two sessions, with what keeps its samples in order. `on_battery` are the states there were.

    surroundings: what the machine was like meanwhile, if that was gathered.
    """

    session: Session
    in_order: InOrder
    on_battery: frozenset[bool] = frozenset()
    surroundings: Surroundings | None = None

    def meanwhile(self, unit: str, load: str) -> Meanwhile | None:
        return None if self.surroundings is None else self.surroundings.of(unit, load)


@dataclass(frozen=True, slots=True)
class QuantileDifference:
    """`b_ms` - `a_ms`, with its 95% interval. `slower`, `faster`: the interval excludes 0. `regressed`: see module.

    `beyond` is the least relative slowdown that the samples prove, for the decision on the regression.
    """

    a_ms: float
    b_ms: float
    diff_ms: float
    ci_ms: tuple[float, float]
    beyond: float
    regressed: bool

    @property
    def slower(self) -> bool:
        return self.ci_ms[0] > 0

    @property
    def faster(self) -> bool:
        return self.ci_ms[1] < 0


@dataclass(frozen=True, slots=True)
class Compared:
    """One unit under one load, in both sessions. `why` says why quantiles are missing, or what else regressed."""

    unit: str
    load: str
    n: tuple[int, int]
    quantiles: Mapping[str, QuantileDifference] = field(default_factory=dict)
    failed: bool = False
    why: str = ""
    thermal: Difference | None = None

    @property
    def regression(self) -> bool:
        return self.failed or any(quantile.regressed for quantile in self.quantiles.values())


@dataclass(frozen=True, slots=True)
class Comparison:
    """`only_a`, `only_b`: unit and load measured on one side only. `differences` make the comparison unfair.

    simulated: of A, and of B. `circumstances` are what differed notably while it was measured; `untold` are the sides
    (`a`, `b`) that do not report how busy the machine was while any of it was measured.
    """

    simulated: tuple[bool, bool]
    tolerance: float
    conditions: tuple[Compared, ...]
    differences: tuple[Difference, ...]
    only_a: tuple[tuple[str, str], ...]
    only_b: tuple[tuple[str, str], ...]
    circumstances: tuple[Circumstance, ...] = ()
    untold: tuple[str, ...] = ()

    def worse_for(self, condition: Compared) -> frozenset[str]:
        """The sides (`a`, `b`) that were measured under circumstances which latency suffers from."""
        mine = [each for each in self.circumstances if each.concerns(condition.unit, condition.load)]
        return frozenset(each.worse for each in mine if each.worse is not None)

    @property
    def regressions(self) -> int:
        return sum(condition.regression for condition in self.conditions)

    @property
    def fair(self) -> bool:
        unlike = self.differences or self.circumstances
        return not unlike and not any(condition.thermal for condition in self.conditions)


def compare(
    a: Side, b: Side, rng: np.random.Generator, *, tolerance: float = DEFAULT_TOLERANCE, by: str = WALL
) -> Comparison:
    """Compare all conditions that both sessions have; thermal states are pooled, and distinguished in words."""
    first, second = _measured(a, by), _measured(b, by)
    conditions = []
    for key, before in first.items():
        if key not in second:
            conditions += [_gone(before, b.session)] if _failed_in(b.session, key) else []
        elif _went_wrong(a.session, b.session, key[0]):
            why = "its outputs are wrong in B but not in A"
            conditions.append(Compared(*key, (before.n, second[key].n), failed=True, why=why))
        else:
            conditions.append(_compared(before, second[key], tolerance, rng))
    unlike = tuple(differences(a.session, b.session, a.on_battery, b.on_battery))
    return Comparison(
        simulated=(a.session.simulated, b.session.simulated),
        tolerance=tolerance,
        conditions=tuple(conditions),
        differences=unlike,
        only_a=tuple(key for key in first if key not in second and not _failed_in(b.session, key)),
        only_b=tuple(key for key in second if key not in first),
        circumstances=tuple(_circumstances(a, b, conditions, unlike)),
        untold=tuple(name for name, side, other in (("a", a, b), ("b", b, a)) if not _tells(side, other, conditions)),
    )


def _circumstances(
    a: Side, b: Side, conditions: Sequence[Compared], unlike: Sequence[Difference]
) -> Iterator[Circumstance]:
    """Of the whole of both sessions, then of each condition."""
    for each in unlike:
        if each.what in OF_THE_MACHINE:
            yield in_words(each)
    for condition in conditions:
        unit, load = condition.unit, condition.load
        if condition.thermal is not None:
            yield in_words(condition.thermal, unit, load)
        sessions, meanwhile = (a.session, b.session), (a.meanwhile(unit, load), b.meanwhile(unit, load))
        yield from while_it_ran(unit, load, sessions, meanwhile)


def _tells(side: Side, other: Side, conditions: Sequence[Compared]) -> bool:
    """Whether it is known how busy the machine was, and can be compared; a simulated one is what it is.

    Where no core was idle on either side, one of them may still have been wanted by many more.
    """
    if side.session.simulated:
        return True
    for each in conditions:
        mine, others = (one.meanwhile(each.unit, each.load) for one in (side, other))
        if mine is not None and not (mine.saturated and others is not None and others.saturated):
            return True
    return False


def _measured(side: Side, by: str) -> dict[tuple[str, str], Measured]:
    session = side.session
    found = [u for load in loads_of(session) for u in measured(session, load, side.in_order, by, variants=True)]
    return {(unit.unit, unit.load): unit for unit in found}


def _went_wrong(a: Session, b: Session, unit: str) -> bool:
    """Whether a unit's answers are far off in B only: no latency makes up for that."""
    return are_wrong(b.units[unit].outputs) and not are_wrong(a.units[unit].outputs)


def _failed_in(session: Session, key: tuple[str, str]) -> bool:
    return key[0] in session.units and session.units[key[0]].error is not None


def _gone(unit: Measured, session: Session) -> Compared:
    """Measured before, failed now: the gravest of regressions."""
    error = session.units[unit.unit].error
    why = f"it failed in B: {error.message if error else 'no reason reported'}"
    return Compared(unit.unit, unit.load, (unit.n, 0), failed=True, why=why)


def _compared(a: Measured, b: Measured, tolerance: float, rng: np.random.Generator) -> Compared:
    thermal = thermal_difference(a, b)
    why = _too_few(a, b)
    if why:
        return Compared(a.unit, a.load, (a.n, b.n), why=why, thermal=thermal)
    names = [
        name
        for name, level in LEVELS.items()
        if name == "p50" or min(a.samples_ms.size, b.samples_ms.size) >= samples_needed(level)
    ]
    quantiles = quantile_differences(a, b, names, tolerance, rng)
    return Compared(a.unit, a.load, (a.n, b.n), quantiles=quantiles, thermal=thermal)


def _too_few(a: Measured, b: Measured) -> str:
    for name, side in (("A", a), ("B", b)):
        n = side.samples_ms.size
        if n < MIN_SAMPLES:
            return f"insufficient data: {name} has {n} samples, {MIN_SAMPLES} are needed"
        effective = int(n / dependence_time(side.samples_ms, 0.5))
        if effective < LEAST_EFFECTIVE:
            return (
                f"insufficient data: {name} has an effective sample size of {effective} ({n} samples), "
                f"{LEAST_EFFECTIVE} are needed"
            )
    return ""


def quantile_differences(
    a: Measured, b: Measured, names: Sequence[str], tolerance: float, rng: np.random.Generator
) -> dict[str, QuantileDifference]:
    """Differences from resamples of each side in blocks.

    The decision shares its 2.5% among the quantiles (Bonferroni), or the more of them are looked at, the more often
    one would look slower by chance.
    """
    levels = [LEVELS[name] for name in names]
    resamples = resamples_for(a.samples_ms.size, b.samples_ms.size)
    before, after = (
        resampled_levels(side.samples_ms, levels, block_length(side.samples_ms), resamples, rng) for side in (a, b)
    )
    error = (1 - CONFIDENCE) / 2
    found = {}
    for index, name in enumerate(names):
        low, high = np.quantile(after[:, index] - before[:, index], (error, 1 - error))
        ratios = after[:, index] / np.maximum(before[:, index], 1e-6)  # a latency of 0 is below any clock's tick
        beyond = float(np.quantile(ratios, error / len(names))) - 1
        a_ms, b_ms = (_level(side, levels[index]) for side in (a, b))
        regressed = beyond > tolerance
        found[name] = QuantileDifference(a_ms, b_ms, b_ms - a_ms, (float(low), float(high)), beyond, regressed)
    return found


def _level(side: Measured, level: float) -> float:
    return float(np.quantile(side.samples_ms, level))
