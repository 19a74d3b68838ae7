"""What the worker thread is to do now: commands go in from one thread, the worker looks at them between two samples.

Knows nothing of inference; times are nanoseconds of the machine's monotonic clock.
"""

from __future__ import annotations

import threading
from collections import deque
from enum import Enum, auto

from hettop.sources.engine.job import AnyCommand, EndWarmup, Limits, Pause, Retire, Run, SetLimits, SetLoad, Slots, Stop


class RunMode(Enum):
    """What a worker can be told to do."""

    RUN = auto()
    SLOTS = auto()
    PAUSE = auto()
    STOP = auto()


class WorkerState:
    """What to do now. `changed` is read by the sampling loop after each sample: a plain attribute, no lock.

    `told_to_pause` is set by a command only: a worker that merely began as paused finishes its warm-up.
    `told_warm` and `told_to_retire` stay, whatever is ordered after it.
    """

    def __init__(self, doing: RunMode, limits: Limits, condition: str) -> None:
        self.changed = False
        self.doing = doing
        self.limits = limits
        self.condition = condition
        self.told_to_pause = False
        self.told_warm = False
        self.told_to_retire = False
        self._slots: deque[tuple[int, int]] = deque()
        self._last_begun = -1
        self._news = threading.Condition()

    def obey(self, command: AnyCommand) -> None:
        """Takes in a command and wakes the worker if it waits. Called from the thread that reads them."""
        with self._news:
            match command:
                case SetLimits(limits=limits):
                    self.limits = limits
                case SetLoad(condition=condition):
                    self.condition = condition
                case Slots(slots=slots):
                    self.doing, self.told_to_pause = RunMode.SLOTS, False
                    # The sender cannot know which spans were begun while the command was on its way.
                    self._slots = deque(slot for slot in slots if slot[0] > self._last_begun)
                case Run():
                    self.doing, self.told_to_pause = RunMode.RUN, False
                case Pause():
                    self.doing, self.told_to_pause = RunMode.PAUSE, True
                case EndWarmup():
                    self.told_warm = True
                case Retire():
                    self.told_to_retire = True
                case Stop():
                    self.doing = RunMode.STOP
            self.changed = True
            self._news.notify_all()

    def acknowledge(self) -> None:
        """The worker is about to look at the commands; later ones set `changed` again."""
        self.changed = False

    def next_slot(self, now: int) -> tuple[int, int] | None:
        """The next span that is not over at `now`, to be begun by the caller; None when none is known."""
        with self._news:
            while self._slots and self._slots[0][1] <= now:
                self._slots.popleft()
            return self._slots[0] if self._slots else None

    def begin_slot(self, slot: tuple[int, int]) -> None:
        """The span is begun: it will not be handed out again."""
        with self._news:
            self._last_begun = slot[0]
            while self._slots and self._slots[0][0] <= slot[0]:
                self._slots.popleft()

    def wait(self, seconds: float | None) -> None:
        """Waits for news, `seconds` long at most (None: for ever); returns at once while there are any."""
        with self._news:
            self._news.wait_for(lambda: self.changed, seconds)
