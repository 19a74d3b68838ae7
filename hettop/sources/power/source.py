"""What the rest of hettop asks of a source of power samples, and how a source says that it has been lost.

Knows no source, no session and no screen.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Protocol

from hettop.errors import HettopError
from hettop.sources.power.sample import PowerSample

# States (of events.POWER_STATES) in which a source may be lost.
FAILED = "failed"  # trying again may help
EXPIRED = "expired"  # the user has to give access
UNAVAILABLE = "unavailable"  # this machine will not give any
ENDED = "starting"  # as it was meant to: it only has to be started again


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether a source works here; if not, why, and the command or step that mends it.

    impossible: nothing that the user could do while hettop runs would mend it, as access could be given.
    absent: nothing is broken or denied: this system has no such thing, or an optional part is not installed.
    foreign: it is of another system. needs_access: all it lacks is the access that the user can give.
    """

    ok: bool
    reason: str = ""
    fix: str = ""
    impossible: bool = False
    absent: bool = False
    foreign: bool = False
    needs_access: bool = False


def of_another_system(system: str) -> Availability:
    """What a source that only `system` has says on all others."""
    return Availability(False, f"{system} only", impossible=True, absent=True, foreign=True)


class PowerLostError(HettopError):
    """A source ended that nobody stopped. `state`, one of the above, says whether to try again."""

    def __init__(self, message: str, hint: str = "", *, state: str = FAILED) -> None:
        super().__init__("power", message, hint)
        self.state = state


class PowerSource(Protocol):
    """A source of power samples.

    `samples` runs in a thread of its own and gives samples as their windows end, until `stop` is called in another
    thread; returning unasked means that there will be no more. It raises PowerLostError, or HettopError for what is
    wrong in itself. `stop` never waits and may be called at any time, and again; then `samples` may be asked for anew.
    """

    @property
    def name(self) -> str: ...

    @property
    def resolution_mj(self) -> float | None:
        """The step of the energy counters behind the samples; None where it is not told."""

    @property
    def note(self) -> str:
        """What to know of its samples, in words; mostly nothing."""

    def granted_ns(self, asked_ns: int) -> int | None:
        """The interval it will keep when `asked_ns` is asked for; None for windows that are what they are."""

    def probe(self) -> Availability: ...

    def samples(self, interval_ns: int) -> Generator[PowerSample, None, None]: ...

    def stop(self) -> None: ...
