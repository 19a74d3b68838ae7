"""`hettop coexec`: one stream of inputs, served by several units at once."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from hettop.cli.options import (
    add_model_options,
    duration_ns,
    make_parser,
    model_options,
    not_negative,
    positive,
)
from hettop.cli.output import Answer, add_result_options
from hettop.errors import HettopError
from hettop.measurement.options import DEFAULT_WARMUP

if TYPE_CHECKING:
    from hettop.measurement.setup import Setup
    from hettop.studies.coexec.messages import CoexecJob

SUMMARY = (
    "Let several units serve one stream of inputs, results in order, and tell what that gains over the best alone."
)
EXAMPLE = """\
  hettop coexec model.onnx --units CPU_ONLY@1,CPU_ONLY@2
  hettop coexec Model.mlpackage --units CPU_AND_GPU,CPU_AND_NE --duration 20s --power powermetrics
  hettop coexec Model.mlpackage --units CPU_AND_NE,CPU_AND_NE  two calls of one unit in flight
  hettop coexec --backend simulated --units CPU_ONLY,CPU_AND_GPU,CPU_AND_NE --json
  hettop coexec model.onnx --live                              on the screen, round by round, until you end it
  hettop coexec model.onnx --until-ended --stream | jq .       the same for a program
  hettop coexec model.onnx --granularities --loads none,cpu:1,cpu:2"""
NOTES = """\
A unit is a process that takes the next number of the stream, or steals one that another has not begun; numbers travel,
inputs do not: each process makes the same ones from the seed. A buffer restores the order. Each unit alone and all
together are measured in turns, in blocks with rests between them, through the same dispatch. Alone and together are
inferences a second; the latency is from handing a number out to its leaving in order. A unit that dies has its work
done by the others. A unit that is named twice is two processes: two of its calls in flight, one of them measured alone.
Energy needs --power, and then blocks of 2 s. --until-ended goes on until Ctrl-C, SIGTERM, or the end of standard input
where that is a pipe; then it prints what was measured, exit code 0. --stream prints all that is known after each round,
--live opens the live view with it running: there Enter ends it, and starts it again (y from the panels leads to it).
--granularities compares ways to run one model in parallel on the threads of one processor: each operator on all of
them, operators side by side, slices as a pipeline, inputs side by side. docs/COEXEC.md tells more. Exit codes:
0 measured, 2 wrong use, 3 nothing was measured (ended while it loads, too), 130 interrupted (what was measured is
printed)."""
DEPTH = 64  # named here and not imported: --help must not wait for msgspec
MOST_DEPTH = 1_000_000
FEWEST_THREADS = 2
COEXECUTING = ("units", "depth", "power", "block", "until_ended", "live")
HEADLESS = {"as_json": "json", "stream": "stream", "block": "block"}
COMPARING = ("threads", "loads")


def run(argv: list[str]) -> int:
    arguments = _parser().parse_args(argv)
    _refuse_mixtures(arguments)
    return _compare(argv, arguments) if arguments.granularities else _coexecute(argv, arguments)


def _refuse_mixtures(arguments: argparse.Namespace) -> None:
    there = COEXECUTING if arguments.granularities else COMPARING
    wrong = [name for name in there if getattr(arguments, name) is not None]
    if wrong:
        how = "without" if arguments.granularities else "with"
        name = wrong[0].replace("_", "-")
        raise HettopError("usage", f"--{name} goes {how} --granularities", "see hettop coexec --help")


def _coexecute(argv: list[str], arguments: argparse.Namespace) -> int:
    if arguments.live:
        return _on_screen(arguments)
    from hettop.cli.ending import ending
    from hettop.cli.layers import model_title
    from hettop.exits import EXIT_INTERRUPTED
    from hettop.studies.coexec.page import coexec_document, coexec_text
    from hettop.studies.coexec.setup import Listener, measure

    with (
        Answer("coexec", ["coexec", *argv], arguments) as answer,
        ending(sys.stdin if arguments.until_ended else None) as ends,
    ):
        setup, job = _prepared(arguments)
        answer.begin(setup)
        model = {"name": setup.model.name, "sha256": setup.model.sha256, "note": setup.model.note or None}
        listener = Listener(
            answer.doing,
            lambda some, energy: answer.known(lambda: coexec_document(model, setup.backend, some, energy)),
        )
        result, energy = measure(setup, job, arguments.power, listener, ends)
        answer.give(
            lambda: coexec_document(model, setup.backend, result, energy),
            lambda width: coexec_text(model_title(setup), setup.backend, result, energy, width),
        )
    return EXIT_INTERRUPTED if result.interrupted else 0


def _on_screen(arguments: argparse.Namespace) -> int:
    """Raises HettopError (`usage`) for what has no place on a screen."""
    from hettop.cli.live import co_execute
    from hettop.studies.coexec.setup import prepare_units
    from hettop.studies.coexec.worker_names import unit_of
    from hettop.studies.kinds import Together, model_arguments

    wrong = next((name for name in HEADLESS if getattr(arguments, name)), None)
    if wrong is not None:
        raise HettopError("usage", f"--{HEADLESS[wrong]} goes without --live", "see hettop coexec --help")
    model, named = model_options(arguments), _named(arguments)
    units = prepare_units(model, named, os.cpu_count() or 1).units
    options = ["--warmup", str(arguments.warmup), *(["--depth", str(arguments.depth)] if arguments.depth else [])]
    argv = model_arguments(model)
    for option in ("power", "record"):
        value = getattr(arguments, option)
        argv += [f"--{option}", value] if value is not None else []
    if arguments.force:
        argv.append("--force")
    return co_execute(argv, Together(tuple(map(unit_of, units)), tuple(options)))


def _prepared(arguments: argparse.Namespace) -> tuple[Setup, CoexecJob]:
    from hettop.studies.coexec.setup import make_job, prepare_units

    options = model_options(arguments)
    setup = prepare_units(options, _named(arguments), os.cpu_count() or 1)
    return setup, make_job(
        setup,
        options,
        duration_ns=None if arguments.until_ended else arguments.duration,
        warmup=arguments.warmup,
        depth=arguments.depth or DEPTH,
        powered=arguments.power is not None,
        block_ns=arguments.block,
    )


def _named(arguments: argparse.Namespace) -> tuple[str, ...] | None:
    return None if arguments.units is None else tuple(unit.strip() for unit in arguments.units.split(","))


def _compare(argv: list[str], arguments: argparse.Namespace) -> int:
    from hettop.cli.layers import model_document, model_title
    from hettop.exits import EXIT_FAILED, EXIT_INTERRUPTED
    from hettop.studies.granularities.page import granularities_document, granularities_text
    from hettop.studies.granularities.setup import compare_under, parse_loads, prepare_model, told

    loads = parse_loads(arguments.loads or "none")
    threads = arguments.threads or max(FEWEST_THREADS, os.cpu_count() or 1)
    with Answer("granularities", ["coexec", *argv], arguments) as answer:
        setup = prepare_model(model_options(arguments), threads)
        answer.begin(setup)
        model = model_document(setup)
        found, interrupted = compare_under(
            setup,
            arguments.model,
            loads,
            threads=threads,
            duration_ns=arguments.duration,
            warmup=arguments.warmup,
            say=answer.doing,
            known=lambda some: answer.known(lambda: granularities_document(model, threads, told(some))),
        )
        answer.give(
            lambda: granularities_document(model, threads, told(found), interrupted=interrupted),
            lambda width: granularities_text(model_title(setup), threads, told(found), width, interrupted=interrupted),
        )
    if interrupted:
        return EXIT_INTERRUPTED
    return 0 if any(each.compared is not None for each in found) else EXIT_FAILED


def _depth(text: str) -> int:
    found = positive(text)
    if found > MOST_DEPTH:
        raise argparse.ArgumentTypeError(f"{text!r} is more than {MOST_DEPTH} numbers")
    return found


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("coexec", SUMMARY, EXAMPLE, NOTES)
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
    parser.add_argument("--depth", type=_depth, metavar="N", help=f"numbers that the reorder buffer spans ({DEPTH})")
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
    return parser
