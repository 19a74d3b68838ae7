"""The units of one engine and their processes: listened to, checked, asked in common, and ended.

Knows nothing of whose turn it is; waits only where it says so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import msgspec

from hettop.errors import HettopError
from hettop.processes.pipe_reader import PipeReader
from hettop.sources.engine.child import Channel
from hettop.sources.engine.frames import ReadyReport
from hettop.sources.engine.unit_process import EngineEvent, UnitProcess

GOODBYE_S = 1.0
COLLECT_S = 1.0


class UnitGroup:
    """`members` by unit; what their processes say comes by way of `reader`."""

    def __init__(self, members: dict[str, UnitProcess], reader: PipeReader) -> None:
        self.members = members
        self._reader = reader

    def __iter__(self) -> Iterator[UnitProcess]:
        return iter(self.members.values())

    def __getitem__(self, unit: str) -> UnitProcess:
        """Raises HettopError: `usage`, for a unit that is not among them."""
        try:
            return self.members[unit]
        except KeyError:
            raise HettopError("usage", f"unit {unit} is not among {', '.join(self.members)}") from None

    @property
    def ready(self) -> ReadyReport | None:
        """What the first unit that is ready said of itself."""
        return next((member.ready for member in self if member.ready is not None), None)

    @property
    def loading(self) -> bool:
        return any(member.loading for member in self)

    @property
    def quiet(self) -> bool:
        """Whether none is being measured."""
        return not any(member.state == "running" for member in self)

    def runnable(self, units: Sequence[str], period_ns: Callable[[str], int]) -> dict[str, int | None]:
        """Those of `units` that can take a turn now, with how long a sample of theirs takes up (None: unknown).

        `period_ns` tells how long one takes up at least.
        """
        members = [self.members[unit] for unit in units if self.members[unit].may_run]
        return {
            member.unit: None if (usual := member.usual_ns()) is None else max(usual, period_ns(member.unit))
            for member in members
        }

    def take_in(self) -> None:
        """Hands out what has arrived."""
        for chunk in self._reader.take():
            channel: Channel = chunk.source
            member = self.members[channel.child.unit]
            if channel.is_log:
                member.receive_log(channel.child, chunk.data)
            else:
                member.receive(channel.child, chunk.data)

    def await_rest(self, unit: str, patience_s: float) -> None:
        """Gives the others a moment to finish the sample they are running."""
        others = [member for member in self if member.unit != unit and member.child is not None]
        deadline = time.monotonic() + patience_s
        while any(other.active for other in others) and (left := deadline - time.monotonic()) > 0:
            self._reader.wait(left)
            self.take_in()

    def drain(self, t: int) -> list[EngineEvent]:
        """What they have to tell, stamped with `t`."""
        drained = []
        for member in self:
            drained += [msgspec.structs.replace(event, t=t) for event in member.outbox]
            member.outbox.clear()
        return drained

    def close(self) -> None:
        """Stops all politely, then not. Takes `GOODBYE_S` if one hangs."""
        for member in self:
            member.stop()
        deadline = time.monotonic() + GOODBYE_S
        while (left := deadline - time.monotonic()) > 0 and not all(member.gone for member in self):
            self._reader.wait(left)
            self.take_in()
        for member in self:
            member.end(COLLECT_S)
        self.take_in()
        self._reader.close()
