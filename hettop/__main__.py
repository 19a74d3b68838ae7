"""The `hettop` program: makes sure of streams to print to, and of a size that is one, and runs the command line."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import MutableMapping

from hettop.version import __version__

NARROWEST, WIDEST = 20, 1000
"""Columns: fewer hold no sentence, more are no screen; a screen of a million is only memory."""
LOWEST, HIGHEST = 5, 1000


def main(argv: list[str] | None = None) -> int:
    """Run hettop with these arguments (default: the process's own) and return its exit code."""
    try:
        return _run(sys.argv[1:] if argv is None else argv)
    except KeyboardInterrupt:  # while the commands are imported; later, they handle it
        from hettop.exits import EXIT_INTERRUPTED

        return EXIT_INTERRUPTED


def _run(arguments: list[str]) -> int:
    _replace_closed_streams()
    _print_anything()
    forget_odd_sizes(os.environ)
    if arguments in (["--version"], ["-V"]):  # before the commands' options are imported
        sys.stdout.write(f"hettop {__version__}\n")
        code = 0
    else:
        from hettop.cli.main import run

        code = run(arguments)
    _flush_or_discard()
    return code


def _replace_closed_streams() -> None:
    """Let what is printed to a descriptor that the caller closed go nowhere, rather than into the next file opened."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number: this one
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 - a descriptor, for as long as the process lives
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115


def forget_odd_sizes(environ: MutableMapping[str, str]) -> None:
    """Keep `COLUMNS` and `LINES` only where they name a size; else the terminal is asked, as if unset."""
    for name, least, most in (("COLUMNS", NARROWEST, WIDEST), ("LINES", LOWEST, HIGHEST)):
        text = environ.get(name, "").strip()
        if not (text.isascii() and text.isdecimal() and len(text) <= len(str(most)) and least <= int(text) <= most):
            environ.pop(name, None)


def _flush_or_discard() -> None:
    """Print what is left; where that fails, let it go nowhere: Python would make exit code 120 of it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _print_anything() -> None:
    """Let what the terminal's encoding lacks be printed as `?`: a result must not be lost to a dash."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


if __name__ == "__main__":
    sys.exit(main())
