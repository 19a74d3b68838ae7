"""The options of `hettop coexec`.

Light to import: help and completions read the options of all commands.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from hettop.measurement.arguments import (
    add_model_options,
    add_result_options,
    describe,
    duration_ns,
    not_negative,
    positive,
)
from hettop.measurement.options import DEFAULT_WARMUP

COEXEC_DEPTH = 64  # named here and not imported: --help must not wait for msgspec

MOST_DEPTH = 1_000_000


def _depth(text: str) -> int:
    found = positive(text)
    if found > MOST_DEPTH:
        raise argparse.ArgumentTypeError(f"{text!r} is more than {MOST_DEPTH} numbers")
    return found


_EXAMPLES = """\
  hettop coexec model.onnx --units CPU_ONLY@1,CPU_ONLY@2
  hettop coexec Model.mlpackage --units CPU_AND_GPU,CPU_AND_NE --duration 20s --power powermetrics
  hettop coexec Model.mlpackage --units CPU_AND_NE,CPU_AND_NE  two calls of one unit in flight
  hettop coexec --backend simulated --units CPU_ONLY,CPU_AND_GPU,CPU_AND_NE --json
  hettop coexec model.onnx --live                              on the screen, round by round, until you end it
  hettop coexec model.onnx --until-ended --stream | jq .       the same for a program
  hettop coexec model.onnx --granularities --loads none,cpu:1,cpu:2"""

_NOTES = """\
A unit is a process that takes the next number of the stream, or steals one that another has not begun; numbers travel,
inputs do not: each process makes the same ones from the seed. A buffer restores the order. Each unit alone and all
together are measured in turns, in blocks with rests between them, through the same dispatch. Alone and together are
inferences a second; the latency is from handing a number out to its leaving in order. A unit that dies has its work
done by the others. A unit that is named twice is two processes: two of its calls in flight, one of them measured alone.
Energy needs --power, and then blocks of 2 s. --until-ended goes on until Ctrl-C, SIGTERM, or the end of standard input
where that is a pipe; then it prints what was measured, exit code 0. --stream prints all that is known after each round,
--live opens the live view with it running: there Enter ends it, and starts it again (y from the panels leads to it).
--granularities compares ways to run one model in parallel on the threads of one processor: each operator on all of
them, operators side by side, slices as a pipeline, inputs side by side. See docs/method/coexec.md. Exit codes:
0 measured, 2 wrong use, 3 nothing was measured (ended while it loads, too), 130 interrupted (what was measured is
printed)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser,
        "Let several units serve one stream of inputs, results in order, and tell what that gains over the best alone.",
        _EXAMPLES,
        _NOTES,
    )
    add_model_options(parser)
    parser.add_argument(
        "--units",
        metavar="A,B",
        help="two units or more, or one twice (one for each kind of processor, or two numbers of threads)",
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--duration", type=duration_ns, default=duration_ns("6s"), metavar="T", help="of all blocks and rests (6s)"
    )
    length.add_argument(
        "--until-ended", action="store_const", const=True, help="until Ctrl-C, SIGTERM, or the end of a piped input"
    )
    length.add_argument(
        "--live", action="store_const", const=True, help="open the live view with it running, until you end it there"
    )
    parser.add_argument("--warmup", type=not_negative, default=DEFAULT_WARMUP, metavar="N", help="calls before (10)")
    parser.add_argument(
        "--depth", type=_depth, metavar="N", help=f"numbers that the reorder buffer spans ({COEXEC_DEPTH})"
    )
    parser.add_argument("--block", type=duration_ns, metavar="T", help="shortest block (250ms; 2s with --power)")
    parser.add_argument("--power", metavar="SRC", help="measure energy with this source of power (none)")
    parser.add_argument(
        "--granularities",
        action="store_true",
        help="compare instead: parallel within operators, between them, by slices, by inputs (ONNX Runtime)",
    )
    parser.add_argument("--threads", type=positive, metavar="N", help="of --granularities (one for each core)")
    parser.add_argument("--loads", metavar="L,M", help="competing loads for --granularities, one after another (none)")
    add_result_options(parser)


FEWEST_UNITS = 2
THREADS = "@"  # what a unit of a stated number of threads has in its name


def usual_units(available: Sequence[str]) -> tuple[str, ...]:
    """Units that compete least: one for each kind of processor, or two numbers of threads where there is only one."""
    kinds = [unit for unit in available if THREADS not in unit and unit != "ALL"]
    threaded = [unit for unit in available if THREADS in unit]
    return tuple(kinds if len(kinds) >= FEWEST_UNITS else [*threaded, *kinds][:FEWEST_UNITS])
