"""What came of power in a session: where it is from, why there is none, what fixes that, and how much of it there is.

Pure; the same words for table, report, verdict and JSON.
"""

from __future__ import annotations

import msgspec

from hettop.format import UNKNOWN
from hettop.session.session import Session
from hettop.session.statistics import energy_of

CAPTURE_WORDS = "power is from a capture, not from this run: no energy, placement evidence or thermal state"
WITHOUT_TROUBLE = ("running", "starting", "stopped")


class PowerSummary(msgspec.Struct, frozen=True, kw_only=True):
    """`reason` says why there is no power, or none of this run; None where there is.

    `state` is the source's last word of itself. `coverage` is the share of all steady running that power samples cover.
    """

    source: str | None
    state: str | None
    reason: str | None
    fix: str | None
    coverage: float | None
    capture: bool

    @property
    def line(self) -> str | None:
        """Why there is none, and what fixes that, in a line; None where there is power."""
        if self.reason is None:
            return None
        fix = f"; {self.fix}" if self.fix else ""
        return f"CAPTURE: {self.reason}{fix}" if self.capture else f"power {UNKNOWN}: {self.reason}{fix}"


def power_summary(session: Session) -> PowerSummary:
    """By what was folded so far."""
    status, power = session.power_status, session.power
    reason, fix = _trouble(session)
    named = status if status is not None and status.source != "none" else power or status
    return PowerSummary(
        source=named.source if named is not None else None,
        state=status.state if status is not None else None,
        reason=reason,
        fix=fix,
        coverage=_coverage(session),
        capture=session.captured,
    )


def _trouble(session: Session) -> tuple[str | None, str | None]:
    status = session.power_status
    if session.captured and session.power is not None:
        return CAPTURE_WORDS, "use --power without file: to read a source of this machine"
    if session.power is not None and (status is None or status.state in WITHOUT_TROUBLE):
        return None, None
    if status is None:
        return "none was recorded", None
    if session.power is None and status.state in ("running", "starting"):
        return f"{status.source} reported no sample before the end", None
    return status.reason or f"{status.source} {status.state}", status.fix or None


def _coverage(session: Session) -> float | None:
    """None without power of this machine, or without steady samples."""
    known: list[tuple[float, int]] = []
    for condition in session.conditions.values():
        energy = energy_of(session, condition)
        if energy is not None and energy.coverage is not None:
            known.append((energy.coverage, condition.active_ns))
    active_ns = sum(active for _, active in known)
    return sum(coverage * active for coverage, active in known) / active_ns if active_ns else None
