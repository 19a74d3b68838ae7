"""The table of commands: name, summary, options, and the module that runs each.

Light to import: a command's module is imported only when it is run.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

from hettop.cli import measure_options, read_options
from hettop.errors import HettopError
from hettop.measurement.arguments import GENERAL_GROUP, MODEL_GROUP, choose_format, group_of
from hettop.studies.registry import STUDIES, StudyKind
from hettop.text import nearest


@dataclass(frozen=True, slots=True)
class Command:
    """One command. `runner`: the function that is called with the arguments and returns the exit code, by its place."""

    summary: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    runner: str


LIVE = ""
"""The name of the live view, which has no command."""

LIVE_TOPIC = "live"
"""What `hettop help` calls it."""

LIVE_VIEW = Command("Show a model live", measure_options.add_live_arguments, "hettop.cli.live:run")


def _of_study(kind: StudyKind) -> Command:
    runner = RUNNERS.get(kind.name, f"hettop.studies.{kind.name}.command:run")
    return Command(kind.summary, kind.add_arguments, runner)


_OWN = {
    "bench": Command("Benchmark a model without the UI", measure_options.add_bench_arguments, "hettop.cli.bench:run"),
    "compare": Command(
        "Compare recordings and detect regressions", read_options.add_compare_arguments, "hettop.cli.compare:run"
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
    "models": Command(
        "List the networks that can be measured by name", read_options.add_models_arguments, "hettop.cli.models:run"
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
    "version": Command("Show the version", read_options.add_version_arguments, "hettop.cli.help:run_version"),
}

RUNNERS = {"coexec": "hettop.cli.live:run_coexec"}
"""Of studies that are called in another way than by their own module's `run`."""

COMMANDS: Mapping[str, Command] = dict(
    sorted({**_OWN, **{kind.name: _of_study(kind) for kind in STUDIES.values() if kind.summary}}.items())
)

COMMAND_GROUPS: Mapping[str, tuple[str, ...]] = {
    "measure": ("bench", "sweep", "cold", "embench", "coexec", "variants", "power"),
    "decide and compare": ("decide", "compare", "pareto"),
    "recordings": ("replay", "report", "export", "verify", "repair"),
    "inside the model": ("models", "inspect", "layers", "roofline", "predict", "plan"),
    "this machine": ("doctor", "config", "completions", "help", "version"),
}
"""Every command once, in the order in which help shows them."""


def command_list() -> str:
    """The commands in their groups, a line each."""
    groups = []
    for title, names in COMMAND_GROUPS.items():
        lines = [f"  {name:<12} {COMMANDS[name].summary}\n" for name in names]
        groups.append(f"{title}:\n{''.join(lines)}")
    return "\n".join(groups)


COLORS = ("auto", "always", "never")
GENERAL_FLAGS = ("-q", "--quiet", "-v", "--verbose", "--color", "--no-color")
"""Options of every command; they may stand before its name too."""

SYNONYMS = {
    "--time": ("--duration", "--time-limit"),
    "--iterations": ("--runs",),
    "--count": ("--runs",),
    "--budget": ("--assert",),
    "--out": ("--output",),
    "--fps": ("--rate",),
}
"""What people call an option, and what hettop calls it: the first that the command has."""

_LONG_GROUPS = (MODEL_GROUP, GENERAL_GROUP)
_ARGUMENT = re.compile(r"argument (?P<flags>[^:]+): (?P<words>.*)", re.S)
_CHOICE = re.compile(r"invalid choice: (?P<value>.+) \(choose from (?P<choices>.*)\)", re.S)
_EXCLUDED = re.compile(r"not allowed with argument (?P<other>.*)")


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are a message and a hint instead of a page of usage."""

    def error(self, message: str) -> NoReturn:
        raise HettopError("usage", *self._reworded(message))

    def _reworded(self, message: str) -> tuple[str, str]:
        """The message of argparse as `what is wrong: value`, and the hint."""
        see = f"see {self.prog} --help"
        start, _, words = message.partition(": ")
        if start == "unrecognized arguments":
            return self._unknown(words, see)
        if start == "the following arguments are required":
            return f"missing argument: {words}", see
        found = _ARGUMENT.fullmatch(message)
        return (message, see) if found is None else self._invalid(found, see)

    def _unknown(self, words: str, see: str) -> tuple[str, str]:
        word = words.split(maxsplit=1)[0] if words.split() else words
        if not word.startswith("-"):
            return f"unexpected argument: {words}", see
        flag, flags = word.partition("=")[0], self._flags()
        if flag == "--html":
            return f"unknown option: {word}", "record it, then run hettop report RECORDING -o x.html"
        meant = next((each for each in SYNONYMS.get(flag, ()) if each.split()[0] in flags), None)
        near = nearest(flag, flags) if meant is None else f"did you mean {meant!r}?"
        return f"unknown option: {word}", f"{near} ({see})" if near else see

    def _invalid(self, found: re.Match[str], see: str) -> tuple[str, str]:
        flag, words = found["flags"].rpartition("/")[2], found["words"]
        if choice := _CHOICE.fullmatch(words):
            known = [each.strip("'\" ") for each in choice["choices"].split(",")]
            near = nearest(choice["value"].strip("'"), known)
            choices = f"choose from {', '.join(known)}"
            return f"invalid value of {flag}: {choice['value']}", f"{near} {choices}" if near else choices
        if excluded := _EXCLUDED.fullmatch(words):
            return f"options exclude each other: {flag}, {excluded['other'].rpartition('/')[2]}", "use one of them"
        wrong, semicolon, hint = words.rpartition("; ")
        return (f"{flag}: {wrong}", hint) if semicolon else (f"{flag}: {words}", see)

    def _flags(self) -> list[str]:
        shown = [action for action in self._actions if action.help is not argparse.SUPPRESS]
        return [flag for action in shown for flag in action.option_strings if flag.startswith("--")]


class _ShortHelp(argparse.Action):
    """Prints the help without notes, model options and general options."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        parser.epilog = f"{parser.prog} --help shows all options and notes."
        parser._action_groups = [group for group in parser._action_groups if group.title not in _LONG_GROUPS]
        parser.print_help()
        parser.exit()


def command_of(name: str) -> Command:
    """The command of this name; the live view by the empty name."""
    return LIVE_VIEW if name == LIVE else COMMANDS[name]


def parser_of(name: str) -> Parser:
    """The parser of one command; of the live view by the empty name."""
    parser = Parser(
        prog=f"hettop {name}".strip(),
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, max_help_position=30),
        allow_abbrev=False,
        add_help=False,
    )
    command_of(name).add_arguments(parser)
    _add_general_options(parser)
    places = [action for action in parser._actions if not action.option_strings]
    parser.usage = " ".join([parser.prog, *map(_place, places), "[options]"])
    return parser


def _place(action: argparse.Action) -> str:
    name = action.metavar if isinstance(action.metavar, str) else "|".join(map(str, action.choices or [action.dest]))
    return f"{name} ..." if action.nargs == "+" else f"[{name}]" if action.nargs == "?" else name


def _add_general_options(parser: argparse.ArgumentParser) -> None:
    group = group_of(parser, GENERAL_GROUP)
    level = group.add_mutually_exclusive_group()
    level.add_argument("-q", "--quiet", action="store_true", help="print results and errors only")
    level.add_argument("-v", "--verbose", action="store_true", help="print details on stderr")
    color = group.add_mutually_exclusive_group()
    color.add_argument("--color", choices=COLORS, metavar="WHEN", help="auto (default), always or never")
    color.add_argument(
        "--no-color", dest="color", action="store_const", const="never", help="same as --color never, or NO_COLOR=1"
    )
    group.add_argument("-h", action=_ShortHelp, nargs=0, help="show a short help")
    group.add_argument("--help", action="help", help="show this help")


def parse(name: str, argv: Sequence[str]) -> argparse.Namespace:
    """The arguments of one command.

    `command` in it is the command line as it was written, `given` has the options in it, by their destination.
    """
    written = [*filter(None, [name]), *argv]
    arguments = parser_of(name).parse_args(argv, argparse.Namespace(command=written))
    arguments.given = _given(name, argv)
    if hasattr(arguments, "formats"):
        choose_format(arguments)
    return arguments


def _given(name: str, argv: Sequence[str]) -> dict[str, str]:
    """The options on the command line: destination to the flag that help shows."""
    parser = parser_of(name)
    flags: dict[str, str] = {}
    for action in parser._actions:
        if action.help is not argparse.SUPPRESS and action.option_strings:
            flags.setdefault(action.dest, action.option_strings[-1])
        action.default = argparse.SUPPRESS
    parser._defaults.clear()
    found = vars(parser.parse_args(argv))
    return {name: flag for name, flag in flags.items() if name in found}


def refuse(arguments: argparse.Namespace, names: Sequence[str], why: str, hint: str = "") -> None:
    """Raises HettopError (`usage`) if one of these options is on the command line: it would have no effect."""
    for name in names:
        if name in arguments.given:
            flag = arguments.given[name]
            raise HettopError("usage", f"{flag} has no effect {why}", hint or f"leave out {flag}")


def run_command(name: str, argv: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    from hettop.cli.output import run_with_options

    arguments = parse(name, argv)
    try:
        return run_with_options(partial(_import_and_run, command_of(name).runner), arguments)
    except HettopError as error:
        if getattr(arguments, "stream", False):
            print_failure_line(error)
        raise


def _import_and_run(runner: str, arguments: argparse.Namespace) -> int:
    from hettop.console.messages import shown_while_slow

    module, _, function = runner.partition(":")
    with shown_while_slow("loading libraries, which takes longer on the first run"):
        run = getattr(importlib.import_module(module), function)
    code: int = run(arguments)
    return code


def print_failure_line(error: HettopError) -> None:
    """Print the error as the last line of `--stream`."""
    from hettop.console.progress import ProgressJson

    ProgressJson(sys.stdout).failed(error)


@dataclass(frozen=True, slots=True)
class Option:
    """An argument or option of a parser. `flags`: empty for a positional argument; `takes`: placeholder of a value.

    choices: all values, where they are known. repeated: whether it may be given again.
    """

    flags: tuple[str, ...]
    takes: str
    words: str
    choices: tuple[str, ...] = ()
    repeated: bool = False


def options_of(name: str) -> list[Option]:
    """All arguments and options of a command, `--help` included, in the order of its help."""
    return [_option(action) for action in parser_of(name)._actions if action.help is not argparse.SUPPRESS]


def all_options() -> Iterator[tuple[str, list[Option]]]:
    """Every command with its options, the live view first."""
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
