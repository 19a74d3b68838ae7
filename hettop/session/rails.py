"""Power rails and what is summed up of them: time covered, energy, and how many power samples that was.

Energy is whole picojoules (mW x ns): sums do not depend on their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hettop.compute_units import own_rails
from hettop.events import EnergyBatchesState, Power, RailState
from hettop.stats.batches import MOST_BATCHES, ratio_interval

RAILS = ("cpu", "gpu", "ane", "dram", "package", "combined")
MOST_RAILS = 32  # with those of accelerators, whose names are whatever a recording says
PARTS = ("cpu", "gpu", "ane")  # of which the estimate is made where the source reports no `combined`
SUM = "sum"  # stands beside the rails where the estimate itself is summed up
NOT_MEASURED = frozenset({"suspect-zero", "stale", "partial", "inconsistent"})
"""Flags of power samples that report no power: 0 W while busy is not a measurement."""

PJ_PER_MJ = 1e9
Rails = tuple[float | None, ...]
"""One power sample in mW, a place for each of `RAILS`; None where it was not measured."""


class PowerWindow(NamedTuple):
    """Mean power in mW over the `elapsed_ns` before `end_ns`: a place for each of `RAILS`, then one for each of
    `others`, the rails of accelerators."""

    end_ns: int
    elapsed_ns: int
    mw: Rails
    others: tuple[str, ...] = ()

    @property
    def known(self) -> dict[str, float | None]:
        """The power of each rail by its name."""
        return dict(zip((*RAILS, *self.others), self.mw, strict=True))

    @property
    def start_ns(self) -> int:
        return self.end_ns - self.elapsed_ns


def measured(event: Power) -> PowerWindow | None:
    """The window of a power sample, or None when it measured nothing."""
    known = rails_of(event)
    if not event.elapsed_ns or not NOT_MEASURED.isdisjoint(event.flags) or all(mw is None for mw in known.values()):
        return None
    return PowerWindow(event.t, event.elapsed_ns, tuple(known.values()), tuple(known)[len(RAILS) :])


def rails_of(event: Power) -> dict[str, float | None]:
    """A power sample's rails: `RAILS` in their order, then those of its accelerators."""
    others = [each.name for each in event.accelerators if each.name not in (*RAILS, SUM)]
    return {rail: event.mw.get(rail) for rail in (*RAILS, *others)}


def estimate_rails(known: Mapping[str, float | None], unit: str | None = None) -> tuple[str, ...]:
    """Which rails the power of `unit` is made of; None: that of all that can compute.

    `combined`, else `package` of a PC, which has its GPU and NPU in it, else those known of CPU, GPU and ANE, else
    `package`. Accelerators with rails of their own come on top: all of them, or those that the unit may run on. Where
    the rails have nothing of the device that the unit runs on, there are none: power of the CPU is not that of another.
    """
    base = _base_rails(known)
    others = tuple(rail for rail, mw in known.items() if mw is not None and rail not in (*RAILS, SUM))
    if unit is None:
        return (*base, *others)
    names = own_rails(unit)
    if names is None:
        return base
    own = tuple(rail for rail in others if rail.startswith(names))
    if base in (("combined",), ("package",)):
        return (*base, *own)
    return own or (base if "gpu" in base and ":GPU" in unit else ())


def _base_rails(known: Mapping[str, float | None]) -> tuple[str, ...]:
    """Without the accelerators that have rails of their own. Only a Mac has an ANE."""
    if known.get("combined") is not None:
        return ("combined",)
    parts = tuple(rail for rail in PARTS if known.get(rail) is not None)
    has_package = known.get("package") is not None and known.get("ane") is None
    return ("package",) if has_package else parts


def sum_of(values: Mapping[str, float | None], rails: Sequence[str]) -> float | None:
    """The sum of these rails; None when one is unknown, or there is none."""
    found = [value for rail in rails if (value := values.get(rail)) is not None]
    return sum(found) if found and len(found) == len(rails) else None


def estimate(known: Mapping[str, float | None], unit: str | None = None) -> float | None:
    """The power in mW that `estimate_rails` defines, of one power sample."""
    return sum_of(known, estimate_rails(known, unit))


class RailSum:
    """The power samples of one rail, added up. `peak_mw` is the highest."""

    __slots__ = ("covered_ns", "energy_pj", "peak_mw", "windows")

    def __init__(self, covered_ns: int = 0, energy_pj: int = 0, windows: int = 0, peak_mw: float = 0.0) -> None:
        self.covered_ns = covered_ns
        self.energy_pj = energy_pj
        self.windows = windows
        self.peak_mw = peak_mw

    def add(self, mw: float, elapsed_ns: int) -> None:
        self.covered_ns += elapsed_ns
        self.energy_pj += round(mw * elapsed_ns)
        self.windows += 1
        self.peak_mw = max(self.peak_mw, mw)

    @property
    def mean_mw(self) -> float | None:
        return self.energy_pj / self.covered_ns if self.covered_ns else None

    @property
    def energy_mj(self) -> float:
        return self.energy_pj / PJ_PER_MJ


class RailSums:
    """Sums of the rails that were measured at all."""

    __slots__ = ("_sums",)

    def __init__(self) -> None:
        self._sums: dict[str, RailSum] = {}

    def __getitem__(self, rail: str) -> RailSum:
        """The sum of this rail; an empty one where it was never measured."""
        return self._sums.get(rail) or RailSum()

    def __bool__(self) -> bool:
        return bool(self._sums)

    def add(self, window: PowerWindow) -> None:
        for rail, mw in window.known.items():
            self.add_rail(rail, mw, window.elapsed_ns)

    @property
    def rails(self) -> tuple[str, ...]:
        """All of `RAILS`, then those of accelerators that were measured."""
        return (*RAILS, *(rail for rail in self._sums if rail not in (*RAILS, SUM)))

    def add_rail(self, rail: str, mw: float | None, elapsed_ns: int) -> None:
        if mw is not None and (rail in self._sums or rail in (*RAILS, SUM) or len(self._sums) < MOST_RAILS):
            self._sums.setdefault(rail, RailSum()).add(mw, elapsed_ns)

    def copy(self) -> RailSums:
        copied = RailSums()
        copied._sums = {
            rail: RailSum(held.covered_ns, held.energy_pj, held.windows, held.peak_mw)
            for rail, held in self._sums.items()
        }
        return copied

    def state(self, *, peaks: bool = False) -> dict[str, RailState]:
        """For a keyframe; in the rails' order, so that equal sums read alike."""
        return {
            rail: RailState(held.covered_ns, str(held.energy_pj), held.windows, held.peak_mw if peaks else None)
            for rail in (*self.rails, SUM)
            if (held := self._sums.get(rail)) is not None
        }

    @classmethod
    def restored(cls, state: Mapping[str, RailState]) -> RailSums:
        """The sums a keyframe describes. ValueError when they are none."""
        sums = cls()
        for rail, held in state.items():
            energy = int(held.energy)
            if len(state) > MOST_RAILS + 1 or energy < 0 or not held.covered_ns or not held.windows:
                raise ValueError("a keyframe's energy is none")
            sums._sums[rail] = RailSum(held.covered_ns, energy, held.windows, held.peak_mw or 0.0)
        return sums


MOST_PJ = 10**30
"""Of a batch: 10^18 J, more than any machine draws."""


@dataclass(slots=True)
class EnergyBatches:
    """The power of one unit (`estimate_rails`) in consecutive power windows, `size` to a batch: how much it spreads.

    At most `MOST_BATCHES`: neighbours are joined when there are more. A batch is (time in ns, energy in pJ).
    """

    windows: int = 0
    size: int = 1
    batches: list[tuple[int, int]] = field(default_factory=list)

    def add(self, window: PowerWindow, unit: str | None = None) -> None:
        mw = estimate(window.known, unit)
        if mw is None:
            return
        if self.windows == MOST_BATCHES * self.size:
            pairs = zip(*[iter(self.batches)] * 2, strict=True)
            self.batches = [(a_ns + b_ns, a_pj + b_pj) for (a_ns, a_pj), (b_ns, b_pj) in pairs]
            self.size *= 2
        if self.windows % self.size == 0:
            self.batches.append((0, 0))
        elapsed_ns, energy_pj = self.batches[-1]
        self.batches[-1] = elapsed_ns + window.elapsed_ns, energy_pj + round(mw * window.elapsed_ns)
        self.windows += 1

    def interval_mw(self, confidence: float) -> tuple[float, float] | None:
        """Interval of the mean power, from the batches that are full; None of too few."""
        full = self.batches[: self.windows // self.size]
        return ratio_interval([pj for _, pj in full], [ns for ns, _ in full], confidence) if full else None

    def copy(self) -> EnergyBatches:
        return EnergyBatches(self.windows, self.size, self.batches.copy())

    def state(self) -> EnergyBatchesState | None:
        """For a keyframe; None while there are none."""
        batches = [(ns, str(pj)) for ns, pj in self.batches]
        return EnergyBatchesState(size=self.size, windows=self.windows, batches=batches) if batches else None

    @classmethod
    def restored(cls, state: EnergyBatchesState | None) -> EnergyBatches:
        """As a keyframe describes them. ValueError when it contradicts itself."""
        if state is None:
            return cls()
        found = cls(state.windows, state.size, [(ns, int(pj)) for ns, pj in state.batches])
        agree = state.size > 0 and len(state.batches) == -(-state.windows // state.size)
        if not agree or any(ns <= 0 or not 0 <= pj <= MOST_PJ for ns, pj in found.batches):
            raise ValueError("a keyframe's power windows contradict each other")
        return found
