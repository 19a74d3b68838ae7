"""Places power windows on the clock: where each ended, from its length and the moment it was heard of.

Pure; knows lengths and moments in ns.
"""

from __future__ import annotations

MOST_BEHIND_NS = 10**9


class WindowClock:
    """Ends of consecutive windows.

    The first ends when it is heard of, each later one its length after the one before: their lengths are exact, while
    the moment one is heard of varies with the pipe and the scheduler. No window ends after it was heard of; one that
    would end more than a second before is placed anew, for then windows are missing or the machine has slept.
    """

    def __init__(self) -> None:
        self._end: int | None = None

    def place(self, heard_ns: int, elapsed_ns: int | None, longest_ns: int) -> tuple[int, int]:
        """End and length. A source that tells no length: since the end before, but no more than `longest_ns`."""
        before = self._end
        if elapsed_ns is None:
            end = heard_ns
            elapsed_ns = longest_ns if before is None else max(0, min(heard_ns - before, longest_ns))
        elif before is None or heard_ns - (before + elapsed_ns) > MOST_BEHIND_NS:
            end = heard_ns
        else:
            end = min(before + elapsed_ns, heard_ns)
        self._end = end
        return end, elapsed_ns

    def forget(self) -> None:
        """The source was started anew."""
        self._end = None
