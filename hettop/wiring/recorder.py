"""Starts and stops the recording of a live session, also in its middle.

Knows the session and the writer; what a recording opens with is made from the session's folded state.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from hettop import events
from hettop.events import AnyEvent
from hettop.record.writer import Closed, Writer
from hettop.session.session import Session
from hettop.session.unit import Unit


class Recorder:
    """At most one recording at a time. `wall` tells the wall clock, for the header."""

    def __init__(self, session: Session, wall: Callable[[], datetime]) -> None:
        self._session = session
        self._wall = wall
        self.writer: Writer | None = None

    def start(self, path: Path, now_ns: int, *, force: bool = False) -> None:
        """Begin a recording whose clock starts now. Raises HettopError (`io`)."""
        header = self._session.header
        if header is None:
            raise ValueError("a session begins with its header")
        header = msgspec.structs.replace(header, id=secrets.token_hex(16), wall=rfc3339(self._wall()))
        opening = opening_events(self._session, now_ns)
        self.writer = Writer(path, header, origin_ns=now_ns, opening=opening, force=force)

    def write(self, event: AnyEvent) -> None:
        if self.writer is not None:
            self.writer.write(event)

    def tick(self, now_ns: int) -> None:
        if self.writer is not None:
            self.writer.tick(now_ns)

    def stop(self, why: str, now_ns: int) -> Closed | None:
        """Close the recording, if there is one, and tell what became of it."""
        writer, self.writer = self.writer, None
        return writer.close(why, now_ns) if writer is not None else None

    def discard(self) -> None:
        """End the recording, if there is one, without a trace."""
        writer, self.writer = self.writer, None
        if writer is not None:
            writer.discard()


def opening_events(session: Session, now_ns: int) -> list[AnyEvent]:
    """The state of a running session as events, so that a recording begun in its middle knows what is in force."""
    opening: list[AnyEvent] = [_engine_event(unit, now_ns) for unit in session.units.values()]
    told = [event for unit in session.units.values() for event in (unit.plan, unit.outputs) if event is not None]
    opening += [msgspec.structs.replace(event, t=now_ns) for event in told]
    if session.load != events.NO_LOAD:
        opening.append(
            events.Load(t=now_ns, what="all", state="confirmed", condition=session.load, simulated=session.simulated)
        )
    if session.control is not None:
        opening.append(msgspec.structs.replace(session.control, t=now_ns, action="start"))
    return opening


def _engine_event(unit: Unit, now_ns: int) -> events.Engine:
    return events.Engine(
        t=now_ns,
        unit=unit.name,
        state=unit.state,
        backend=unit.backend,
        load_ns=unit.load_ns,
        first_ns=unit.first_ns,
        compile_ns=unit.compile_ns,
        cached=unit.cached,
        qos=unit.qos,
        placed=unit.placed,
        note=unit.note,
        peak_memory_mb=unit.peak_memory_mb,
        error=unit.error,
    )


def rfc3339(moment: datetime) -> str:
    """UTC to the millisecond, as `2026-01-31T12:00:00.000Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
