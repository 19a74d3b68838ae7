"""Messages on stderr: errors, warnings, notes and details, as `-q` and `-v` select."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from hettop.text import clean

if TYPE_CHECKING:
    from pathlib import Path

    from hettop.record.defects import Report

QUIET: Final = -1
"""Errors only."""
NORMAL: Final = 0
VERBOSE: Final = 1
"""Details too."""

LONGEST = 400

_level: ContextVar[int] = ContextVar("level", default=NORMAL)


@contextlib.contextmanager
def verbosity(level: int) -> Iterator[None]:
    """Print messages of this level and below within the context."""
    token = _level.set(level)
    try:
        yield
    finally:
        _level.reset(token)


@contextlib.contextmanager
def shown_while_slow(text: str, after_s: float = 1.0) -> Iterator[None]:
    """Show `text` on stderr once the context has lasted `after_s`, and remove it at the end. Only on a terminal."""
    shows = not is_quiet() and sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    shown = threading.Event()

    def show() -> None:
        shown.set()
        sys.stderr.write(f"{text} …")
        sys.stderr.flush()

    timer = threading.Timer(after_s, show)
    timer.daemon = True  # a process that is ended does not wait for it
    if shows:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if shows:
            timer.join()
        if shown.is_set():
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def is_quiet() -> bool:
    """Whether only errors are printed: no progress either."""
    return _level.get() <= QUIET


def is_verbose() -> bool:
    return _level.get() >= VERBOSE


def print_error(message: str, hint: str = "") -> None:
    """Print `error: MESSAGE`, and `hint: HINT` in the next line if there is one."""
    _print(f"error: {clean(message, LONGEST)}", hint)


def print_warning(message: str, hint: str = "") -> None:
    """Print `warning: MESSAGE`, and `hint: HINT` in the next line if there is one; nothing when quiet."""
    if not is_quiet():
        _print(f"warning: {clean(message, LONGEST)}", hint)


def print_note(message: str) -> None:
    """Print what was done, such as which file was written; nothing when quiet."""
    if not is_quiet():
        _print(clean(message, LONGEST))


def print_detail(message: str) -> None:
    """Print what only `-v` asks for."""
    if is_verbose():
        _print(clean(message, LONGEST))


def _print(line: str, hint: str = "") -> None:
    with contextlib.suppress(OSError):  # a terminal that is gone
        sys.stderr.write(f"{line}\n" + (f"hint: {clean(hint, LONGEST)}\n" if hint else ""))
        sys.stderr.flush()


def warn_of_damage(report: Report, path: Path) -> None:
    """Print what was damaged in the recording that a result was read from; the result is printed all the same."""
    for words in report.warnings():
        print_warning(f"{clean(os.fspath(path))}: {words}", f"run hettop verify {clean(os.fspath(path))}")
