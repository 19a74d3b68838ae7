"""Output of a command that studies a model: its progress, and its result as text, document, JSON lines or recording."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from hettop.console.measuring import print_warnings
from hettop.console.progress import ProgressJson, ProgressSink, progress_line
from hettop.errors import HettopError
from hettop.measurement.arguments import (
    check_result_options,
)
from hettop.measurement.setup import Setup
from hettop.report.document import to_json
from hettop.report.page import Block, Paragraph
from hettop.report.terminal.blocks import block_text
from hettop.studies.recording import StudyRecording, header_of
from hettop.studies.registry import STUDIES
from hettop.studies.result import StudyResult
from hettop.text import clean


class StudyOutput:
    """Prints progress and result of one study in the form that was asked for.

    Use it as a context: its line of progress is wiped at the end, and a recording that got no result is removed.
    """

    def __init__(self, name: str, arguments: argparse.Namespace) -> None:
        """`name` of the study. Raises HettopError (`usage`) for options that contradict each other."""
        check_result_options(arguments)
        self._name, self._arguments = name, arguments
        self._recording: StudyRecording | None = None
        self.progress: ProgressSink = ProgressJson(sys.stdout) if arguments.stream else progress_line()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.progress.clear()
        if self._recording is not None:
            self._recording.__exit__(kind, error, traceback)

    def begin(self, setup: Setup) -> None:
        """Print warnings, and make the recording that was asked for. Raises HettopError (`io`, `missing`, `usage`)."""
        self.progress.clear()
        print_warnings(setup.warnings)
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
            self._recording.keep(result, "ended" if interrupted else "done")
        if self._arguments.stream:
            self.progress.partial(document)
        elif self._arguments.as_json:
            sys.stdout.write(to_json(document()) + "\n")
        else:
            width = shutil.get_terminal_size((100, 24)).columns
            kept = [f"kept in {clean(self._arguments.record)}"] if self._recording is not None else []
            blocks = [Paragraph(title, "muted"), *(STUDIES[self._name].page(result) if page is None else page)]
            sys.stdout.write("\n".join([block_text(blocks, width).rstrip("\n"), *kept]) + "\n")

    def failed(self, message: str) -> None:
        """Tell why there is nothing, where no exception says it."""
        self.progress.failed(HettopError("study", message))
        sys.stderr.write(f"hettop: {clean(message, 400)}\n")


def model_title(setup: Setup) -> str:
    return f"{setup.model.name} ({setup.model.note})" if setup.model.note else setup.model.name


def model_document(setup: Setup) -> dict[str, Any]:
    model = setup.model
    return {"name": model.name, "sha256": model.sha256, "backend": setup.backend, "note": model.note or None}
