"""Output of a study: progress, and the result as text, JSON document, lines of the stream, or a recording."""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from datetime import datetime
from pathlib import Path, PurePath
from types import TracebackType
from typing import Any, Self

import msgspec

from hettop.console.measuring import print_setup, print_warnings
from hettop.console.messages import print_error, print_note, print_warning
from hettop.console.progress import ProgressJson, ProgressSink, progress_line
from hettop.errors import HettopError
from hettop.events import TEXT_LIMIT, Header, Study
from hettop.measurement.arguments import (
    check_result_options,
)
from hettop.measurement.measurement import wall_clock
from hettop.measurement.options import MeasureOptions
from hettop.measurement.setup import Setup, make_header
from hettop.processes.interruptions import InterruptionTotals, interruptions_watched
from hettop.record import pack
from hettop.record.writer import Writer
from hettop.report.formats import TABLE, result_text
from hettop.report.notes import interruption_counts, interruption_words
from hettop.report.page import Block, Paragraph
from hettop.report.terminal.blocks import block_text
from hettop.sources.engine.backend import RealClock
from hettop.studies.recorded import LEFT_OUT
from hettop.studies.registry import STUDIES
from hettop.studies.result import StudyResult
from hettop.text import clean
from hettop.units import NS_PER_S

NO_INTERRUPTIONS = InterruptionTotals()


class ReportedInterruptions(msgspec.Struct, frozen=True):
    """Interruptions as a document has them."""

    stops: int = 0
    stopped_s: float = 0.0
    sleeps: int = 0
    slept_s: float = 0.0


class StudyOutput:
    """Prints progress and result of one study in the form that was asked for.

    Use it as a context: its line of progress is wiped at the end, and a recording that got no result is removed. The
    result reports how often hettop was stopped, and the machine slept, in the meantime.
    """

    def __init__(self, name: str, arguments: argparse.Namespace) -> None:
        """`name` of the study. Raises HettopError (`usage`) for options that contradict each other."""
        check_result_options(arguments)
        self._name, self._arguments = name, arguments
        self._recording: StudyRecording | None = None
        self._held = ExitStack()
        self._interruptions = InterruptionTotals()
        self.progress: ProgressSink = ProgressJson(sys.stdout) if arguments.stream else progress_line()

    def __enter__(self) -> Self:
        self._interruptions = self._held.enter_context(interruptions_watched())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._held.close()
        self.progress.clear()
        if self._recording is not None:
            self._recording.__exit__(kind, error, traceback)

    def begin(self, setup: Setup) -> None:
        """Print warnings, and make the recording that was asked for. Raises HettopError (`io`, `missing`, `usage`)."""
        self.progress.clear()
        print_warnings(setup.warnings)
        print_setup(setup)
        if self._arguments.record is not None:
            path, force = Path(self._arguments.record), self._arguments.force
            command = self._arguments.command
            self._recording = StudyRecording(path, header_of(setup), self._name, command, force=force)

    def finish(
        self,
        result: StudyResult,
        document: Callable[[], dict[str, Any]],
        title: str,
        page: Sequence[Block] | None = None,
        *,
        interrupted: bool = False,
    ) -> None:
        """Print the result as was asked for, and record it. Raises HettopError (`io`).

        document: with the host and the model. page: None: the study's. interrupted: the user ended it early.
        """
        self.progress.clear()
        if self._recording is not None:
            self._recording.keep(result, "ended" if interrupted else "done", self._interruptions)
        for words in interruption_words(self._interruptions, "hettop"):
            print_warning(f"{words}; {LEFT_OUT}")
        document = self._with_interruptions(document)
        if self._arguments.stream:
            self.progress.partial(document)
        else:
            width = shutil.get_terminal_size((100, 24)).columns
            form, blocks = self._arguments.format, STUDIES[self._name].page(result) if page is None else page
            heading = Paragraph(title, "muted")
            if form == TABLE:
                sys.stdout.write(block_text([heading], width) + "\n")
            sys.stdout.write(result_text(form, document, blocks if form == TABLE else [heading, *blocks], width))
            sys.stdout.flush()
        if self._recording is not None and self._arguments.format == TABLE and not self._arguments.stream:
            print_note(f"recorded in {clean(self._arguments.record)}")

    def _with_interruptions(self, document: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
        if not (self._interruptions.stops or self._interruptions.sleeps):
            return document
        return lambda: {**document(), "interruptions": interruption_counts(self._interruptions)}

    def failed(self, message: str) -> None:
        """Print why there is no result, where no exception does."""
        self.progress.failed(HettopError("study", message))
        print_error(message)


def interruptions_of(document: Mapping[str, Any]) -> InterruptionTotals:
    """The interruptions that a study's document reports. Raises HettopError (`study`) if they are invalid."""
    try:
        found = msgspec.convert(document.get("interruptions", {}), ReportedInterruptions)
    except msgspec.ValidationError as error:
        raise HettopError("study", f"invalid output of the study: {error}") from None
    stopped_ns, slept_ns = (round(seconds * NS_PER_S) for seconds in (found.stopped_s, found.slept_s))
    return InterruptionTotals(found.stops, stopped_ns, found.sleeps, slept_ns)


def model_title(setup: Setup) -> str:
    return f"{setup.model.name} ({setup.model.note})" if setup.model.note else setup.model.name


def model_document(setup: Setup) -> dict[str, Any]:
    model = setup.model
    return {"name": model.name, "sha256": model.sha256, "backend": setup.backend, "note": model.note or None}


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
                "usage", "a recording of a study cannot be compressed", f"use {pack.plain_path(path).name}"
            )
        self._name, self._now, self._began = name, now, now()
        self._arguments = arguments
        self._writer = Writer(path, header, force=force)
        self._kept = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._kept:
            self._writer.discard()

    def keep(
        self, found: StudyResult, state: str = "done", interruptions: InterruptionTotals = NO_INTERRUPTIONS
    ) -> None:
        """Write what was found; `state`: `done`, or `ended` by the user before its time. Raises HettopError (`io`)."""
        t = self._now() - self._began
        event = study_event(self._name, found, self._arguments, state=state, t=t, elapsed_ns=t)
        self._writer.write(msgspec.structs.replace(event, **asdict(interruptions)))
        self._kept = True
        closed = self._writer.close(f"the study is {state}", t)
        if closed.fault is not None:
            raise HettopError("io", f"cannot record the study: {closed.fault}")


def study_event(
    name: str, found: StudyResult, arguments: Sequence[str], *, state: str, t: int, elapsed_ns: int
) -> Study:
    """The result of a study as a line of a recording. arguments: the command as the user entered it."""
    words = [without_folders(word) for word in arguments[:MOST_ARGUMENTS]]
    return Study(t=t, name=name, state=state, elapsed_ns=elapsed_ns, arguments=words, found=found.line())


def without_folders(word: str) -> str:
    """The word without folders, which are private to the machine."""
    return clean(PurePath(word).name if os.sep in word else word, TEXT_LIMIT)
