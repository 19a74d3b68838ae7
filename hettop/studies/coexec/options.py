"""The options of `hettop coexec`.

Light to import: help and completions read the options of all commands.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from hettop.measurement.arguments import (
    MEASURE_GROUP,
    add_model_options,
    add_power_option,
    add_result_options,
    add_strict_option,
    add_units_option,
    add_warmup_option,
    describe,
    duration_ns,
    group_of,
    invalid,
    positive,
)
from hettop.measurement.options import DEFAULT_WARMUP

COEXEC_DEPTH = 64  # not imported: --help must not wait for msgspec

MOST_DEPTH = 1_000_000


def _depth(text: str) -> int:
    found = positive(text)
    if found > MOST_DEPTH:
        raise invalid("depth", text, f"the highest is {MOST_DEPTH}")
    return found


_EXAMPLES = """\
  hettop coexec model.onnx --units cpu@1,cpu@2
  hettop coexec Model.mlpackage --units gpu,ne --duration 20s --power powermetrics
  hettop coexec Model.mlpackage --units ne,ne                  two calls of one unit at the same time
  hettop coexec --backend simulated --units cpu,gpu,ne --json
  hettop coexec model.onnx --live                              in the UI, until you end it
  hettop coexec model.onnx --until-ended --stream | jq .       the same for a program
  hettop coexec model.onnx --granularities --loads none,cpu:1,cpu:2"""

_NOTES = """\
Units take inputs from one queue, and results leave in order. Each unit alone and all together are measured in turns.
--power also measures energy, in blocks of 2 s. --until-ended runs until Ctrl-C, SIGTERM or the end of piped input.
--granularities compares ways to run one model in parallel on CPU threads. See docs/method/coexec.md.

Exit codes: 0 measured, 2 invalid use, 3 nothing was measured, 130 interrupted (what was measured is printed)."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    describe(
        parser, "Run several units concurrently and measure the speedup over the best one alone.", _EXAMPLES, _NOTES
    )
    add_model_options(parser)
    add_strict_option(parser)
    add_units_option(parser, "two or more units, or one twice (one of each kind of processor)", default=None)
    group = group_of(parser, MEASURE_GROUP)
    length = group.add_mutually_exclusive_group()
    length.add_argument(
        "--duration", type=duration_ns, default=duration_ns("6s"), metavar="T", help="total time of all blocks (6s)"
    )
    length.add_argument(
        "--until-ended", action="store_const", const=True, help="run until Ctrl-C, SIGTERM or the end of piped input"
    )
    length.add_argument("--live", action="store_const", const=True, help="run in the live view until you end it there")
    add_warmup_option(parser, DEFAULT_WARMUP)
    group.add_argument("--depth", type=_depth, metavar="N", help=f"size of the reorder buffer ({COEXEC_DEPTH})")
    group.add_argument("--block", type=duration_ns, metavar="T", help="shortest block (250ms; with --power 2s)")
    add_power_option(parser, default="none")
    group.add_argument(
        "--granularities",
        action="store_true",
        help="compare parallelism within operators, between them, by slices and by inputs (ONNX Runtime)",
    )
    group.add_argument("--threads", type=positive, metavar="N", help="with --granularities: threads (one per core)")
    group.add_argument("--loads", metavar="L,M", help="with --granularities: competing loads, in turn (none)")
    add_result_options(parser)


FEWEST_UNITS = 2
THREADS = "@"  # in the name of a unit with a number of threads
ON_CPU = ":CPU"  # how the name of a provider's unit ends that runs on the processor of CPU_ONLY


def usual_units(available: Sequence[str]) -> tuple[str, ...]:
    """One unit of each kind of processor, or two numbers of threads where there is one kind only."""
    kinds = [unit for unit in available if THREADS not in unit and unit != "ALL" and not unit.endswith(ON_CPU)]
    threaded = [unit for unit in available if THREADS in unit]
    return tuple(kinds if len(kinds) >= FEWEST_UNITS else [*threaded, *kinds][:FEWEST_UNITS])
