"""The command line: finds the command, runs it, and turns errors into a few lines and an exit code."""

from __future__ import annotations

import os
import sys

from hettop.cli.commands import COMMANDS, GENERAL_FLAGS, LIVE, command_list, parser_of, run_command
from hettop.console.messages import print_error
from hettop.console.signals import unwind_on_stop_signals
from hettop.errors import HettopError
from hettop.exits import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_WRONG_USE, exit_code_of
from hettop.text import clean, nearest

DEBUG_VARIABLE = "HETTOP_DEBUG"

_EXAMPLES = """\
  hettop                          the live view, on MobileNetV2 with seeded weights
  hettop model.onnx --units cpu   the live view of a model
  hettop --demo                   a simulated Apple M2, marked SIMULATED
  hettop bench model.onnx -n 200 -o result.json
  hettop replay session.jsonl"""

_SUMMARY = "hettop: live latency, power and compute-unit profiler for Core ML and ONNX models"
_MORE = "hettop COMMAND --help shows a command's options, hettop help lists topics."


def run(argv: list[str]) -> int:
    """Run the command line and return its exit code."""
    unwind_on_stop_signals()
    try:
        code = _dispatch(argv)
        sys.stdout.flush()  # here, where a failure can still be reported
    except HettopError as error:
        error = _with_commands(error, argv)
        print_error(error.message, error.hint)
        return exit_code_of(error.kind)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _discard_output()  # the reader has enough
        return 0
    except OSError as error:
        _discard_output()
        print_error(f"input or output failed: {error.strerror or error}")
        return EXIT_FAILED
    except Exception as error:
        # A traceback and Python's exit code 1 would look like a threshold that is not met.
        if os.environ.get(DEBUG_VARIABLE):
            raise
        attached = _saved_report(error) or f"the output of {DEBUG_VARIABLE}=1"
        print_error(
            f"internal error: {type(error).__name__}: {error}", f"this is a bug in hettop: report it with {attached}"
        )
        return EXIT_FAILED
    return code


def _saved_report(error: Exception) -> str:
    """Write the traceback to a file of the user's, the last one only; returns its path, or nothing without a file."""
    import platform
    import traceback

    from hettop import __version__
    from hettop.measurement.user_files import user_places, write_atomically

    path = user_places().internal_error
    if path is None:
        return ""
    about = f"hettop {__version__}, Python {platform.python_version()}, {platform.platform()}"
    try:
        write_atomically(path, f"{about}\n\n{''.join(traceback.format_exception(error))}")
    except OSError:
        return ""
    return clean(str(path), 200)


def _dispatch(argv: list[str]) -> int:
    if argv and argv[0] in ("--help", "-h"):
        sys.stdout.write(help_page(short=argv[0] == "-h"))
        return 0
    name, rest = command_in(argv)
    try:
        return run_command(name, rest)
    except SystemExit as stop:  # argparse leaves this way after --help
        return stop.code if isinstance(stop.code, int) else EXIT_WRONG_USE


def command_in(argv: list[str]) -> tuple[str, list[str]]:
    """The name of the command and its arguments; options of every command may stand before the name."""
    place = 0
    while place < len(argv) and argv[place].partition("=")[0] in GENERAL_FLAGS:
        place += 2 if argv[place] == "--color" else 1
    if place < len(argv) and argv[place] in COMMANDS:
        return argv[place], [*argv[:place], *argv[place + 1 :]]
    return LIVE, argv


def help_page(*, short: bool = False) -> str:
    """What `hettop --help` prints; `short`: without the options of the live view."""
    parts = [_SUMMARY, "usage: hettop [MODEL] [options]\n       hettop COMMAND [options]", f"examples:\n{_EXAMPLES}"]
    parts.append(command_list().rstrip("\n"))
    if not short:
        parser = parser_of(LIVE)
        parser.description = parser.epilog = None
        parts.append(
            "live view:\n  options of hettop [MODEL]\n\n" + parser.format_help().partition("\n\n")[2].rstrip("\n")
        )
    parts.append(_MORE if not short else f"hettop --help shows the options of the live view too.\n{_MORE}")
    return "\n\n".join(parts) + "\n"


def _with_commands(error: HettopError, argv: list[str]) -> HettopError:
    """The error, with a command that may be meant: a mistyped command is read as the name of a model."""
    late = next((word for word in argv[1:] if word in COMMANDS), None)
    if error.kind == "missing" and argv[0].startswith("-") and late is not None:
        return HettopError(error.kind, error.message, f"put the command first: hettop {late} …")
    if error.kind not in ("missing", "usage") or not argv or not argv[0].isalpha() or argv[0] in COMMANDS:
        return error
    near = nearest(argv[0], COMMANDS)
    if near:
        return HettopError(
            error.kind, f"unknown command or model: {argv[0]!r}", f"{near} hettop help lists all commands"
        )
    hint = "; ".join(filter(None, (error.hint, "hettop help lists all commands")))
    return HettopError(error.kind, error.message, hint)


def _discard_output() -> None:
    """Keep Python from failing once more on the same output while it shuts down."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
