"""Sets the framework's claim of where a unit runs beside what the power rails drew while it ran, in plain words.

A pure function of a plan and a few numbers; knows neither where power comes from nor how it was averaged.
"""

from __future__ import annotations

from dataclasses import dataclass

from hettop.events import Plan

NOTHING_MW = 10.0
"""So little above idle is what a rail shows that does no work; a Neural Engine or GPU at work draws hundreds."""

WORTH_NAMING = 0.05
"""A smaller share of the plan may draw too little to be seen in a mean."""

CPU, GPU, NEURAL_ENGINE = "CPU", "GPU", "Neural Engine"


@dataclass(frozen=True, slots=True)
class _Rail:
    """What a device drew: mean mW while the unit ran and with nothing running; None where that is not known."""

    device: str
    name: str
    mw: float | None
    idle_mw: float | None

    @property
    def works(self) -> bool | None:
        return None if self.mw is None else self.mw - (self.idle_mw or 0.0) > NOTHING_MW

    def words(self) -> str:
        if self.mw is None:
            return f"{self.name} power n/a"
        if not self.works:
            return f"{self.name} {self.mw:,.0f} mW while running"
        # The screen alone keeps a GPU from drawing nothing; a Neural Engine is off when it has nothing to do.
        unknown = " (idle baseline n/a)" if self.device == GPU and self.idle_mw is None else ""
        return f"{self.name} drew {self.mw:,.0f} mW while it ran{unknown}"


def evidence(
    plan: Plan | None,
    *,
    ane_mw: float | None,
    gpu_mw: float | None,
    idle_ane_mw: float | None = None,
    idle_gpu_mw: float | None = None,
) -> str | None:
    """`plan: 98 % Neural Engine; ANE 0 mW while running: probably on the CPU`; None without a plan.

    `ane_mw` and `gpu_mw` are means over the time in which this unit alone ran, None where they were not measured (a
    zero that its source suspects was not); `idle_*` the same with no inference.
    """
    if plan is None:
        return None
    rails = (_Rail(NEURAL_ENGINE, "ANE", ane_mw, idle_ane_mw), _Rail(GPU, "GPU", gpu_mw, idle_gpu_mw))
    if plan.error is not None:
        return "; ".join([f"no plan: {plan.error.message}", *_measured(rails)])
    shares, how = _shares(plan)
    if plan.accelerator is None:
        return f"plan: {_percent(shares.get(CPU, 0.0))} {CPU}{how}"
    named = [rail for rail in rails if _named(rail, plan.accelerator, shares)]
    claims = [f"{_percent(shares.get(rail.device, 0.0))} {rail.device}" for rail in named]
    observed = [rail.words() for rail in named]
    return f"plan: {', '.join(claims)}{how}; {', '.join(observed)}{_verdict(rails, shares)}"


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
        return "<1 %"
    if 0.995 <= share < 1:
        return ">99 %"
    return f"{100 * share:.0f} %"
