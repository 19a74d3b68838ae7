"""When a unit's process is taken for hung: adds up silences, and reads no clock."""

from __future__ import annotations

from dataclasses import dataclass

from hettop.units import NS_PER_S

PATIENT_FACTOR = 50
"""A sample that takes this many times the longest one so far is taken for a hang, if it also exceeds the time-out."""

LOG_GRACE_NS = 500_000_000
"""How long to wait for the last lines of a log that a grandchild may hold open."""


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long a unit may say nothing while its process starts, its model loads (with the first call), and it runs.

    plan_s: how long reading the plan of its model may take, which happens in a process apart.
    """

    spawn_s: float = 30.0
    load_s: float = 900.0
    predict_s: float = 30.0
    plan_s: float = 120.0


class Watchdog:
    """The silence of one unit. `silent_ns` is set to 0 by whoever hears something."""

    def __init__(self, timeouts: Timeouts) -> None:
        self.silent_ns = 0
        self._timeouts = timeouts

    @property
    def log_is_over(self) -> bool:
        """Whether a log that has not ended is not waited for any more."""
        return self.silent_ns >= LOG_GRACE_NS

    def exhausted(self, state: str | None, *, ready: bool, largest_ns: int, allowance_ns: int) -> str | None:
        """What the process hangs in, if it hangs. `allowance_ns` that a running unit may idle."""
        if state == "spawning":
            limit, doing = self._timeouts.spawn_s * NS_PER_S, "starting"
        elif not ready:
            limit, doing = self._timeouts.load_s * NS_PER_S, "in its first call" if state == "warming" else str(state)
        elif state in {"warming", "running"}:
            limit = max(self._timeouts.predict_s * NS_PER_S, PATIENT_FACTOR * largest_ns) + allowance_ns
            doing = "warming up" if state == "warming" else "running"
        else:
            return None
        return doing if self.silent_ns > limit else None
