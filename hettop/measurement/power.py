"""Power in a live session: the feed of the chosen source, and the idle baseline taken from it.

Tells what to do with inference meanwhile; does nothing to it itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from hettop.events import Baseline, Power, PowerStatus, Samples, is_capture
from hettop.measurement.baseline import BaselineRun
from hettop.measurement.validated_rails import ValidatedRails, my_validated_rails
from hettop.sources.power.choice import NOT_ASKED_FOR, chooser, refuse_impossible
from hettop.sources.power.feed import PowerFeed
from hettop.sources.power.machine import Machine, this_machine
from hettop.sources.power.simulated import SimulatedSource

INTERVALS_A_BLOCK = 4
"""The first and the last power sample of an interleaved block straddle units: two or three are left to count."""


POWERMETRICS = "powermetrics"
ASK = "press p"
"""What the reason of powermetrics says where access is all that it lacks."""


@dataclass(frozen=True, slots=True)
class PowerHere:
    """The machine whose power is read, and what is remembered of its rails."""

    machine: Machine
    rails: ValidatedRails = field(default_factory=ValidatedRails)


def power_here(chip: str | None) -> PowerHere:
    """This machine, and what is remembered of it; `chip` by its maker's name."""
    return PowerHere(this_machine(chip=chip), my_validated_rails())


class LivePower:
    """What the live feed asks of power. `now` is the machine's monotonic clock; the session began at `origin_ns` of it.

    baseline: the one being taken, None otherwise.
    """

    def __init__(
        self,
        name: str | None,
        *,
        simulated: bool,
        here: PowerHere,
        now: Callable[[], int],
        origin_ns: int,
        why_none: tuple[str, str] = NOT_ASKED_FOR,
    ) -> None:
        """`name` as given to `--power`; why_none: reason and remedy that are told where the name is `none`.

        Raises HettopError (`usage`) for unknown names, and for a source that was named and cannot be had here.
        """
        self._simulated = SimulatedSource(now) if simulated else None
        self._rails = here.rails
        choose = chooser(name, here.machine, self._simulated, why_none)
        if not simulated:
            refuse_impossible(name, here.machine)
        self._feed = PowerFeed(choose, now=now, origin_ns=origin_ns)
        self._status: PowerStatus | None = None
        self._heard = False
        self.baseline: BaselineRun | None = None

    @property
    def running(self) -> bool:
        """Whether a source gives samples now."""
        return self._status is not None and self._status.state == "running"

    @property
    def captured(self) -> bool:
        """Whether what it gives is a capture's, and no power of this machine."""
        return self._status is not None and is_capture(self._status.source)

    @property
    def settled(self) -> bool:
        """Whether it is known if there is power: a sample has come, or no source works."""
        return self._heard or (self._status is not None and self._status.state not in ("starting", "running"))

    @property
    def status(self) -> PowerStatus | None:
        """What the source said last of itself."""
        return self._status

    @property
    def could_ask(self) -> bool:
        """Whether powermetrics lacks nothing but the user's password."""
        told = self._status
        if told is None or self._simulated is not None:
            return False
        why = told.reason if told.source == POWERMETRICS else told.refused.get(POWERMETRICS, "")
        return told.state == "expired" or ASK in why

    @property
    def shortest_block_ns(self) -> int | None:
        """How long interleaved blocks must be for power to be attributed to units; None while there is no power."""
        return INTERVALS_A_BLOCK * self._feed.interval_ns if self.running and not self.captured else None

    def drain(self, t: int) -> list[Power | PowerStatus | Baseline]:
        found: list[Power | PowerStatus | Baseline] = []
        for event in self._feed.drain(t):
            if isinstance(event, PowerStatus):
                self._status = self._with_validated(event)
                found.append(self._status)
                continue
            found.append(event)
            self._heard = True
            if self.baseline is not None and (taken := self.baseline.take(event, t)) is not None:
                self.baseline = None
                found.append(taken)
        return found

    def _with_validated(self, status: PowerStatus) -> PowerStatus:
        """A source that gives samples is told of with the rails that it was seen to read above zero before."""
        if status.state != "running":
            return status
        return msgspec.structs.replace(status, validated=sorted(self._rails.of(status.source)))

    def begin_baseline(self, t: int, load: str) -> None:
        """Inference was told to pause at `t`."""
        self.baseline = BaselineRun(t, load)

    def told_samples(self, window: Samples) -> None:
        """A simulated machine draws power for what runs on it."""
        if self._simulated is not None:
            rests_ns = int(window.gap_ns[1:].sum())
            served_ns = int(window.lat_ns.sum())
            busy = served_ns / (served_ns + rests_ns) if served_ns else 0.0
            self._simulated.told_running(window.unit, window.condition, busy)

    def told_rest(self, load: str) -> None:
        """No inference runs."""
        if self._simulated is not None:
            self._simulated.told_running(None, load)

    def retry(self) -> None:
        """Choose the source again: the user has given access."""
        self._feed.retry()

    def close(self) -> None:
        self._feed.close()
