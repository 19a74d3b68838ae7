"""Which worker serves which number of the stream (work stealing), and the reorder buffer of its results.

Pure; knows neither processes nor clocks: time is passed in. After the co-execution of Wang et al.,
"Neural Network Inference on Mobile SoCs", section V (one stream, work stealing, a buffer that restores the order).
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

AHEAD = 2
"""Numbers that a quick worker has at once: one it works on, and one to go on with while word of the first travels."""

LONG_CALL_NS = 10_000_000
"""A worker whose calls take longer has one number alone: word travels in a hundredth of that, and a number that waits
behind a long call holds up the order."""


@dataclass(frozen=True, slots=True)
class Order:
    """Ask `worker` to do `number`, or with `back` to return it unless it has started."""

    worker: str
    number: int
    back: bool = False


@dataclass(frozen=True, slots=True)
class Delivered:
    """A result that left the buffer at `left` (ns); its number was first handed out at `issued`."""

    number: int
    issued: int
    left: int


def ahead_of(usual_ns: int) -> int:
    """How many numbers a worker has at once whose calls usually take so long."""
    return AHEAD if usual_ns <= LONG_CALL_NS else 1


class Stealing:
    """The stream, the numbers that each worker has, and the buffer that restores the order.

    ahead: how many numbers each worker has at once. Only `active` workers are given anything.
    steals: numbers that went from one worker to another. redone: numbers whose worker died.
    """

    def __init__(self, ahead: Mapping[str, int], depth: int) -> None:
        self.buffer = ReorderBuffer(depth)
        self.active: Collection[str] = ()
        self.steals = 0
        self.redone = 0
        self._ahead = dict(ahead)
        self._has: dict[str, deque[int]] = {worker: deque() for worker in ahead}
        self._next = 0
        self._again: list[int] = []
        self._asked: set[int] = set()
        self._issued: dict[int, int] = {}

    @property
    def drained(self) -> bool:
        """Whether every number that was handed out has been done."""
        return not self._issued

    def has(self, worker: str) -> int:
        """How many numbers the worker has; 0 for one that died."""
        return len(self._has.get(worker, ()))

    def orders(self, now: int, *, new: bool = True) -> Iterator[Order]:
        """Orders to send now: numbers to do, and numbers to return where another worker is idle.

        With `new` false the stream gives nothing new, so that the workers run dry.
        """
        while (worker := self._neediest()) is not None:
            number = self._take(new)
            if number is None:
                yield from self._demands()
                return
            self._issued.setdefault(number, now)
            self._has[worker].append(number)
            yield Order(worker, number)

    def finished(self, worker: str, number: int, now: int) -> list[Delivered]:
        """The worker has done the number; what leaves the buffer by that."""
        self._drop(worker, number)
        if number not in self._issued:
            return []
        left = self.buffer.put(number)
        return [Delivered(each, self._issued.pop(each), now) for each in left]

    def given_back(self, worker: str, number: int) -> None:
        """The worker had not begun the number, and will not."""
        if self._drop(worker, number):
            self.steals += 1
            heapq.heappush(self._again, number)

    def died(self, worker: str) -> int:
        """Its numbers are for the others to do; how many they are."""
        lost = self._has.pop(worker, deque())
        for number in lost:
            self._asked.discard(number)
            heapq.heappush(self._again, number)
        self.redone += len(lost)
        return len(lost)

    def _neediest(self) -> str | None:
        """The active worker that has least, of those that can take one more."""
        return min(
            (worker for worker in self.active if worker in self._has and self.has(worker) < self._ahead[worker]),
            key=self.has,
            default=None,
        )

    def _take(self, new: bool) -> int | None:
        """What was taken back or lost comes first: the order waits for it."""
        while self._again:
            number = heapq.heappop(self._again)
            if number in self._issued:  # not done by a worker that died before its word of it was heard
                return number
        if not new or not self.buffer.admits(self._next):
            return None
        self._next += 1
        return self._next - 1

    def _demands(self) -> Iterator[Order]:
        """For each worker that has nothing, the oldest number that another one has and has probably not begun."""
        idle = sum(not self.has(worker) for worker in self.active if worker in self._has)
        waiting = sorted((number, worker) for worker, numbers in self._has.items() for number in list(numbers)[1:])
        for number, worker in waiting[: max(0, idle - len(self._asked))]:
            if number not in self._asked:
                self._asked.add(number)
                yield Order(worker, number, back=True)

    def _drop(self, worker: str, number: int) -> bool:
        """Whether the worker had it."""
        self._asked.discard(number)
        numbers = self._has.get(worker)
        if numbers is None or number not in numbers:
            return False
        numbers.remove(number)
        return True


class ReorderBuffer:
    """Holds results that wait for an earlier one. It has room for `depth` numbers, from the oldest that has not left.

    next: the number that leaves next. most_held: the most results that ever waited at once.
    """

    def __init__(self, depth: int) -> None:
        if depth < 1:
            raise ValueError("a reorder buffer needs a depth of at least 1")
        self.depth = depth
        self.next = 0
        self.most_held = 0
        self._held: set[int] = set()

    @property
    def held(self) -> int:
        """How many results wait."""
        return len(self._held)

    def admits(self, number: int) -> bool:
        """Whether there would be room for its result, whenever it comes."""
        return number < self.next + self.depth

    def put(self, number: int) -> range:
        """Takes a result in, and returns the numbers that leave, in order. One that it knows already changes nothing.

        Raises ValueError for a number that it has no room for.
        """
        if not self.admits(number):
            raise ValueError(f"no room for {number}: {self.next} has not left")
        first = self.next
        if number < first or number in self._held:
            return range(first, first)
        self._held.add(number)
        while self.next in self._held:
            self._held.remove(self.next)
            self.next += 1
        self.most_held = max(self.most_held, len(self._held))
        return range(first, self.next)
