"""The command line: finds the command, runs it, and turns errors into a few lines and an exit code.

Imports a command's module only when it is called for.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
from types import FrameType

from hettop.errors import HettopError
from hettop.exits import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_WRONG_USE, exit_code_of
from hettop.text import clean
from hettop.version import __version__

DEBUG_VARIABLE = "HETTOP_DEBUG"

COMMANDS = {
    "bench": "measure without a screen and print the statistics",
    "coexec": "let several units serve one stream of inputs, and tell what that gains",
    "compare": "tell whether one recording is slower than another, with intervals",
    "completions": "print what a shell needs to complete commands and options",
    "config": "tell which settings are in force, and where each came from",
    "decide": "say which unit to use, with the evidence, by a recording or a model",
    "doctor": "tell what works on this machine, what does not, and what mends it",
    "export": "write a recording as CSV, Parquet, a trace, a page, a picture, or compressed",
    "help": "explain a topic, or print a command's own help",
    "inspect": "tell what a model holds and what one call of it costs",
    "layers": "measure each layer of a model, and tell what limits it",
    "pareto": "tell which models, variants and units nothing else beats",
    "plan": "cut a model into slices for several devices, by a table of costs",
    "power": "tell power as it is drawn, or the samples in a capture of powermetrics or macmon",
    "repair": "mend a damaged recording into a new file",
    "replay": "play a recording in the same screen, or print its statistics",
    "report": "tell the story of recordings, as Markdown or as a page",
    "roofline": "measure what this machine can do, and how near to it each layer comes",
    "sweep": "measure over batches, image sizes or competing loads",
    "variants": "write a model in other precisions, and measure how fast and how far off they are",
    "verify": "check whether a recording is whole",
}

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
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup leaves it
            signal.signal(number, _terminate)
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
    if argv in (["--version"], ["-V"]):
        sys.stdout.write(f"hettop {__version__}\n")
        return 0
    if argv and argv[0] in ("--help", "-h"):
        sys.stdout.write(help_page())
        return 0
    name, rest = (argv[0], argv[1:]) if argv and argv[0] in COMMANDS else ("live", argv)
    try:
        return int(importlib.import_module(f"hettop.cli.{name}").run(rest))
    except SystemExit as stop:  # argparse leaves this way after --help
        return stop.code if isinstance(stop.code, int) else EXIT_WRONG_USE


def help_page() -> str:
    """What `hettop --help` prints."""
    from hettop.cli.live import make_live_parser

    commands = "\n".join(f"  {name:<11} {summary}" for name, summary in COMMANDS.items())
    _, heading, options = make_live_parser().format_help().partition("positional arguments:")
    return _HELP.format(commands=commands, options=heading + options)


def _with_commands(error: HettopError, argv: list[str]) -> HettopError:
    """A mistyped command is taken for a model's name: the error should say which commands there are."""
    if error.kind not in ("missing", "usage") or not argv or not argv[0].isalpha() or argv[0] in COMMANDS:
        return error
    import difflib

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


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    """SIGTERM and SIGHUP unwind like an interrupt, so that files are closed and children ended."""
    raise KeyboardInterrupt
