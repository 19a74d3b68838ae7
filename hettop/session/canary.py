"""What the canary saw: frames that came too late under each condition, and whether the clock has become slower.

Depends on what the units, the schedule and the load do, never on samples: these are gathered in a file, a canary's
report is not, and a replay must report what the live view reported.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from hettop.events import NO_LOAD, Canary, CanaryState, Control, FramesState, KernelState, Load
from hettop.session.condition import ConditionKey
from hettop.session.unit import Unit
from hettop.stats.clock import REPORTS, clock_loss

FRAMES_PER_S = 60
FRAME_NS = 10**9 // FRAMES_PER_S
LATE_NS = 300_000_000
"""A report waits this long at most until somebody looks: a screen looks four times a second."""

MOST_CONDITIONS = 512
MOST_SITUATIONS = 64
BECOMING_READY = frozenset({"spawning", "loading", "compiling", "warming"})


@dataclass(frozen=True, slots=True)
class Situation:
    """Which units are measured, under which load: what a canary's reports are compared within."""

    units: tuple[str, ...]
    load: str


@dataclass(slots=True)
class Frames:
    """Frames due and missed."""

    due: int = 0
    missed: int = 0

    @property
    def share(self) -> float | None:
        return self.missed / self.due if self.due else None


@dataclass(slots=True)
class Kernels:
    """How long the canary's fixed work took, in ns: in the first reports of a situation, and in the last ones."""

    first: list[int] = field(default_factory=list)
    recent: deque[int] = field(default_factory=lambda: deque(maxlen=REPORTS))

    def add(self, kernel_ns: int) -> None:
        if len(self.first) < REPORTS:
            self.first.append(kernel_ns)
        else:
            self.recent.append(kernel_ns)

    @property
    def loss(self) -> float | None:
        """The share by which the clock is slower than in the first reports; None while it is unknown."""
        return clock_loss(self.first, self.recent)


class CanaryFold:
    """All reports of the canary, folded. `due` and `missed` are those of the whole session, None without a canary."""

    def __init__(self) -> None:
        self.due: int | None = None
        self.missed: int | None = None
        self.conditions: dict[ConditionKey, Frames] = {}
        self.kernels: dict[Situation, Kernels] = {}
        self.situation: Situation | None = None
        self._load = NO_LOAD
        self._load_since_ns = 0
        self._load_settled = True

    @property
    def loss(self) -> float | None:
        """The clock's loss in the situation of the last report; None while it is unknown."""
        found = None if self.situation is None else self.kernels.get(self.situation)
        return None if found is None else found.loss

    @property
    def worst(self) -> tuple[Situation, float] | None:
        """The largest loss that any situation ended with."""
        known = [(situation, kernels.loss) for situation, kernels in self.kernels.items()]
        losses = [(situation, loss) for situation, loss in known if loss is not None]
        return max(losses, key=lambda each: each[1], default=None)

    def load(self, event: Load) -> None:
        self._load, self._load_since_ns = event.condition, event.t
        self._load_settled = event.state in ("confirmed", "failed")

    def reset(self) -> None:
        """The conditions begin anew."""
        self.conditions.clear()

    def add(self, event: Canary, units: Iterable[Unit], control: Control | None, thermal: str | None) -> None:
        """Take in a report: it counts for each unit that was measured all the while, under the load all the while."""
        self.due = (self.due or 0) + event.due
        self.missed = (self.missed or 0) + event.missed
        self.situation = self._during(event, list(units), control)
        if self.situation is None:
            return
        for unit in self.situation.units:
            self._count(ConditionKey(unit, self.situation.load, thermal), event)
        if event.kernel_ns and (self.situation in self.kernels or len(self.kernels) < MOST_SITUATIONS):
            self.kernels.setdefault(self.situation, Kernels()).add(event.kernel_ns)

    def _count(self, key: ConditionKey, event: Canary) -> None:
        if key in self.conditions or len(self.conditions) < MOST_CONDITIONS:
            frames = self.conditions.setdefault(key, Frames())
            frames.due += event.due
            frames.missed += event.missed

    def _during(self, event: Canary, units: list[Unit], control: Control | None) -> Situation | None:
        """What was so over the whole time of the report; None if anything changed, or if a unit got ready meanwhile."""
        if not self._load_settled or any(unit.state in BECOMING_READY for unit in units):
            return None
        changes = [self._load_since_ns, *(unit.since_ns for unit in units), control.t if control else 0]
        if event.t - event.due * FRAME_NS - LATE_NS < max(changes):
            return None
        wanted = [unit.name for unit in units] if control is None else control.units
        paused = control is not None and control.paused
        running = [] if paused else [unit.name for unit in units if unit.state == "running" and unit.name in wanted]
        return Situation(tuple(running), self._load)

    def state(self) -> CanaryState | None:
        """For a keyframe; None while there is nothing to report."""
        if self.due is None and not self._load_since_ns:
            return None
        return CanaryState(
            load_since_ns=self._load_since_ns,
            load_settled=self._load_settled,
            situation=None if self.situation is None else (list(self.situation.units), self.situation.load),
            conditions=[
                FramesState(key.unit, key.load, key.thermal, frames.due, frames.missed)
                for key, frames in self.conditions.items()
            ],
            kernels=[
                KernelState(list(situation.units), situation.load, list(kernels.first), list(kernels.recent))
                for situation, kernels in self.kernels.items()
            ],
        )

    @classmethod
    def restored(cls, totals: tuple[int, int] | None, state: CanaryState | None, load: str) -> CanaryFold:
        """As a keyframe describes it."""
        found = cls()
        found._load = load
        if totals is not None:
            found.due, found.missed = totals
        if state is None:
            return found
        found._load_since_ns, found._load_settled = state.load_since_ns, state.load_settled
        if state.situation is not None:
            found.situation = Situation(tuple(state.situation[0]), state.situation[1])
        for each in state.conditions:
            found.conditions[ConditionKey(each.unit, each.load, each.thermal)] = Frames(each.due, each.missed)
        for kept in state.kernels:
            kernels = Kernels(list(kept.first[:REPORTS]))
            kernels.recent.extend(kept.recent)
            found.kernels[Situation(tuple(kept.units), kept.load)] = kernels
        return found
