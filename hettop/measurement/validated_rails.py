"""Remembers which accelerator rails were seen above zero on this machine: of those, a zero is a reading later, too.

An energy counter may read 0 while its device works (macOS 27 has been seen to), and an update of the system or another
source may change that: so what is remembered holds for one machine model, one build of the system and one source.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from hettop.compute_units import USED_BY, Accelerator
from hettop.events import split_row
from hettop.measurement.recorder import rfc3339
from hettop.measurement.user_files import user_places, write_atomically
from hettop.models.compiled import SYSTEM_VERSION, system_build
from hettop.processes.command import command_output
from hettop.session.session import Session
from hettop.sources.host import Run, machine_model
from hettop.text import clean

LARGEST_BYTES = 100_000
MOST_KEPT = 100  # entries of 200 bytes; a machine gains a few with each update of its system
MOST_LETTERS = 200
Words = Annotated[str, msgspec.Meta(max_length=MOST_LETTERS)]
_Key = tuple[Accelerator, str | None, str | None, str]


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """A rail was seen at `mw` above zero: when (RFC 3339), on which machine and system, by which source, and while
    which model ran on which unit.
    """

    rail: Accelerator
    machine: Words
    build: Words
    source: Words
    seen: Words
    model: Words
    unit: Words
    mw: Annotated[float, msgspec.Meta(gt=0)]


class _File(msgspec.Struct, kw_only=True):
    format: Literal["hettop-validated-rails"]
    rails: list[msgspec.Raw]


@dataclass(frozen=True, slots=True)
class _Entry:
    """As it stands in the file, and what it says; None of one that another version may know, which is kept."""

    raw: msgspec.Raw
    sighting: Sighting | None

    @property
    def key(self) -> _Key | None:
        return None if self.sighting is None else _key(self.sighting)


@dataclass(frozen=True, slots=True)
class ValidatedRails:
    """What the file at `path` has of this machine. Where any of the three is not known, nothing is remembered."""

    path: Path | None = None
    machine: str | None = None
    build: str | None = None

    def all(self) -> tuple[Sighting, ...]:
        """Of every source, on this machine and system."""
        known = [each.sighting for each in self._read() if each.sighting is not None]
        return tuple(each for each in known if (each.machine, each.build) == (self.machine, self.build))

    def of(self, source: str) -> dict[Accelerator, Sighting]:
        """The rails that this source was seen to read above zero."""
        return {each.rail: each for each in self.all() if each.source == source}

    def remember(self, sightings: Iterable[Sighting]) -> None:
        """Keep these, in the place of what was remembered of the same rails. Where it cannot be written, it is not."""
        new = {_key(each): each for each in map(_cut, sightings)}
        if new:
            added = [_Entry(msgspec.Raw(msgspec.json.encode(each)), each) for each in new.values()]
            self._write([each for each in self._read() if each.key not in new] + added)

    def forget(self, source: str, rails: Iterable[Accelerator]) -> None:
        """These rails were seen to read zero under load."""
        gone = {(rail, self.machine, self.build, source) for rail in rails}
        entries = self._read()
        if any(each.key in gone for each in entries):
            self._write([each for each in entries if each.key not in gone])

    def _read(self) -> list[_Entry]:
        """Everything in the file; nothing where it cannot be read, or is somebody else's."""
        if self.path is None or self.machine is None or self.build is None:
            return []
        try:
            if not self.path.is_file():  # opening a pipe would wait for whoever may write to it
                return []
            with self.path.open("rb") as file:
                found = msgspec.json.decode(file.read(LARGEST_BYTES), type=_File).rails
            return [_Entry(raw, _sighting(raw)) for raw in found]
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return []

    def _write(self, entries: list[_Entry]) -> None:
        """The newest that can be read again, and as much of what is not known as there is room for."""
        if self.path is None or self.machine is None or self.build is None:
            return
        entries = sorted(entries, key=lambda each: each.sighting.seen if each.sighting else "")[-MOST_KEPT:]
        while len(text := _written(entries)) > LARGEST_BYTES:
            del entries[0]
        with contextlib.suppress(OSError):
            write_atomically(self.path, text.decode())


def my_validated_rails(
    system: str = sys.platform, run: Run = command_output, version_file: Path = SYSTEM_VERSION
) -> ValidatedRails:
    """Those of the user who runs this process; no accelerator of another system than macOS has a rail."""
    if system != "darwin":
        return ValidatedRails()
    return ValidatedRails(user_places().rails, machine_model(system, run), system_build(version_file))


def remember_session(session: Session, rails: ValidatedRails, now: datetime) -> None:
    """Remember the rails that real power of this session showed above zero while a unit ran that may use them.

    What is remembered already stays, with its date. Simulated power shows nothing of this machine; that of a capture is
    attributed to no unit.
    """
    if session.simulated or session.energy.source is None:
        return
    known = rails.of(session.energy.source)
    rails.remember(each for each in sightings(session, rails, now) if each.rail not in known)


def sightings(session: Session, rails: ValidatedRails, now: datetime) -> list[Sighting]:
    """Of each accelerator's rail the highest mean while a unit ran alone that may use it, if that was above zero.

    None of a rail that several sources measured: the mean is of all of them.
    """
    source = session.energy.source
    if source is None or session.header is None or rails.machine is None or rails.build is None:
        return []
    found = []
    for rail, units in USED_BY.items():
        if not session.energy.is_of_one_source(rail):
            continue
        seen = [
            (sums.mean_mw or 0.0, key.unit)
            for key, condition in session.conditions.items()
            if split_row(key.unit)[0] in units
            and (sums := session.energy.of(condition)[rail]).energy_mj > session.energy.step_mj
        ]
        if seen:
            mw, unit = max(seen)
            found.append(
                Sighting(
                    rail=rail,
                    machine=rails.machine,
                    build=rails.build,
                    source=source,
                    seen=rfc3339(now),
                    model=session.header.model.name or "a model without a name",
                    unit=unit,
                    mw=mw,
                )
            )
    return found


def _key(sighting: Sighting) -> _Key:
    return sighting.rail, sighting.machine, sighting.build, sighting.source


def _sighting(raw: msgspec.Raw) -> Sighting | None:
    try:
        return msgspec.json.decode(raw, type=Sighting)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _cut(sighting: Sighting) -> Sighting:
    """With names that can be read again, whatever the model is called."""
    return msgspec.structs.replace(
        sighting, model=clean(sighting.model, MOST_LETTERS), unit=clean(sighting.unit, MOST_LETTERS)
    )


def _written(entries: list[_Entry]) -> bytes:
    file = _File(format="hettop-validated-rails", rails=[each.raw for each in entries])
    return msgspec.json.format(msgspec.json.encode(file), indent=1) + b"\n"
