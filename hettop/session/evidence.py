"""What the rails show of where a unit runs: its plan, its calls and the energy under one condition, brought together.

Pure; how claim and power are compared is known by `placement`, where the numbers come from by the fold.
"""

from __future__ import annotations

from collections.abc import Mapping

from hettop.events import Plan
from hettop.session.condition import Condition
from hettop.session.energy import UNTOLD_STEP_MJ, EnergyFigures
from hettop.session.placement import BACK_TO_BACK, Calls, evidence
from hettop.session.series import NS_PER_MS

NS_PER_S = 1e9


def evidence_of(
    plan: Plan | None,
    condition: Condition | None,
    energy: EnergyFigures | None,
    idle_mw: Mapping[str, float | None],
) -> str | None:
    """The claim beside what was drawn under this condition, in words; None without a plan."""
    means = energy.mean_mw if energy is not None else {}
    return evidence(
        plan,
        ane_mw=means.get("ane"),
        gpu_mw=means.get("gpu"),
        idle_ane_mw=idle_mw.get("ane"),
        idle_gpu_mw=idle_mw.get("gpu"),
        calls=_calls(condition, energy),
        validated=energy.validated if energy is not None else (),
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
