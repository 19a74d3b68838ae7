"""What a load reports and registers, written down."""

from __future__ import annotations


class ListedGuard:
    """Remembers which processes it would have to kill."""

    def __init__(self) -> None:
        self.pids: list[int] = []
        self.ever: list[int] = []

    def add(self, pid: int) -> None:
        self.pids.append(pid)
        self.ever.append(pid)

    def remove(self, pid: int) -> None:
        self.pids.remove(pid)


class ListedChanges:
    """Remembers the conditions that were active."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, bool]] = []

    def __call__(self, condition: str, *, confirmed: bool) -> None:
        self.seen.append((condition, confirmed))
