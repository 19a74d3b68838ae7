"""Writes the event stream to a recording as it happens, so that a crash at any moment costs at most its last second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from hettop import events
from hettop.errors import HettopError
from hettop.events import LINE_LIMIT, AnyEvent, Samples
from hettop.record import window_coalescer
from hettop.record.disk import Disk, LineFile, Syncer, fault_text
from hettop.record.limits import readable
from hettop.session.session import Session

KEYFRAME_NS = 10 * 10**9
SYNC_EVERY_S = 1.0
OWN_KINDS = (events.Header, events.Keyframe, events.End)
LOOK_EVERY_NS = 10**9  # whether the file is still there


@dataclass(frozen=True, slots=True)
class Closed:
    """What became of a recording. `undeclared` samples are missing from it and no line in it says so."""

    path: str
    size_bytes: int
    samples: int
    dropped: int
    undeclared: int
    fault: str | None


class Writer:
    """One recording. All calls come from one thread; only the sync runs on another.

    Events carry the live session's time; the file's own begins at `origin_ns`. Samples that started before it are
    left out, not counted as dropped: they belong to the time before the recording. `opening` holds the state events
    (engines, control, load) that a recording started in mid-session opens with.
    """

    def __init__(
        self,
        path: Path,
        header: events.Header,
        *,
        origin_ns: int = 0,
        opening: Sequence[AnyEvent] = (),
        force: bool = False,
        disk: Disk | None = None,
        sync_every_s: float = SYNC_EVERY_S,
    ) -> None:
        """Create the file, with its header in it. Raises HettopError `io` when that cannot be."""
        self._path = path
        self._origin = origin_ns
        self._disk = disk or Disk()
        self._coalescer = window_coalescer.WindowCoalescer()
        # A fold of its own, not the live session's. A keyframe is by the format the fold of the lines before it: a
        # reader goes on from it, and `verify` compares. The live session was folded from other events: from flushes of
        # 50 ms where a line has a second, in another order (readings pass samples that are held back), with what the
        # disk refused, and, where a recording begins in mid-session, with all that was before. Counts of what was
        # present at spikes, energies and drift differ by each of these.
        self._session = Session(raw_limit=0, trailing=False)
        self._last_t = 0
        self._next_keyframe = KEYFRAME_NS
        self._losses = _Losses()
        self._refused: str | None = None
        self._lost: str | None = None
        self._look_again = 0
        self._closed: Closed | None = None
        try:
            seen, line = readable(msgspec.structs.replace(header, t=0))
        except ValueError as error:
            raise HettopError("io", f"this session cannot be recorded: {error}") from None
        self._file = LineFile(path, line + b"\n", self._disk, force=force)
        self._session.fold(seen)
        self._syncer = Syncer(self._file.fd, self._disk.sync, sync_every_s)
        self._syncer.touch()
        for event in opening:
            self.write(event)

    @property
    def path(self) -> str:
        return str(self._path)

    @property
    def size_bytes(self) -> int:
        return self._file.size

    @property
    def fault(self) -> str | None:
        """What is wrong with the recording at this moment, to be shown at once; None while all is well."""
        if self._losses.why is not None:
            missing = self._losses.samples
            return f"{self._losses.why}: {missing:,} samples not recorded" if missing else self._losses.why
        if self._syncer.fault is not None:
            return f"sync failed: {self._syncer.fault}; the recording may not survive a power cut"
        return self._lost or self._refused

    def write(self, event: AnyEvent) -> None:
        """Take in a live event. Header, keyframe and end are the writer's own and ignored, as is all after close."""
        if self._closed is not None or isinstance(event, OWN_KINDS):
            return
        rebased = self._rebased(event)
        if rebased is not None:
            self._commit_all(self._coalescer.add(rebased))
            self._keyframe_when_due(rebased.t)

    def tick(self, now_ns: int) -> None:
        """Commit what has been held back long enough; to be called a few times a second with the session's time."""
        if self._closed is None:
            now = self._moment(now_ns)
            if now >= self._look_again:
                self._look_again = now + LOOK_EVERY_NS
                self._lost = self._file.loss()
            self._commit_all(self._coalescer.due(now))
            self._keyframe_when_due(now)

    def close(self, why: str, now_ns: int | None = None) -> Closed:
        """Commit all that is held back and the `end` line, sync, and report what became of the recording."""
        if self._closed is not None:
            return self._closed
        now = self._last_t if now_ns is None else self._moment(now_ns)
        self._commit_all(self._coalescer.flush(now))
        dropped = self._session.dropped + self._losses.samples
        self._declare_losses(now)  # before the checksum, which covers them
        crc32 = self._file.crc32 if self._losses.why is None else None
        self._commit(events.End(t=now, why=why, samples=self._session.samples, dropped=dropped, crc32=crc32))
        self._settle()
        self._lost = self._file.loss()
        answered = self._syncer.stop()
        if answered:
            self._disk.close(self._file.fd)
        self._closed = Closed(
            path=self.path,
            size_bytes=self._file.size,
            samples=self._session.samples,
            dropped=self._session.dropped,
            undeclared=self._losses.samples,
            fault=self.fault if answered else "the disk does not respond",
        )
        return self._closed

    def discard(self) -> None:
        """End without a trace: what was recorded is of no use to anybody. An earlier recording stays as it was."""
        if self._closed is None:
            self._closed = Closed(self.path, 0, 0, 0, 0, None)
            self._file.discard()
            if self._syncer.stop():
                self._disk.close(self._file.fd)

    def _moment(self, live_t: int) -> int:
        """Live time on the recording's clock, which never runs backwards."""
        self._last_t = max(self._last_t, live_t - self._origin)
        return self._last_t

    def _rebased(self, event: AnyEvent) -> AnyEvent | None:
        t = self._moment(event.t)
        if self._origin == 0 or not isinstance(event, Samples):
            event = window_coalescer.later(event, self._origin)
            return event if event.t == t else msgspec.structs.replace(event, t=t)
        kept = window_coalescer.since(event, self._origin)
        return None if kept is None else msgspec.structs.replace(kept, t=t, t0=kept.t0 - self._origin)

    def _commit_all(self, ready: list[AnyEvent]) -> None:
        for event in ready:
            self._commit(event)

    def _commit(self, event: AnyEvent) -> None:
        """Put one event into the file and fold it, or remember that it is missing.

        Samples were checked where they arrived from the engine's process; all else may hold texts of frameworks.
        """
        if isinstance(event, Samples):
            line = events.encode(event)
            if len(line) > LINE_LIMIT:
                self._commit_all([*window_coalescer.split(event)])
                return
        else:
            try:
                event, line = readable(event)
            except ValueError as error:
                self._refused = f"an event could not be recorded: {error}"
                return
        if not (self._declare_losses(event.t) and self._put(line, event)):
            self._losses.add(event)

    def _declare_losses(self, t: int) -> bool:
        """Say what is missing, before anything else is written. False while the disk refuses even that."""
        for owed in self._losses.declarations(t):
            event, line = readable(owed)
            if not self._put(line, event):
                return False
            self._losses.declared(owed)
        return True

    def _put(self, line: bytes, event: AnyEvent) -> bool:
        try:
            self._file.append(line + b"\n")
        except OSError as error:
            self._losses.why = fault_text(error)
            return False
        self._syncer.touch()
        self._losses.recovered()
        self._session.fold(event)
        if isinstance(event, Samples):
            self._settle()
        return True

    def _settle(self) -> None:
        try:
            self._file.settle()
        except OSError as error:
            self._refused = f"the earlier recording could not be replaced: {fault_text(error)}"

    def _keyframe_when_due(self, t: int) -> None:
        if t < self._next_keyframe:
            return
        self._next_keyframe = t + KEYFRAME_NS
        keyframe = self._session.keyframe(t, self._file.crc32)
        try:
            _, line = readable(keyframe)
        except ValueError:
            return  # seeking falls back to the one before
        if self._losses.why is None and self._put(line, keyframe):
            self._file.restart_crc()


class _Losses:
    """What could not be written: how many samples, why, and the state events owed to the fold."""

    def __init__(self) -> None:
        self.samples = 0
        self.why: str | None = None
        self._states: dict[tuple[str, str], AnyEvent] = {}

    def add(self, event: AnyEvent) -> None:
        match event:
            case Samples() | events.Dropped():
                self.samples += event.n
            # Of each engine, load and the control the last state counts, so what is owed stays bounded.
            case events.Engine():
                self._owe(("engine", event.unit), event)
            case events.Load():
                self._owe(("load", event.what), event)
            case events.Control():
                self._owe(("control", ""), event)

    def _owe(self, key: tuple[str, str], event: AnyEvent) -> None:
        self._states.pop(key, None)
        self._states[key] = event

    def declarations(self, t: int) -> list[AnyEvent]:
        """The events that make up for the losses, stamped `t`."""
        owed: list[AnyEvent] = []
        if self.samples:
            owed.append(events.Dropped(t=t, n=self.samples, why=self.why or "not written"))
        return owed + [msgspec.structs.replace(event, t=t) for event in self._states.values()]

    def declared(self, event: AnyEvent) -> None:
        """One of the declarations is in the file."""
        if isinstance(event, events.Dropped):
            self.samples = 0
        else:
            self._states.pop(next(iter(self._states)))

    def recovered(self) -> None:
        """Something could be written again."""
        if not self.samples:
            self.why = None
