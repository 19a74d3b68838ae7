"""Sessions folded by hand, with numbers that are easy to work out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from hettop import events
from hettop.report.table import session_blocks
from hettop.report.terminal.blocks import block_text
from hettop.session.session import Session
from tests.streams import MS, header, window


def session_of(*stream: events.AnyEvent, simulated: bool = False, opening: events.Header | None = None) -> Session:
    session = Session()
    session.fold(opening or header(simulated=simulated))
    for event in stream:
        session.fold(event)
    return session


def session_table(session: Session, width: int, found: Sequence[str] = ()) -> str:
    """What bench prints of a session in a terminal of this width."""
    return block_text(list(session_blocks(session, found)), width, "--json")


def four_units(*, simulated: bool = True, n: int = 100) -> Session:
    """Each of Core ML's units measured `n` times, around 1, 2, 3 and 4 ms, with a placement."""
    stream: list[events.AnyEvent] = []
    for number, unit in enumerate(("CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL"), start=1):
        stream.append(events.Engine(t=0, unit=unit, state="running", placed="CPU", backend="onnxruntime"))
        stream.append(window([number * MS + 1000 * (i % 10) for i in range(n)], unit=unit))
    return session_of(*stream, simulated=simulated)


def named(opening: events.Header, *, model: str, chip: str) -> events.Header:
    """The same header with other names in it."""
    return msgspec.structs.replace(
        opening,
        model=msgspec.structs.replace(opening.model, name=model),
        host=msgspec.structs.replace(opening.host, chip=chip),
    )


def failure(unit: str, message: str, hint: str = "") -> events.Engine:
    error = events.Failure(kind="crashed", message=message, hint=hint)
    return events.Engine(t=0, unit=unit, state="failed", error=error)


def widest(lines: Iterable[str]) -> int:
    return max(map(len, lines))
