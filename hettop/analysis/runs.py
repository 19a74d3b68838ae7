"""One recording of a comparison: its quantiles and what is known of the machine, without the samples themselves.

Pure. Samples of a recording are kept only where it is the only run of its side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from hettop.analysis.host_load import Meanwhile, Surroundings
from hettop.analysis.unit_samples import WALL, Float64Array, InOrder, loads_of, measured
from hettop.events import Header
from hettop.session.canary import CanaryFold
from hettop.session.session import Session
from hettop.session.views.units import are_wrong
from hettop.stats.quantiles import quantile, samples_needed

LEVELS: Mapping[str, float] = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
LEAST_MS = 1e-6
"""A latency of 0 is below any clock's tick; ratios need one above."""


@dataclass(frozen=True, slots=True)
class RunCondition:
    """One unit under one load in one run: `n` samples, of which `size` are kept in order of arrival.

    levels_ms: the quantiles that `size` suffices for. resolution_ms: smallest distance between two different samples.
    samples_ms: None where they were dropped. per_answer: how many are tokens of one answer.
    """

    n: int
    size: int
    levels_ms: Mapping[str, float]
    resolution_ms: float
    thermal: tuple[str | None, ...]
    samples_ms: Float64Array | None
    per_answer: float = 1.0


@dataclass(frozen=True, slots=True)
class Run:
    """What a comparison needs of one recording. `conditions` by unit and load.

    failed: units that failed, and why. wrong: units whose outputs are wrong. on_battery: the states there were.
    surroundings: what the machine was like meanwhile, if that was gathered.
    """

    conditions: Mapping[tuple[str, str], RunCondition]
    header: Header | None = None
    dropped: int = 0
    simulated: bool = False
    canary: CanaryFold = field(default_factory=CanaryFold)
    failed: Mapping[str, str] = field(default_factory=dict)
    wrong: frozenset[str] = frozenset()
    on_battery: frozenset[bool] = frozenset()
    surroundings: Surroundings | None = None

    def meanwhile(self, unit: str, load: str) -> Meanwhile | None:
        return None if self.surroundings is None else self.surroundings.of(unit, load)

    def has_failed(self, key: tuple[str, str]) -> bool:
        """Whether the unit failed before it was measured under this load."""
        return key not in self.conditions and key[0] in self.failed


def run_of(
    session: Session,
    in_order: InOrder,
    on_battery: frozenset[bool] = frozenset(),
    surroundings: Surroundings | None = None,
    *,
    by: str = WALL,
    keep_samples: bool = True,
) -> Run:
    """Reduce a folded recording to what is compared; thermal states are pooled."""
    found = [unit for load in loads_of(session) for unit in measured(session, load, in_order, by, variants=True)]
    return Run(
        header=session.header,
        dropped=session.dropped,
        simulated=session.simulated,
        canary=session.canary,
        conditions={
            (each.unit, each.load): replace(
                condition_of(each.samples_ms, each.n, each.thermal, keep_samples=keep_samples),
                per_answer=max(1.0, each.n / each.answers) if each.answers else 1.0,
            )
            for each in found
        },
        failed={name: unit.error.message for name, unit in session.units.items() if unit.error is not None},
        wrong=frozenset(name for name, unit in session.units.items() if are_wrong(unit.outputs)),
        on_battery=on_battery,
        surroundings=surroundings,
    )


def condition_of(
    samples: Float64Array, n: int, thermal: tuple[str | None, ...] = (), *, keep_samples: bool = True
) -> RunCondition:
    """Reduce the samples (ms, in order of arrival) of `n` of one condition."""
    needed = {name: 1 if name == "p50" else samples_needed(level) for name, level in LEVELS.items()}
    steps = np.diff(np.unique(samples))
    return RunCondition(
        n=n,
        size=samples.size,
        levels_ms={name: quantile(samples, LEVELS[name]) for name in LEVELS if samples.size >= needed[name]},
        resolution_ms=float(steps.min()) if steps.size else 0.0,
        thermal=thermal,
        samples_ms=samples if keep_samples else None,
    )
