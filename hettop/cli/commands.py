"""The table of commands: name, summary, options, and the module that runs each.

Light to import: a command's module is imported only when it is run.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from hettop.cli import measure_options, read_options
from hettop.errors import HettopError
from hettop.studies.registry import STUDIES, StudyKind


@dataclass(frozen=True, slots=True)
class Command:
    """One command. `runner`: the function that is called with the arguments and returns the exit code, by its place."""

    summary: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    runner: str


LIVE = ""
"""The name of the live view, which has no command."""

LIVE_VIEW = Command("Watch a model live", measure_options.add_live_arguments, "hettop.cli.live:run")


def _of_study(kind: StudyKind) -> Command:
    runner = RUNNERS.get(kind.name, f"hettop.studies.{kind.name}.command:run")
    return Command(kind.summary, kind.add_arguments, runner)


_OWN = {
    "bench": Command("Benchmark a model without the UI", measure_options.add_bench_arguments, "hettop.cli.bench:run"),
    "compare": Command(
        "Compare two recordings and detect regressions", read_options.add_compare_arguments, "hettop.cli.compare:run"
    ),
    "completions": Command(
        "Generate shell completions", read_options.add_completions_arguments, "hettop.cli.completions:run"
    ),
    "config": Command(
        "Show effective settings and where each comes from", read_options.add_config_arguments, "hettop.cli.config:run"
    ),
    "decide": Command(
        "Recommend a compute unit, with evidence", measure_options.add_decide_arguments, "hettop.cli.decide:run"
    ),
    "doctor": Command(
        "Check this machine and suggest fixes", read_options.add_doctor_arguments, "hettop.cli.doctor:run"
    ),
    "export": Command(
        "Convert a recording (CSV, Parquet, Perfetto, …)", read_options.add_export_arguments, "hettop.cli.export:run"
    ),
    "help": Command(
        "Explain a topic, or show a command's help", read_options.add_help_arguments, "hettop.cli.help:run"
    ),
    "inspect": Command(
        "Show a model's operations, parameters, MACs and precision",
        read_options.add_inspect_arguments,
        "hettop.cli.inspect:run",
    ),
    "pareto": Command(
        "Show the Pareto front of models, variants and units",
        read_options.add_pareto_arguments,
        "hettop.cli.pareto:run",
    ),
    "power": Command(
        "Show live power draw, or parse a capture", measure_options.add_power_arguments, "hettop.cli.power:run"
    ),
    "repair": Command("Repair a damaged recording", read_options.add_repair_arguments, "hettop.cli.verify:run_repair"),
    "replay": Command(
        "Replay a recording in the UI, or print its statistics",
        read_options.add_replay_arguments,
        "hettop.cli.replay:run",
    ),
    "report": Command(
        "Generate an HTML or Markdown report", read_options.add_report_arguments, "hettop.cli.report:run"
    ),
    "verify": Command("Validate a recording", read_options.add_verify_arguments, "hettop.cli.verify:run"),
}

RUNNERS = {"coexec": "hettop.cli.live:run_coexec"}
"""Of studies that are called in another way than by their own module's `run`."""

COMMANDS: Mapping[str, Command] = dict(
    sorted({**_OWN, **{kind.name: _of_study(kind) for kind in STUDIES.values() if kind.summary}}.items())
)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors fit in two lines instead of a page of usage."""

    def error(self, message: str) -> NoReturn:
        raise HettopError("usage", message, f"see {self.prog} --help")


def command_of(name: str) -> Command:
    """The command of this name; the live view by the empty name."""
    return LIVE_VIEW if name == LIVE else COMMANDS[name]


def parser_of(name: str) -> Parser:
    """The parser of one command; of the live view by the empty name."""
    parser = Parser(
        prog=f"hettop {name}".strip(), formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    command_of(name).add_arguments(parser)
    return parser


def parse(name: str, argv: Sequence[str]) -> argparse.Namespace:
    """The arguments of one command; `command` in it is the command line as it was written."""
    written = [*filter(None, [name]), *argv]
    return parser_of(name).parse_args(argv, argparse.Namespace(command=written))


def run_command(name: str, argv: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    arguments = parse(name, argv)
    try:
        module, _, function = command_of(name).runner.partition(":")
        return int(getattr(importlib.import_module(module), function)(arguments))
    except HettopError as error:
        if getattr(arguments, "stream", False):
            tell_failure(error)
        raise


def tell_failure(error: HettopError) -> None:
    """The last line of `--stream`, for a program that follows."""
    from hettop.console.progress import ProgressJson

    ProgressJson(sys.stdout).failed(error)


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


def options_of(name: str) -> list[Option]:
    """All that it takes, `--help` included, in the order of its own help."""
    return [_option(action) for action in parser_of(name)._actions if action.help is not argparse.SUPPRESS]


def all_options() -> Iterator[tuple[str, list[Option]]]:
    """Every command with what it takes, the live view first."""
    for name in (LIVE, *COMMANDS):
        yield name, options_of(name)


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
