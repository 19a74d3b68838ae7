"""Two sides, of one or several recordings each: where quantiles differ, how sure that is, and whether it is fair.

Pure. With several runs a side, runs are the random factor, and what is said is proven. With one run a side, intervals
come from within the runs: how far another run may lie is unknown, and nothing is proven.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from hettop.analysis.quantile_differences import QuantileDifference, quantile_differences, run_differences
from hettop.analysis.runs import LEVELS, Run, RunCondition
from hettop.stats.resampling import MIN_SAMPLES, dependence_time
from hettop.stats.runs import runs_needed

DEFAULT_TOLERANCE = 0.05

OF_THE_MACHINE = frozenset({POWER_MODE, POWER_SUPPLY})
"""Differences that are circumstances: the same machine and model can be measured without them."""

LEAST_EFFECTIVE = 25
"""Independent samples a side, where there is one run a side: the dependence of fewer is not seen reliably."""

Key = tuple[str, str]
"""Unit and load."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One unit under one load, on both sides. `why` says why quantiles are missing, or what else regressed.

    n: samples of all runs of A, and of B. runs: how many have samples of it. always: it failed in every run of B and in
    none of A, and there are enough of them.
    """

    unit: str
    load: str
    n: tuple[int, int]
    quantiles: Mapping[str, QuantileDifference] = field(default_factory=dict)
    failed: bool = False
    why: str = ""
    thermal: Difference | None = None
    runs: tuple[int, int] = (1, 1)
    always: bool = False

    @property
    def regression(self) -> bool:
        return self.failed or any(quantile.regressed for quantile in self.quantiles.values())

    @property
    def proven(self) -> bool:
        """Whether it is proven that it regressed, or that it did not."""
        if self.failed:
            return self.always
        regressed = [each for each in self.quantiles.values() if each.regressed]
        return bool(self.quantiles) and all(each.proven for each in regressed or self.quantiles.values())

    @property
    def equivalent(self) -> bool:
        """Whether all quantiles are proven to be the same within the tolerance."""
        return not self.failed and bool(self.quantiles) and all(each.equivalent for each in self.quantiles.values())


@dataclass(frozen=True, slots=True)
class Comparison:
    """`only_a`, `only_b`: unit and load measured on one side only. `differences` make the comparison unfair.

    simulated: of A, and of B; runs: of A, and of B. `circumstances` are what differed notably while it was measured;
    `untold` are the sides (`a`, `b`) that do not report how busy the machine was while any of it was measured.
    """

    simulated: tuple[bool, bool]
    tolerance: float
    conditions: tuple[Compared, ...]
    differences: tuple[Difference, ...]
    only_a: tuple[Key, ...]
    only_b: tuple[Key, ...]
    circumstances: tuple[Circumstance, ...] = ()
    untold: tuple[str, ...] = ()
    runs: tuple[int, int] = (1, 1)

    def worse_for(self, condition: Compared) -> frozenset[str]:
        """The sides (`a`, `b`) that were measured under circumstances which latency suffers from."""
        mine = [each for each in self.circumstances if each.concerns(condition.unit, condition.load)]
        return frozenset(each.worse for each in mine if each.worse is not None)

    @property
    def several(self) -> bool:
        """Whether there are several runs a side."""
        return max(self.runs) > 1

    @property
    def regressions(self) -> int:
        return sum(condition.regression for condition in self.conditions)

    @property
    def proven(self) -> bool:
        """Whether it is proven that there is a regression, or that there is none."""
        regressed = [condition for condition in self.conditions if condition.regression]
        if regressed:
            return any(condition.proven for condition in regressed)
        return bool(self.conditions) and not self.only_a and all(condition.proven for condition in self.conditions)

    @property
    def equivalent(self) -> bool:
        """Whether everything is proven to be the same within the tolerance."""
        return bool(self.conditions) and all(condition.equivalent for condition in self.conditions)

    @property
    def fair(self) -> bool:
        """Whether nothing else is known to differ, and it is known how busy the machine was."""
        unlike = self.differences or self.circumstances or self.untold
        return not unlike and not any(condition.thermal for condition in self.conditions)


def compare(
    a: Sequence[Run], b: Sequence[Run], rng: np.random.Generator, *, tolerance: float = DEFAULT_TOLERANCE
) -> Comparison:
    """Compare all conditions that both sides have; thermal states are pooled, and distinguished in words."""
    first, second = _keys(a), _keys(b)
    broken = {key for key in first if _breakage(key, a, b)}
    common = [key for key in first if key in second and key not in broken]
    needed = runs_needed(len(common)) if max(len(a), len(b)) > 1 else 1
    reasons = {key: _too_few(_runs_with(key, a), _runs_with(key, b), needed) for key in common}
    looked_at = sum(len(_levels_of(key, a, b)) for key in common if not reasons[key])
    conditions = []
    for key in first:
        if key in broken:
            conditions.append(_broken(key, a, b))
        elif key in second:
            why = reasons[key]
            quantiles = {} if why else _quantiles(key, (a, b), tolerance, rng, looked_at=looked_at)
            conditions.append(_compared(key, a, b, quantiles, why))
    unlike = tuple(dict.fromkeys(each for one in a for other in b for each in differences(one, other)))
    return Comparison(
        simulated=(any(run.simulated for run in a), any(run.simulated for run in b)),
        tolerance=tolerance,
        conditions=tuple(conditions),
        differences=unlike,
        only_a=tuple(key for key in first if key not in second and key not in broken),
        only_b=tuple(key for key in second if key not in first),
        circumstances=_once(_circumstances(a, b, conditions, unlike)),
        untold=tuple(name for name, side, other in (("a", a, b), ("b", b, a)) if not _tell(side, other, conditions)),
        runs=(len(a), len(b)),
    )


def _keys(runs: Iterable[Run]) -> dict[Key, None]:
    return dict.fromkeys(key for run in runs for key in run.conditions)


def _runs_with(key: Key, runs: Iterable[Run]) -> list[RunCondition]:
    return [run.conditions[key] for run in runs if key in run.conditions]


def _circumstances(
    a: Sequence[Run], b: Sequence[Run], conditions: Sequence[Compared], unlike: Sequence[Difference]
) -> Iterator[Circumstance]:
    """Of the whole of both sides, then of each condition and pair of runs."""
    for each in unlike:
        if each.what in OF_THE_MACHINE:
            yield in_words(each)
    for condition in conditions:
        unit, load = condition.unit, condition.load
        if condition.thermal is not None:
            yield in_words(condition.thermal, unit, load)
        for one in a:
            for other in b:
                yield from while_it_ran(unit, load, (one, other))


def _once(found: Iterable[Circumstance]) -> tuple[Circumstance, ...]:
    """Each circumstance once: of several pairs of runs, the pair that differs most."""
    kept: dict[object, Circumstance] = {}
    for each in found:
        words = () if each.measure is not None else (each.a, each.b)
        key = each.what, each.unit, each.load, each.worse, words
        if key not in kept or _distance(each) > _distance(kept[key]):
            kept[key] = each
    return tuple(kept.values())


def _distance(each: Circumstance) -> float:
    a, b = each.a, each.b
    return abs(b - a) if isinstance(a, float) and isinstance(b, float) else 0.0


def _tell(side: Sequence[Run], others: Sequence[Run], conditions: Sequence[Compared]) -> bool:
    return all(_tells(run, other, conditions) for run in side for other in others)


def _tells(run: Run, other: Run, conditions: Sequence[Compared]) -> bool:
    """Whether it is known how busy the machine was, and can be compared; a simulated one is what it is.

    Where no core was idle in either run, one of them may still have been wanted by many more.
    """
    if run.simulated:
        return True
    for each in conditions:
        mine, others = (one.meanwhile(each.unit, each.load) for one in (run, other))
        if mine is not None and not (mine.saturated and others is not None and others.saturated):
            return True
    return False


def _breakage(key: Key, a: Sequence[Run], b: Sequence[Run]) -> str:
    """What went wrong in B only: no latency makes up for that."""
    unit = key[0]
    failures = [run.failed[unit] for run in b if run.has_failed(key)]
    if failures and not any(run.has_failed(key) for run in a):
        where = "it failed in B" if len(b) == 1 else f"it failed in {len(failures)} of {len(b)} runs of B"
        return f"{where}: {failures[0]}"
    measured = _runs_with(key, b)
    if measured and any(unit in run.wrong for run in b) and not any(unit in run.wrong for run in a):
        return "its outputs are wrong in B but not in A"
    return ""


def _broken(key: Key, a: Sequence[Run], b: Sequence[Run]) -> Compared:
    before, after = _runs_with(key, a), _runs_with(key, b)
    every = all(run.has_failed(key) or key[0] in run.wrong for run in b)
    enough = min(len(before), len(b)) >= runs_needed(len(_keys(a)))
    return Compared(
        *key,
        _n(before, after),
        failed=True,
        why=_breakage(key, a, b),
        runs=(len(before), len(after)),
        always=every and enough,
    )


def _n(a: Iterable[RunCondition], b: Iterable[RunCondition]) -> tuple[int, int]:
    return sum(run.n for run in a), sum(run.n for run in b)


def _compared(
    key: Key, a: Sequence[Run], b: Sequence[Run], quantiles: Mapping[str, QuantileDifference], why: str
) -> Compared:
    before, after = _runs_with(key, a), _runs_with(key, b)
    thermal = thermal_difference(*({state for run in side for state in run.thermal} for side in (before, after)))
    runs = len(before), len(after)
    return Compared(*key, _n(before, after), quantiles=quantiles, why=why, thermal=thermal, runs=runs)


def _quantiles(
    key: Key,
    sides: tuple[Sequence[Run], Sequence[Run]],
    tolerance: float,
    rng: np.random.Generator,
    *,
    looked_at: int,
) -> dict[str, QuantileDifference]:
    """Between the runs where there are several, else from within the two."""
    names = _levels_of(key, *sides)
    a, b = (_runs_with(key, side) for side in sides)
    first, second = a[0].samples_ms, b[0].samples_ms
    if len(a) == len(b) == 1 and first is not None and second is not None:
        together = max(a[0].per_answer, b[0].per_answer)
        return quantile_differences(first, second, names, tolerance, rng, looked_at=looked_at, together=together)
    return run_differences(a, b, names, tolerance, looked_at=looked_at)


def _levels_of(key: Key, a: Iterable[Run], b: Iterable[Run]) -> list[str]:
    """The quantiles that all runs have enough samples for."""
    runs = [*_runs_with(key, a), *_runs_with(key, b)]
    return [name for name in LEVELS if all(name in run.levels_ms for run in runs)]


def _too_few(a: Sequence[RunCondition], b: Sequence[RunCondition], needed: int) -> str:
    for name, runs in (("A", a), ("B", b)):
        if len(runs) < needed:
            return f"insufficient data: {name} has {len(runs)} run{'s' if len(runs) > 1 else ''}, {needed} are needed"
        size = min(run.size for run in runs)
        if size < MIN_SAMPLES:
            where = name if len(runs) == 1 else f"a run of {name}"
            return f"insufficient data: {where} has {size} samples, {MIN_SAMPLES} are needed"
        samples = runs[0].samples_ms
        if needed == 1 and samples is not None:
            effective = int(size / dependence_time(samples, 0.5))
            if effective < LEAST_EFFECTIVE:
                return (
                    f"insufficient data: {name} has an effective sample size of {effective} ({size} samples), "
                    f"{LEAST_EFFECTIVE} are needed"
                )
    return ""
