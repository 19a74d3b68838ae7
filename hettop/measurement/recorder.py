"""Starts and stops the recording of a live session, also in its middle, and compresses it at last where that is wanted.

Knows the session and the writer; what a recording opens with is made from the session's folded state.
"""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from hettop import events
from hettop.errors import HettopError
from hettop.events import AnyEvent
from hettop.record import pack
from hettop.record.writer import Closed, Writer
from hettop.session.session import Session
from hettop.session.unit import Unit


class Recorder:
    """At most one recording at a time. `wall` reads the wall clock, for the header."""

    def __init__(self, session: Session, wall: Callable[[], datetime]) -> None:
        self._session = session
        self._wall = wall
        self._packed: tuple[Path, bool] | None = None
        self.writer: Writer | None = None

    def start(self, path: Path, now_ns: int, *, force: bool = False) -> None:
        """Begin a recording whose clock starts now. Raises HettopError (`io`, `missing`).

        One that shall be compressed in the end is written beside it until then, under the name without `.zst`.
        """
        self._packed = None
        if path.suffix == pack.SUFFIX:
            pack.check_place(path, force=force)
            self._packed = path, force
            path = pack.plain_path(path)
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
        """Close the recording, if there is one, and return what became of it."""
        writer, self.writer = self.writer, None
        if writer is None:
            return None
        closed = writer.close(why, now_ns)
        return self._compressed(closed) if self._packed is not None and closed.fault is None else closed

    def discard(self) -> None:
        """End the recording, if there is one, without a trace."""
        writer, self.writer = self.writer, None
        if writer is not None:
            writer.discard()

    def _compressed(self, closed: Closed) -> Closed:
        """What became of the recording once it is compressed; where that failed, it stays as it is and says why."""
        assert self._packed is not None  # noqa: S101 - asked for
        path, force = self._packed
        plain = Path(closed.path)
        try:
            packed = pack.pack(plain, path, force=force)
            plain.unlink()
        except (HettopError, OSError) as error:
            return dataclasses.replace(closed, fault=f"not compressed: {error}")
        return dataclasses.replace(closed, path=packed.path, size_bytes=packed.size_bytes)


def opening_events(session: Session, now_ns: int) -> list[AnyEvent]:
    """The state of a running session as events, so that a recording begun in its middle knows what is active."""
    opening: list[AnyEvent] = [_engine_event(unit, now_ns) for unit in session.units.values()]
    repeated = [event for unit in session.units.values() for event in (unit.plan, unit.outputs) if event is not None]
    opening += [msgspec.structs.replace(event, t=now_ns) for event in repeated]
    if session.load != events.NO_LOAD:
        opening.append(
            events.Load(t=now_ns, what="all", state="confirmed", condition=session.load, simulated=session.simulated)
        )
    machine = (_power_status(session), *session.baselines.values(), session.host)
    opening += [msgspec.structs.replace(event, t=now_ns) for event in machine if event is not None]
    opening += [msgspec.structs.replace(study, t=now_ns) for study in session.studies.all]
    if session.control is not None:
        opening.append(msgspec.structs.replace(session.control, t=now_ns, action="start"))
    return opening


def _power_status(session: Session) -> events.PowerStatus | None:
    """With the rails that were seen above 0 by now: the power samples that showed it are not in the recording."""
    status = session.power_status
    if status is None or status.source != session.energy.source:
        return status
    return msgspec.structs.replace(status, validated=sorted({*status.validated, *session.energy.validated}))


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
