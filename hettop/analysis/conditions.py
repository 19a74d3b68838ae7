"""Units under loads: what competing load does to each, and how wrong an estimate made on an idle machine would be.

Pure; works on the statistics of conditions, one object each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hettop.events import NO_LOAD
from hettop.session.statistics import Statistics

FIGURES = ("p50_ms", "p90_ms", "p99_ms", "max_ms", "throughput_per_s", "canary_missed", "energy_mj_per_inference")


@dataclass(frozen=True, slots=True)
class Cell:
    """One condition's figures, and their relative change against the same unit (and thermal state) under no load.

    Figures are named as in `Statistics`; None is unknown. `change` has those of which both are known and idle is not 0.
    `frames_due` is of how many frames `canary_missed` were missed.
    """

    unit: str
    load: str
    thermal: str | None
    n: int
    figures: dict[str, float | None]
    change: dict[str, float]
    frames_due: int | None = None


@dataclass(frozen=True, slots=True)
class EstimationError:
    """How far an estimate made without load (`offline_ms`) is from the mean under `load` (`runtime_ms`).

    `runtime_error` = (runtime - offline) / offline; `estimate_error` = |offline - runtime| / runtime.
    """

    unit: str
    load: str
    offline_ms: float
    runtime_ms: float
    runtime_error: float
    estimate_error: float


def contention(rows: Sequence[Statistics]) -> list[Cell]:
    """The contention matrix: a cell for each condition that has samples, in the order of `rows`."""
    return [_cell(row, _idle(rows, row)) for row in rows if row.n]


def runtime_error(offline: float, runtime: float) -> float:
    """(t_runtime - t_offline) / t_offline: how much longer it takes than the offline figure says."""
    return (runtime - offline) / offline


def estimate_error(estimate: float, actual: float) -> float:
    """|estimate - actual| / actual: how wrong the estimate is."""
    return abs(estimate - actual) / actual


def estimation_errors(rows: Sequence[Statistics]) -> list[EstimationError]:
    """For each unit under each load, with its mean under no load as the estimate."""
    found = []
    for row in rows:
        idle = _idle(rows, row)
        if idle is None or row is idle or not row.mean_ms or not idle.mean_ms:
            continue
        found.append(
            EstimationError(
                unit=row.unit,
                load=row.load,
                offline_ms=idle.mean_ms,
                runtime_ms=row.mean_ms,
                runtime_error=runtime_error(idle.mean_ms, row.mean_ms),
                estimate_error=estimate_error(idle.mean_ms, row.mean_ms),
            )
        )
    return found


def _idle(rows: Sequence[Statistics], row: Statistics) -> Statistics | None:
    """The same unit without load: in the same thermal state if there is one, else in the state it was first in."""
    candidates = [other for other in rows if other.unit == row.unit and other.load == NO_LOAD and other.n]
    same = [other for other in candidates if other.thermal == row.thermal]
    if row.load == NO_LOAD:
        return next(iter(candidates), None)
    return next(iter(same or candidates), None)


def _cell(row: Statistics, idle: Statistics | None) -> Cell:
    figures: dict[str, float | None] = {name: getattr(row, name) for name in FIGURES}
    change = {}
    for name, value in figures.items():
        before = None if idle is None or idle is row else getattr(idle, name)
        if value is not None and before:
            change[name] = value / before - 1
    return Cell(row.unit, row.load, row.thermal, row.n, figures, change, row.canary_due)
