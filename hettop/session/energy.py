"""Energy: the power attributed to each condition, and what follows from it per inference, with how far to trust it.

Pure; knows neither sources nor screens. Definitions and their reasons are in docs/STATISTICS.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from hettop.events import Baseline, Column, EnergyState, Power, PowerStatus, Samples
from hettop.session.attribution import Attribution
from hettop.session.condition import Condition, ConditionKey
from hettop.session.rails import PJ_PER_MJ, RAILS, SUM, RailSums, estimate, estimate_rails, measured, sum_of
from hettop.session.unit import Unit

MJ_PER_J = 1000.0


@dataclass(frozen=True, slots=True)
class EnergyFigures:
    """Energy of one condition. `rails` are those that make up the estimate of CPU+GPU+ANE, empty without one.

    Energies are mJ per inference, powers mW. `coverage` is the share of the running time that power samples cover, 0
    when none did. `uncertainty` is relative: what the step of the source's counter leaves open.
    """

    rails: tuple[str, ...]
    coverage: float | None
    mj: float | None
    net_mj: float | None
    uncertainty: float | None
    mj_by_rail: dict[str, float | None]
    mean_mw: dict[str, float | None]

    @property
    def inferences_per_joule(self) -> float | None:
        return MJ_PER_J / self.mj if self.mj else None


class Energy:
    """The fold's part that turns power samples into energy of conditions; `total` is of the whole session."""

    def __init__(self) -> None:
        self.total = RailSums()
        self.resolution_mj: float | None = None
        self._seen = False
        self._attribution = Attribution()

    @property
    def seen(self) -> bool:
        """Whether there was a power sample at all, whatever it told."""
        return self._seen

    def samples(self, window: Samples, ends: Column, continues: bool) -> None:
        self._attribution.samples(window, ends, continues)

    def power(self, event: Power, units: Iterable[Unit], conditions: Mapping[ConditionKey, Condition]) -> None:
        if not self._seen:
            self._seen = True
            self._attribution.begin(units)
        window = measured(event)
        if window is not None:
            self.total.add(window)
            self.total.add_rail(SUM, estimate(window.mw), window.elapsed_ns)
        for key, counted in self._attribution.take(event, units):
            if key in conditions:
                conditions[key].energy.add(counted)

    def status(self, event: PowerStatus) -> None:
        """A source that ends tells no resolution any more, but what it measured had one."""
        if event.resolution_mj is not None:
            self.resolution_mj = event.resolution_mj

    def reset(self, units: Iterable[Unit]) -> None:
        """Forget what was attributed to conditions; what the session drew in all stays."""
        self._attribution = Attribution()
        if self._seen:
            self._attribution.begin(units)

    def of(self, condition: Condition) -> RailSums:
        """What is attributed to a condition, with the power samples that can be judged by now."""
        sums = condition.energy
        pending = [window for key, window in self._attribution.pending() if key == condition.key]
        if pending:
            sums = sums.copy()
            for window in pending:
                sums.add(window)
        return sums

    def state(self) -> EnergyState | None:
        """For a keyframe; None while there was no power."""
        if not self._seen and self.resolution_mj is None:
            return None
        pending, spans = self._attribution.state()
        return EnergyState(
            begun=self._seen,
            pending=pending,
            spans=spans,
            total=self.total.state(peaks=True),
            resolution_mj=self.resolution_mj,
        )

    @classmethod
    def restored(cls, state: EnergyState | None) -> Energy:
        """As a keyframe describes it. ValueError when it contradicts itself."""
        energy = cls()
        if state is not None:
            energy._seen = state.begun
            energy.resolution_mj = state.resolution_mj
            energy.total = RailSums.restored(state.total)
            energy._attribution = Attribution.restored(state)
        return energy


def energy_figures(
    sums: RailSums, active_ns: int, n: int, baseline: Baseline | None = None, resolution_mj: float | None = None
) -> EnergyFigures:
    """What `sums` mean for a condition that ran for `active_ns` and took `n` samples."""
    means = {rail: sums[rail].mean_mw for rail in RAILS}
    per_mw = active_ns / n / PJ_PER_MJ if n else 0.0
    rails = estimate_rails(means)
    mean = sum_of(means, rails)
    idle = None if baseline is None else sum_of(baseline.mw, rails)
    covered = min((sums[rail].covered_ns for rail in rails), default=0)
    energy = sum(sums[rail].energy_mj for rail in rails)
    windows = max((sums[rail].windows for rail in rails), default=0)
    return EnergyFigures(
        rails=rails,
        # Sources whose windows overlap a little must not claim more than all of it.
        coverage=min(1.0, covered / active_ns) if active_ns else None,
        mj=None if mean is None else mean * per_mw,
        net_mj=None if mean is None or idle is None else (mean - idle) * per_mw,
        uncertainty=windows * resolution_mj / energy if resolution_mj is not None and energy else None,
        mj_by_rail={rail: None if value is None else value * per_mw for rail, value in means.items()},
        mean_mw=means,
    )
