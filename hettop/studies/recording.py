"""A study that is made on its own, as a recording: a header, what was found, and the end.

So that it can be kept, reported and replayed like what was found beside a running measurement.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path, PurePath
from types import TracebackType
from typing import Self

import msgspec

from hettop.errors import HettopError
from hettop.events import TEXT_LIMIT, Header, Study
from hettop.measurement.measurement import wall_clock
from hettop.measurement.options import MeasureOptions
from hettop.measurement.setup import Setup, make_header
from hettop.record import pack
from hettop.record.writer import Writer
from hettop.sources.engine.backend import RealClock
from hettop.studies.result import StudyResult
from hettop.text import clean

MOST_ARGUMENTS = 64


def header_of(setup: Setup, wall: Callable[[], datetime] = wall_clock) -> Header:
    """The header of a study of this model that begins now."""
    header = make_header(setup, MeasureOptions(power="none"), wall())
    return msgspec.structs.replace(header, id=secrets.token_hex(16), settings={"seed": setup.inputs.seed})


class StudyRecording:
    """The file is made at once, so that nothing is measured in vain, and is gone again unless `keep` fills it."""

    def __init__(
        self,
        path: Path,
        header: Header,
        name: str,
        arguments: Sequence[str],
        *,
        force: bool = False,
        now: Callable[[], int] = RealClock.now,
    ) -> None:
        """Raises HettopError (`io`, `missing`, `usage`) where it cannot be."""
        if path.suffix == pack.SUFFIX:
            raise HettopError(
                "usage", "a study is a few lines: it is not compressed", f"name {pack.plain_path(path).name}"
            )
        self._name, self._now, self._began = name, now, now()
        self._arguments = [without_folders(word) for word in arguments[:MOST_ARGUMENTS]]
        self._writer = Writer(path, header, force=force)
        self._kept = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._kept:
            self._writer.discard()

    def keep(self, found: StudyResult, state: str = "done") -> None:
        """Write what was found; `state`: `done`, or `ended` by the user before its time. Raises HettopError (`io`)."""
        t = self._now() - self._began
        study = Study(t=t, name=self._name, state=state, elapsed_ns=t, arguments=self._arguments, found=found.line())
        self._writer.write(study)
        self._kept = True
        closed = self._writer.close(f"the study is {state}", t)
        if closed.fault is not None:
            raise HettopError("io", f"the study could not be kept: {closed.fault}")


def without_folders(word: str) -> str:
    """Where files lie on a machine is nobody's business who gets the recording."""
    return clean(PurePath(word).name if os.sep in word else word, TEXT_LIMIT)
