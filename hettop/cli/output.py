"""Runs a command with the options that all commands have: verbosity, colour, and a file for the result."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from hettop.console.messages import NORMAL, QUIET, VERBOSE, print_note, verbosity
from hettop.errors import HettopError
from hettop.measurement.arguments import PIPE, check_force
from hettop.text import clean

CHECKED_BYTES = 64
RECORDING_BEGINNING = b'{"k":'
WIDTH = 100


def run_with_options(run: Callable[[argparse.Namespace], int], arguments: argparse.Namespace) -> int:
    """Call `run`, with its stdout in the file of `--output` where that is the option for a result."""
    level = QUIET if arguments.quiet else VERBOSE if arguments.verbose else NORMAL
    with verbosity(level), colors(arguments.color):
        if hasattr(arguments, "force"):
            check_force(arguments)
        if not hasattr(arguments, "formats") or arguments.output in (None, PIPE):
            return run(arguments)
        with stdout_in(Path(arguments.output), force=arguments.force):
            code = run(arguments)
        print_note(f"wrote {arguments.output}")
        return code


@contextlib.contextmanager
def colors(when: str | None) -> Iterator[None]:
    """Set the environment variables that select colour, for hettop and what it starts."""
    changed = {"always": {"NO_COLOR": None, "FORCE_COLOR": "1"}, "never": {"NO_COLOR": "1", "FORCE_COLOR": None}}
    wanted = changed.get(when or "auto", {})
    before = {name: os.environ.get(name) for name in wanted}
    _set(wanted)
    try:
        yield
    finally:
        _set(before)


def _set(variables: dict[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@contextlib.contextmanager
def stdout_in(path: Path, *, force: bool) -> Iterator[None]:
    """Write what is printed to a new file, which appears when all is printed.

    Raises HettopError (`io`) when the file exists and is not to be replaced, or cannot be written.
    """
    from hettop.record.disk import NewFile  # with the codec, which help does without

    _check_replaceable(path)
    with NewFile(path, force=force, beginnings=(b"",), private=False) as made:
        text = io.TextIOWrapper(made.file, encoding="utf-8", write_through=True)
        try:
            with contextlib.redirect_stdout(text):
                yield
            text.flush()
        finally:
            text.detach()


def _check_replaceable(path: Path) -> None:
    """Raises HettopError (`io`) if the file is a recording or not text: a mistyped name must not cost a model."""
    try:
        if not path.is_file():
            return
        with path.open("rb") as file:
            head = file.read(CHECKED_BYTES)
    except OSError:
        return  # reported when it is written
    if head.startswith(RECORDING_BEGINNING) or any(byte < 32 and byte not in b"\t\n\r" for byte in head):
        raise HettopError(
            "io", f"not replaced, because it is not a result: {clean(os.fspath(path))}", "name another file"
        )
