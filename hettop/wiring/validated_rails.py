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

from hettop.events import split_row
from hettop.host import Run, machine_model, run_command
from hettop.models.compiled import SYSTEM_VERSION, system_build
from hettop.session.rails import MAY_USE, Rail
from hettop.session.session import Session
from hettop.wiring.recorder import rfc3339
from hettop.wiring.settings.kept import write_atomically
from hettop.wiring.settings.places import my_places

LARGEST_BYTES = 100_000
MOST_KEPT = 100  # entries of 200 bytes; a machine gains a few with each update of its system
Words = Annotated[str, msgspec.Meta(max_length=200)]


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """A rail was seen at `mw` above zero: when (RFC 3339), on which machine and system, by which source, and while
    which model ran on which unit.
    """

    rail: Rail
    machine: Words
    build: Words
    source: Words
    seen: Words
    model: Words
    unit: Words
    mw: Annotated[float, msgspec.Meta(gt=0)]


class _File(msgspec.Struct, kw_only=True):
    format: Literal["hettop-validated-rails"]
    rails: list[Sighting]


@dataclass(frozen=True, slots=True)
class ValidatedRails:
    """What the file at `path` has of this machine. Where any of the three is not known, nothing is remembered."""

    path: Path | None = None
    machine: str | None = None
    build: str | None = None

    def all(self) -> tuple[Sighting, ...]:
        """Of every source, on this machine and system."""
        return tuple(each for each in self._read() if (each.machine, each.build) == (self.machine, self.build))

    def of(self, source: str) -> dict[Rail, Sighting]:
        """The rails that this source was seen to read above zero."""
        return {each.rail: each for each in self.all() if each.source == source}

    def remember(self, sightings: Iterable[Sighting]) -> None:
        """Keep these, in the place of what was remembered of the same rails. Where it cannot be written, it is not."""
        new = {_key(each): each for each in sightings}
        if new:
            self._write([each for each in self._read() if _key(each) not in new] + list(new.values()))

    def forget(self, source: str, rails: Iterable[Rail]) -> None:
        """These rails were seen to read zero under load."""
        gone = {(rail, self.machine, self.build, source) for rail in rails}
        if any(_key(each) in gone for each in self._read()):
            self._write([each for each in self._read() if _key(each) not in gone])

    def _read(self) -> list[Sighting]:
        """Everything in the file; nothing where it cannot be read, or is somebody else's."""
        if self.path is None or self.machine is None or self.build is None:
            return []
        try:
            with self.path.open("rb") as file:
                return msgspec.json.decode(file.read(LARGEST_BYTES), type=_File).rails
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return []

    def _write(self, sightings: list[Sighting]) -> None:
        if self.path is None or self.machine is None or self.build is None:
            return
        kept = sorted(sightings, key=lambda each: each.seen)[-MOST_KEPT:]
        text = msgspec.json.format(
            msgspec.json.encode(_File(format="hettop-validated-rails", rails=kept)), indent=1
        ).decode()
        with contextlib.suppress(OSError):
            write_atomically(self.path, text + "\n")


def my_validated_rails(
    system: str = sys.platform, run: Run = run_command, version_file: Path = SYSTEM_VERSION
) -> ValidatedRails:
    """Those of the user who runs this process; no accelerator of another system than macOS has a rail."""
    if system != "darwin":
        return ValidatedRails()
    return ValidatedRails(my_places().rails, machine_model(system, run), system_build(version_file))


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
    for rail, units in MAY_USE.items():
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


def _key(sighting: Sighting) -> tuple[Rail, str | None, str | None, str]:
    return sighting.rail, sighting.machine, sighting.build, sighting.source
