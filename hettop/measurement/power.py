"""Power in a live session: the feed of the chosen source, and the idle baseline taken from it.

Reports what to do with inference meanwhile; does nothing to it itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec

from hettop.events import Baseline, Power, PowerStatus, Samples, is_capture
from hettop.measurement.validated_rails import ValidatedRails, my_validated_rails
from hettop.session.rails import NOT_MEASURED
from hettop.sources.power.choice import NOT_ASKED_FOR, chooser, refuse_impossible
from hettop.sources.power.feed import PowerFeed
from hettop.sources.power.simulated import SimulatedSource
from hettop.sources.power.source import Machine, this_machine

INTERVALS_A_BLOCK = 4
"""The first and the last power sample of an interleaved block straddle units: two or three are left to count."""


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
        """`name` as given to `--power`; why_none: reason and remedy, used where the name is `none`.

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
        """Whether a source lacks nothing but the access that the user can give."""
        return self._status is not None and self._status.needs_access

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
        """A source that gives samples is announced with the rails that it was seen to read above zero before."""
        if status.state != "running":
            return status
        return msgspec.structs.replace(status, validated=sorted(self._rails.of(status.source)))

    def begin_baseline(self, t: int, load: str) -> None:
        """Inference was asked to pause at `t`."""
        self.baseline = BaselineRun(t, load)

    def on_samples(self, window: Samples) -> None:
        """A simulated machine draws power for what runs on it."""
        if self._simulated is not None:
            rests_ns = int(window.gap_ns[1:].sum())
            served_ns = int(window.lat_ns.sum())
            busy = served_ns / (served_ns + rests_ns) if served_ns else 0.0
            self._simulated.told_running(window.unit, window.condition, busy)

    def on_rest(self, load: str) -> None:
        """No inference runs."""
        if self._simulated is not None:
            self._simulated.told_running(None, load)

    def retry(self) -> None:
        """Choose the source again: the user has given access."""
        self._feed.retry()

    def close(self) -> None:
        self._feed.close()


SETTLE_NS = 10**9
"""The last inference's power decays within tens of milliseconds; the rest is for the clock of the power windows."""

ENOUGH = 6
"""Power samples: at 500 ms each, three seconds of rest, in which a passing background task does not decide alone."""

PATIENCE_NS = 30 * 10**9
"""A source that gives no usable sample for this long gives none."""


class BaselineRun:
    """One taking of a baseline, begun at `started_ns` of the session, when inference was asked to pause."""

    def __init__(self, started_ns: int, load: str) -> None:
        self._from_ns = started_ns + SETTLE_NS
        self._until_ns = started_ns + PATIENCE_NS
        self._load = load
        self._samples: list[Power] = []

    @property
    def progress(self) -> tuple[int, int]:
        """How many samples there are, of how many."""
        return len(self._samples), ENOUGH

    def expired(self, now_ns: int) -> bool:
        """Whether it has waited in vain."""
        return now_ns > self._until_ns

    def disturbed(self, t: int, load: str) -> None:
        """The machine is not at rest at `t`, or rests under another load: begin again."""
        self._from_ns = t + SETTLE_NS
        self._until_ns = t + PATIENCE_NS
        self._load = load
        self._samples.clear()

    @property
    def load(self) -> str:
        """The competing load under which it is taken."""
        return self._load

    def take(self, sample: Power, now_ns: int) -> Baseline | None:
        """Takes in a power sample; the baseline once there are enough that lie wholly in the rest."""
        if sample.t - sample.elapsed_ns < self._from_ns or NOT_MEASURED & set(sample.flags) or not sample.elapsed_ns:
            return None
        self._samples.append(sample)
        if len(self._samples) < ENOUGH:
            return None
        return Baseline(
            t=now_ns,
            source=sample.source,
            elapsed_ns=sum(each.elapsed_ns for each in self._samples),
            mw={rail: self._mean(rail) for rail in sample.mw},
            n=len(self._samples),
            load=self._load,
        )

    def _mean(self, rail: str) -> float | None:
        """Over time, in mW; None for a rail that is not in every sample."""
        known = [(each.mw.get(rail), each.elapsed_ns) for each in self._samples]
        if any(value is None for value, _ in known):
            return None
        return math.fsum((value or 0.0) * weight for value, weight in known) / sum(weight for _, weight in known)
