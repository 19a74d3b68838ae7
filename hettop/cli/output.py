"""How a command that takes a while tells what it is doing: one line on a terminal, or JSON lines for whoever follows.

Knows streams, nothing of what is measured.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, TextIO

from hettop.cli.measuring import print_warnings
from hettop.cli.progress import one_line
from hettop.measurement.arguments import check_result_options
from hettop.measurement.setup import Setup
from hettop.report.document import to_json, to_json_line
from hettop.report.grid import wrapped
from hettop.report.studies.words import HEADLINES
from hettop.studies.reading import found_of
from hettop.studies.recording import StudyRecording, header_of
from hettop.text import clean

TABLES_ALONE = ("layers", "roofline", "sweep", "variants")
LONGEST = 400  # characters of a sentence


class Telling(Protocol):
    """What a command says on its way."""

    def doing(self, text: str, share: float | None = None) -> None:
        """What is going on now, an empty text: nothing any more; `share` of all is done, 0..1."""
        ...

    def known(self, document: Mapping[str, Any]) -> None:
        """All that is known by now: the document that `--json` would print."""
        ...


class OneLine:
    """A line on stderr that is wiped by the next, where somebody watches."""

    def __init__(self) -> None:
        self._say = one_line()

    def doing(self, text: str, share: float | None = None) -> None:
        self._say(text if share is None or not text else f"{share:4.0%}  {text}")

    def known(self, document: Mapping[str, Any]) -> None:
        """Nobody reads a document by the line."""


class JsonLines:
    """A JSON object a line."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def doing(self, text: str, share: float | None = None) -> None:
        if text:
            self._write({"doing": text, "share": share, "document": None})

    def known(self, document: Mapping[str, Any]) -> None:
        self._write({"doing": None, "share": None, "document": document})

    def _write(self, line: Mapping[str, Any]) -> None:
        self._stream.write(to_json_line(line) + "\n")
        self._stream.flush()


def telling(arguments: argparse.Namespace) -> Telling:
    return JsonLines(sys.stdout) if arguments.stream else OneLine()


class Answer:
    """What a command that studies a model says: on its way, and in the end as text, document, lines or recording.

    Use it as a context: what is begun in it is wiped, and a recording that got no answer is gone.
    """

    def __init__(self, name: str, arguments: argparse.Namespace) -> None:
        """`name` of the study.

        Raises HettopError (`usage`) for options that contradict each other.
        """
        check_result_options(arguments)
        self._name, self._arguments = name, arguments
        self._telling = telling(arguments)
        self._recording: StudyRecording | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._telling.doing("")
        if self._recording is not None:
            self._recording.__exit__(kind, error, traceback)

    def begin(self, setup: Setup) -> None:
        """Print warnings, and make the recording that was asked for. Raises HettopError (`io`, `missing`, `usage`)."""
        self._telling.doing("")
        print_warnings(setup.warnings)
        if self._arguments.record is not None:
            path, force = Path(self._arguments.record), self._arguments.force
            self._recording = StudyRecording(path, header_of(setup), self._name, self._arguments.command, force=force)

    def doing(self, text: str, share: float | None = None) -> None:
        self._telling.doing(text, share)

    def known(self, document: Callable[[], Mapping[str, Any]]) -> None:
        """What is known by now, for those who follow."""
        if self._arguments.stream:
            self._telling.known(document())

    def give(
        self, document: Callable[[], dict[str, Any]], text: Callable[[int], str], *, interrupted: bool = False
    ) -> None:
        """The end: print it as was asked for (`text` of a width in cells), and keep it. Raises HettopError (`io`).

        interrupted: whether the user ended it before its time.
        """
        self._telling.doing("")
        document = cache(document)  # some resample for seconds
        if self._recording is not None:
            self._recording.keep(document(), "ended" if interrupted else "done")
        if self._arguments.stream:
            self._telling.known(document())
        elif self._arguments.as_json:
            sys.stdout.write(to_json(document()) + "\n")
        else:
            width = shutil.get_terminal_size((100, 24)).columns
            kept = [f"kept in {clean(self._arguments.record)}"] if self._recording is not None else []
            page = [*self._headline(document, width), text(width).rstrip("\n"), *kept]
            sys.stdout.write("\n".join(page) + "\n")

    def _headline(self, document: Callable[[], dict[str, Any]], width: int) -> list[str]:
        """The sentences that the screen and a report begin with, for pages that are tables alone."""
        if self._name not in TABLES_ALONE:
            return []
        sentences = HEADLINES[self._name](found_of(self._name, document()))
        return [*(row for each in sentences for row in wrapped(clean(each, LONGEST), width)), ""]
