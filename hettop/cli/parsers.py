"""The parsers of all commands, for what is generated from them: completions, the manual page, checks of the docs.

Knows that each command's module has `_parser`; imports them all, but none of what they run.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator
from dataclasses import dataclass

from hettop.cli.main import COMMANDS

LIVE = ""
"""The name of the live view, which has no command."""


@dataclass(frozen=True, slots=True)
class Option:
    """What a parser takes: `flags` are empty for a positional argument; `takes` is the placeholder of a value.

    choices: all that may stand there, where they are known. repeated: whether it may be given again.
    """

    flags: tuple[str, ...]
    takes: str
    words: str
    choices: tuple[str, ...] = ()
    repeated: bool = False


def parser_of(command: str) -> argparse.ArgumentParser:
    """The parser of one command; of the live view by the empty name."""
    if command == LIVE:
        from hettop.cli.live import make_live_parser

        return make_live_parser()
    found: argparse.ArgumentParser = importlib.import_module(f"hettop.cli.{command}")._parser()
    return found


def options_of(command: str) -> list[Option]:
    """All that it takes, `--help` included, in the order of its own help."""
    return [_option(action) for action in parser_of(command)._actions if action.help is not argparse.SUPPRESS]


def all_options() -> Iterator[tuple[str, list[Option]]]:
    """Every command with what it takes, the live view first."""
    for command in (LIVE, *COMMANDS):
        yield command, options_of(command)


def _option(action: argparse.Action) -> Option:
    takes = ""
    if action.nargs != 0:
        metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
        takes = "" if action.choices and not action.metavar else metavar
    return Option(
        flags=tuple(action.option_strings),
        takes=takes,
        words=(action.help or "").replace("%%", "%"),
        choices=tuple(map(str, action.choices or ())),
        repeated=type(action).__name__ == "_AppendAction" or action.nargs in ("*", "+"),
    )
