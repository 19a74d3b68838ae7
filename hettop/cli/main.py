"""The command line: finds the command, runs it, and turns errors into a few lines and an exit code."""

from __future__ import annotations

import contextlib
import os
import sys

from hettop.cli.commands import COMMANDS, LIVE, parser_of, run_command
from hettop.console.signals import unwind_on_stop_signals
from hettop.errors import HettopError
from hettop.exits import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_WRONG_USE, exit_code_of
from hettop.text import clean

DEBUG_VARIABLE = "HETTOP_DEBUG"

_HELP = """\
hettop: watch the latency of a model live, on every compute unit, and decide by the whole distribution

examples:
  hettop                          the live view, on MobileNetV2 with seeded weights
  hettop model.onnx --unit CPU_ONLY@2
  hettop --demo                   a simulated Apple M2 (marked SIMULATED)
  hettop bench model.onnx --runs 200 --json
  hettop replay session.jsonl

commands:
{commands}
  (none)      the live view, with the options below

{options}
`hettop COMMAND --help` tells a command's own options, `hettop help` lists topics that it explains;
`hettop --version` tells the version.
"""


def run(argv: list[str]) -> int:
    """Run the command line and return its exit code."""
    unwind_on_stop_signals()
    try:
        code = _dispatch(argv)
        sys.stdout.flush()  # here, where a failure can still be told
    except HettopError as error:
        _complain(_with_commands(error, argv))
        return exit_code_of(error.kind)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _discard_output()  # whoever read it has enough
        return 0
    except OSError as error:
        _discard_output()
        _complain(HettopError("io", f"the system refused: {error.strerror or error}"))
        return EXIT_FAILED
    except Exception as error:
        # A page of traceback and Python's exit 1 would pass for a failed threshold.
        if os.environ.get(DEBUG_VARIABLE):
            raise
        _complain(_unexpected(error))
        return EXIT_FAILED
    return code


def _dispatch(argv: list[str]) -> int:
    if argv and argv[0] in ("--help", "-h"):
        sys.stdout.write(help_page())
        return 0
    name, rest = (argv[0], argv[1:]) if argv and argv[0] in COMMANDS else (LIVE, argv)
    try:
        return run_command(name, rest)
    except SystemExit as stop:  # argparse leaves this way after --help
        return stop.code if isinstance(stop.code, int) else EXIT_WRONG_USE


def help_page() -> str:
    """What `hettop --help` prints."""
    commands = "\n".join(f"  {name:<11} {command.summary}" for name, command in COMMANDS.items())
    _, heading, options = parser_of(LIVE).format_help().partition("positional arguments:")
    return _HELP.format(commands=commands, options=heading + options)


def _with_commands(error: HettopError, argv: list[str]) -> HettopError:
    """A mistyped command is taken for a model's name: the error should say which commands there are."""
    if error.kind not in ("missing", "usage") or not argv or not argv[0].isalpha() or argv[0] in COMMANDS:
        return error
    import difflib  # only after a mistake

    near = difflib.get_close_matches(argv[0], COMMANDS, n=1)
    if near:
        return HettopError(error.kind, error.message, f"did you mean: hettop {near[0]}")
    return HettopError(error.kind, error.message, f"{error.hint}; or one of the commands {', '.join(COMMANDS)}")


def _unexpected(error: Exception) -> HettopError:
    """A fault of hettop's own, in words: whoever meets it should report it."""
    hint = f"this is a fault in hettop: please report it with what {DEBUG_VARIABLE}=1 prints"
    return HettopError("internal", f"{type(error).__name__}: {error}", hint)


def _complain(error: HettopError) -> None:
    with contextlib.suppress(OSError):  # a terminal that is gone
        sys.stderr.write(f"hettop: {clean(error.message, 400)}\n")
        if error.hint:
            sys.stderr.write(f"  {clean(error.hint, 400)}\n")


def _discard_output() -> None:
    """Keep Python from failing once more on the same output while it shuts down."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
