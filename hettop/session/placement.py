"""Compares the framework's claim of where a unit runs with what the power rails drew while it ran, in words.

Pure: a function of a plan, a condition and its energy.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from hettop.compute_units import CORE_AI_UNITS, wanted_device
from hettop.events import Plan
from hettop.session.condition import Condition
from hettop.session.energy import UNTOLD_STEP_MJ, EnergyFigures
from hettop.units import NS_PER_MS, NS_PER_S

NOTHING_MW = 10.0
"""So little above idle, while a call lasts, is what a rail shows that does no work; one at work draws hundreds."""

MOSTLY = 0.9
"""The share of time in calls from which on the mean power is that of the calls, too."""

MW_MS_PER_MJ = 1000.0

WORTH_NAMING = 0.05
"""A smaller share of the plan may draw too little to be seen in a mean."""

CPU, GPU, NEURAL_ENGINE = "CPU", "GPU", "Neural Engine"


@dataclass(frozen=True, slots=True)
class Calls:
    """How the calls lay in the time that power is the mean of. `period_ms` from call to call, of which `latency_ms` in
    it; `blur_mw` is what the steps of the source's counters leave open of a mean.
    """

    period_ms: float
    latency_ms: float
    blur_mw: float = 0.0

    @property
    def duty(self) -> float:
        """The share of time in calls."""
        return min(1.0, self.latency_ms / self.period_ms) if self.period_ms > 0 else 1.0

    def mj(self, mw: float) -> float:
        """The energy of one call when the mean, rests and all, is `mw`."""
        return mw * self.period_ms / MW_MS_PER_MJ


BACK_TO_BACK = Calls(1.0, 1.0)
"""Calls without a rest, and counters without a step."""


@dataclass(frozen=True, slots=True)
class _Rail:
    """What a device drew: mean mW while the unit ran and with nothing running; None where that is not known.

    validated: whether the rail is known to count, so that little or nothing is a reading.
    """

    device: str
    name: str
    mw: float | None
    idle_mw: float | None
    calls: Calls
    validated: bool

    @property
    def call_mj(self) -> float | None:
        """Energy of one call above idle."""
        return None if self.mw is None else self.calls.mj(self.mw - (self.idle_mw or 0.0))

    @property
    def works(self) -> bool | None:
        """Whether a call takes what a device at work takes in its time; None where that is unknown.

        Because the counters are too coarse, or because it is unknown that this one counts. The idle baseline is a
        reading, too, and as uncertain.
        """
        found = self.call_mj
        if found is None:
            return None
        readings = 1 if self.idle_mw is None else 2
        least, open_mj = NOTHING_MW * self.calls.latency_ms / MW_MS_PER_MJ, readings * self.calls.mj(self.calls.blur_mw)
        if found - open_mj > least:
            return True
        return False if self.validated and found + open_mj <= least else None

    @property
    def _in_calls(self) -> str:
        return f"{_percent(self.calls.duty)} of the time in calls"

    def words(self) -> str:
        if self.mw is None:
            return f"{self.name} power n/a"
        if self.works is None:
            return f"{self.name} {self._undecided(self.mw)}"
        # The screen alone keeps a GPU from drawing nothing; a Neural Engine is off when it has nothing to do.
        unknown = " (idle baseline n/a)" if self.works and self.device == GPU and self.idle_mw is None else ""
        if self.calls.duty < MOSTLY:
            return f"{self.name} {max(0.0, self.call_mj or 0.0):.2g} mJ/call ({self._in_calls}){unknown}"
        if not self.works:
            return f"{self.name} {self.mw:,.0f} mW while running"
        return f"{self.name} drew {self.mw:,.0f} mW while running{unknown}"

    def _undecided(self, mw: float) -> str:
        """Why nothing follows from the mean `mw`."""
        if not self.validated:
            return "power reading not validated on this machine, so no evidence"
        if self.calls.duty >= MOSTLY:
            return f"{mw:,.0f} mW while running: too little to conclude from"
        return f"{mw:,.1f} mW on average: duty too low to conclude from ({self._in_calls})"


def evidence(
    plan: Plan | None,
    *,
    ane_mw: float | None,
    gpu_mw: float | None,
    idle_ane_mw: float | None = None,
    idle_gpu_mw: float | None = None,
    calls: Calls = BACK_TO_BACK,
    validated: Collection[str] = (),
    unit: str = "",
) -> str | None:
    """`plan: 98% Neural Engine; ANE 0 mW while running: probably on the CPU`; None without a plan.

    `ane_mw` and `gpu_mw` are means over the time in which this unit alone ran, None where they were not measured (a
    zero that its source suspects was not); `idle_*` the same with no inference. A rail is judged by what a call takes:
    under a low duty even a busy Neural Engine's mean is near nothing. From one that shows nothing something follows
    only if it is among the `validated` (`ane`, `gpu`): an energy counter that does not count reads 0, too.
    """
    rails = (
        _Rail(NEURAL_ENGINE, "ANE", ane_mw, idle_ane_mw, calls, "ane" in validated),
        _Rail(GPU, "GPU", gpu_mw, idle_gpu_mw, calls, "gpu" in validated),
    )
    if plan is None:
        return _without_plan(unit, rails)
    if plan.error is not None:
        return "; ".join([f"no plan: {plan.error.message}", *_measured(rails)])
    shares, how = _shares(plan)
    if plan.accelerator is None:
        return f"plan: {_percent(shares.get(CPU, 0.0))} {CPU}{how}"
    named = [rail for rail in rails if _named(rail, plan.accelerator, shares)]
    claims = [f"{_percent(shares.get(rail.device, 0.0))} {rail.device}" for rail in named]
    observed = [rail.words() for rail in named]
    return f"plan: {', '.join(claims)}{how}; {', '.join(observed)}{_verdict(rails, shares)}"


def _without_plan(unit: str, rails: tuple[_Rail, ...]) -> str | None:
    """What the rails alone show of a unit of Core AI, which reports no placement; None for other units.

    A device at work was used, at least in part, if its idle baseline is known; one that shows nothing was not, if its
    rail is validated. What the unit prefers decides nothing.
    """
    measured = _measured(rails)
    if unit not in CORE_AI_UNITS or not measured:
        return None
    used = [rail.device for rail in rails if rail.works and rail.idle_mw is not None]
    unused = [rail.device for rail in rails if rail.works is False]
    verdicts = [f"partly on the {device}" for device in used]
    if len(unused) == len(rails):
        verdicts = [f"probably on the {CPU}"]
    elif wanted_device(unit) in unused:
        verdicts.append(f"probably not on the {wanted_device(unit)}")
    verdict = f": {', '.join(verdicts)}" if verdicts else ""
    return f"Core AI reports no placement; {measured[0]}{verdict}"


def _measured(rails: tuple[_Rail, ...]) -> list[str]:
    words = [rail.words() for rail in rails if rail.mw is not None]
    return [", ".join(words)] if words else []


def _shares(plan: Plan) -> tuple[dict[str, float], str]:
    """The share of each device: of the estimated cost where there is one, else of the operations, which is said."""
    if plan.devices and all(device.cost is not None for device in plan.devices):
        return {device.device: device.cost or 0.0 for device in plan.devices}, ""
    return {device.device: device.ops / plan.ops for device in plan.devices if plan.ops}, " of the operations"


def _named(rail: _Rail, accelerator: str, shares: dict[str, float]) -> bool:
    return rail.device == accelerator or shares.get(rail.device, 0.0) >= WORTH_NAMING


def _verdict(rails: tuple[_Rail, ...], shares: dict[str, float]) -> str:
    """What follows where claim and evidence disagree; nothing where they agree, or where one is unknown."""
    promised = [rail for rail in rails if shares.get(rail.device, 0.0) >= WORTH_NAMING]
    surprising = [rail for rail in rails if rail.works and not shares.get(rail.device) and rail.idle_mw is not None]
    if promised and all(rail.works is False for rail in promised):
        other = [rail.device for rail in surprising]
        return f": probably on the {other[0] if other else CPU}"
    idle = [rail.device for rail in promised if rail.works is False]
    if idle:
        working = [rail.device for rail in promised if rail.works]
        return f": probably not on the {idle[0]}" if working else ""
    if surprising and not promised:
        return f": more runs on the {surprising[0].device} than planned"
    return ""


def _percent(share: float) -> str:
    """Whole per cent; what is not all is not shown as 100, nor what is something as 0."""
    if 0 < share < 0.005:
        return "<1%"
    if 0.995 <= share < 1:
        return ">99%"
    return f"{100 * share:.0f}%"


def evidence_of(
    plan: Plan | None,
    condition: Condition | None,
    energy: EnergyFigures | None,
    idle_mw: Mapping[str, float | None],
    unit: str = "",
) -> str | None:
    """The claim beside what was drawn under this condition, in words; None without a plan, but for Core AI."""
    means = energy.mean_mw if energy is not None else {}
    return evidence(
        plan,
        ane_mw=means.get("ane"),
        gpu_mw=means.get("gpu"),
        idle_ane_mw=idle_mw.get("ane"),
        idle_gpu_mw=idle_mw.get("gpu"),
        calls=_calls(condition, energy),
        validated=energy.validated if energy is not None else (),
        unit=unit,
    )


def _calls(condition: Condition | None, energy: EnergyFigures | None) -> Calls:
    if condition is None or not condition.wall.n or not condition.active_ns or energy is None:
        return BACK_TO_BACK
    step_mj = UNTOLD_STEP_MJ if energy.resolution_mj is None else energy.resolution_mj
    return Calls(
        period_ms=condition.active_ns / condition.wall.n / NS_PER_MS,
        latency_ms=(condition.wall.moments.mean_ns or 0.0) / NS_PER_MS,
        blur_mw=step_mj / (energy.window_ns / NS_PER_S) if energy.window_ns else 0.0,
    )
