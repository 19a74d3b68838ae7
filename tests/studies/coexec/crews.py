"""Workers sleep as long as they are asked to, and words take time to travel."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count

from hettop.studies.coexec.crew import Began, Did, Died, GaveBack, Said
from hettop.studies.coexec.messages import Ready
from hettop.studies.coexec.rates import Fault
from hettop.studies.coexec.stealing import Order
from tests.clocks import FakeClock

MS = 1_000_000
TRAVEL_NS = 50_000  # a word through a pipe, and waking up whoever waits for it
KILLED = Fault("crashed", "worker process killed by SIGKILL")


@dataclass(slots=True)
class _Sleeper:
    latency: Callable[[int], int]
    numbers: deque[int] = field(default_factory=deque)
    doing: int | None = None
    begun: int = 0
    dead: bool = False


class SleepingCrew:
    """`latencies` (ns) by unit, the same for each call or by the count of the call.

    dies: units that die while they do their so-manieth call; hangs: units that never end it.
    """

    def __init__(
        self,
        latencies: Mapping[str, int | Callable[[int], int]],
        clock: FakeClock,
        *,
        dies: Mapping[str, int] | None = None,
        hangs: Mapping[str, int] | None = None,
        ends_at: int | None = None,
    ) -> None:
        self.done: dict[str, list[int]] = {unit: [] for unit in latencies}
        self.killed: list[str] = []
        self._ends_at = ends_at
        self._clock = clock
        self._dies = dies or {}
        self._hangs = hangs or {}
        self._sleepers = {unit: _Sleeper(_function(latency)) for unit, latency in latencies.items()}
        self._happens: list[tuple[int, int, Callable[[], Said | None]]] = []
        self._sequence = count()
        for unit, sleeper in self._sleepers.items():
            ready = Ready(usual_ns=sleeper.latency(1), simulated=True, placed=f"bed of {unit}")
            self._at(clock.now() + TRAVEL_NS, lambda unit=unit, ready=ready: Began(unit, ready))  # type: ignore[misc]

    @property
    def end_asked(self) -> bool:
        return self._ends_at is not None and self._clock.now() >= self._ends_at

    def tell(self, order: Order) -> None:
        self._at(self._clock.now() + TRAVEL_NS, lambda: self._obey(order))

    def kill(self, unit: str, why: str) -> None:
        self.killed.append(unit)
        self._sleepers[unit].dead = True
        self._at(self._clock.now(), lambda: Died(unit, Fault("timeout", why)))

    def listen(self, until: int) -> list[Said]:
        """Lets time pass until something is said, or until then."""
        while self._happens and self._happens[0][0] <= until:
            moment, _, happen = heapq.heappop(self._happens)
            self._clock.moment = max(self._clock.moment, moment)
            if (said := happen()) is not None:
                return [said]
        self._clock.moment = max(self._clock.moment, until)
        return []

    def _obey(self, order: Order) -> None:
        sleeper = self._sleepers[order.worker]
        if sleeper.dead:
            return
        if not order.back:
            sleeper.numbers.append(order.number)
            self._begin(order.worker)
        elif order.number in sleeper.numbers:
            sleeper.numbers.remove(order.number)
            self._at(self._clock.now() + TRAVEL_NS, lambda: GaveBack(order.worker, order.number))

    def _begin(self, unit: str) -> None:
        sleeper = self._sleepers[unit]
        if sleeper.doing is not None or not sleeper.numbers:
            return
        sleeper.doing = sleeper.numbers.popleft()
        sleeper.begun += 1
        now = self._clock.now()
        if self._dies.get(unit) == sleeper.begun:
            sleeper.dead = True
            self._at(now + TRAVEL_NS, lambda: Died(unit, KILLED))
        elif self._hangs.get(unit) != sleeper.begun:
            self._at(now + sleeper.latency(sleeper.begun), lambda: self._end(unit, now))

    def _end(self, unit: str, start: int) -> None:
        sleeper = self._sleepers[unit]
        number, sleeper.doing = sleeper.doing, None
        if sleeper.dead or number is None:
            return
        self.done[unit].append(number)
        did = Did(unit, number, start, self._clock.now())
        self._at(self._clock.now() + TRAVEL_NS, lambda: did)
        self._begin(unit)

    def _at(self, moment: int, happen: Callable[[], Said | None]) -> None:
        heapq.heappush(self._happens, (moment, next(self._sequence), happen))


def _function(latency: int | Callable[[int], int]) -> Callable[[int], int]:
    return latency if callable(latency) else lambda _: latency
