"""The Pareto front: the choices that no other is better than in all objectives.

Pure: numbers and names in, marks out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Objective:
    """A quantity to minimize, or with `highest` to maximize, in `unit`."""

    name: str
    unit: str = ""
    highest: bool = False


LATENCY = Objective("latency", "ms")
ENERGY = Objective("energy", "mJ")
ACCURACY = Objective("accuracy", "", highest=True)
DIFFERENCE = Objective("difference")
THROUGHPUT = Objective("throughput", "items/s", highest=True)
SIZE = Objective("size", "B")
PER_ITEM = (LATENCY, ENERGY)
"""Objectives that are measured of a call, whatever number of items it has."""

OBJECTIVES = {each.name: each for each in (LATENCY, ENERGY, ACCURACY, DIFFERENCE, THROUGHPUT, SIZE)}


@dataclass(frozen=True, slots=True)
class Choice:
    """One of what there is to choose from. `values` by objective; what is unknown is not among them.

    file: where it comes from; load: the competing load it was measured under. items: how many a call has.
    latency_ci: the interval of its latency, None where there is none.
    """

    label: str
    unit: str
    load: str
    values: Mapping[str, float]
    file: str = ""
    simulated: bool = False
    items: int = 1
    latency_ci: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """A choice on the front, or `dominated_by` one that is there; neither, if it `lacks` an objective.

    within_noise: it is better only in latency, and the intervals of both overlap, so that nothing is proven.
    """

    choice: Choice
    on_front: bool
    dominated_by: Choice | None = None
    lacks: tuple[str, ...] = ()
    within_noise: bool = False


def per_item(
    choices: Sequence[Choice], objectives: Sequence[Objective]
) -> tuple[Sequence[Choice], Sequence[Objective]]:
    """Time and energy by the items of a call, where a call of any has more than one: else calls are held against what
    does several times their work. Otherwise both as they are."""
    if all(choice.items == 1 for choice in choices):
        return choices, objectives
    renamed = [replace(each, unit=f"{each.unit}/item") if each in PER_ITEM else each for each in objectives]
    return [_by_item(choice) for choice in choices], renamed


def _by_item(choice: Choice) -> Choice:
    names = [each.name for each in PER_ITEM]
    values = {name: value / choice.items if name in names else value for name, value in choice.values.items()}
    low_high = choice.latency_ci
    interval = None if low_high is None else (low_high[0] / choice.items, low_high[1] / choice.items)
    return replace(choice, values=values, latency_ci=interval)


def pareto_front(values: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """Which rows of `values` (n rows, an objective a column, all to be low) no other row dominates.

    A row dominates another if it is nowhere higher and somewhere lower; equal rows do not dominate each other.
    ValueError for what is not finite.
    """
    rows = np.asarray(values, dtype=np.float64)
    if not np.isfinite(rows).all():
        raise ValueError("an objective is not finite")
    mask = np.zeros(len(rows), dtype=bool)
    front = np.empty((0, rows.shape[1] if rows.ndim == 2 else 0))
    # In lexicographic order no row is dominated by a later one, so that the front only grows.
    for index in np.lexsort(rows.T[::-1]) if rows.size else ():
        row = rows[index]
        if not dominating(front, row).any():
            mask[index] = True
            front = np.vstack((front, row))
    return mask


def dominating(others: npt.NDArray[np.float64], row: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Which of the others dominate the row."""
    nowhere_higher: npt.NDArray[np.bool_] = np.all(others <= row, axis=1)
    somewhere_lower: npt.NDArray[np.bool_] = np.any(others < row, axis=1)
    return np.logical_and(nowhere_higher, somewhere_lower)


def standings(choices: Sequence[Choice], objectives: Sequence[Objective]) -> list[Standing]:
    """Each choice's standing, in order. Those that lack an objective are held against nothing."""
    lacks = [tuple(o.name for o in objectives if not _known(choice, o)) for choice in choices]
    compared = [index for index, missing in enumerate(lacks) if not missing]
    costs = np.array([[_cost(choices[index], o) for o in objectives] for index in compared], dtype=np.float64)
    costs = costs.reshape(len(compared), len(objectives))
    mask = pareto_front(costs)
    front = [place for place in range(len(compared)) if mask[place]]
    found: dict[int, Standing] = {}
    for place, index in enumerate(compared):
        by, near = None, False
        if not mask[place]:
            beating = [choices[compared[front[i]]] for i in np.flatnonzero(dominating(costs[front], costs[place]))]
            proven = [other for other in beating if not _within_noise(other, choices[index], objectives)]
            by, near = (proven or beating)[0], not proven
        found[index] = Standing(choices[index], bool(mask[place]), by, within_noise=near)
    return [found.get(index) or Standing(choice, False, lacks=lacks[index]) for index, choice in enumerate(choices)]


def usual_objectives(choices: Sequence[Choice]) -> list[Objective]:
    """Latency, and what else is known: energy, and accuracy or else the difference of outputs, the best known first.

    One is left out if fewer than two choices would have all of them.
    """

    def having(objectives: Sequence[Objective]) -> int:
        return sum(all(_known(choice, objective) for objective in objectives) for choice in choices)

    quality = ACCURACY if having([ACCURACY]) >= 2 else DIFFERENCE
    found = [LATENCY]
    for objective in sorted((ENERGY, quality), key=lambda each: -having([LATENCY, each])):
        if having([*found, objective]) >= 2:
            found.append(objective)
    return sorted(found, key=list(OBJECTIVES.values()).index)


def _within_noise(better: Choice, worse: Choice, objectives: Sequence[Objective]) -> bool:
    """Whether it is better only in latency, within the intervals of both."""
    if better.latency_ci is None or worse.latency_ci is None:
        return False
    others = [each for each in objectives if each.name != LATENCY.name]
    return better.latency_ci[1] >= worse.latency_ci[0] and all(_cost(better, o) == _cost(worse, o) for o in others)


def _known(choice: Choice, objective: Objective) -> bool:
    return math.isfinite(choice.values.get(objective.name, math.nan))


def _cost(choice: Choice, objective: Objective) -> float:
    value = choice.values[objective.name]
    return -value if objective.highest else value
