"""The reorder buffer: results come in as they are done, and leave in the order of the stream.

Pure; knows sequence numbers alone.
"""

from __future__ import annotations


class ReorderBuffer:
    """Holds results that wait for an earlier one. It has room for `depth` numbers, from the oldest that has not left.

    next: the number that leaves next. most_held: the most results that ever waited at once.
    """

    def __init__(self, depth: int) -> None:
        if depth < 1:
            raise ValueError("a reorder buffer has room for at least one number")
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
