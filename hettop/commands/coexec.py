"""`hettop coexec`: one stream of inputs, served by several units at once."""

from __future__ import annotations

import argparse
import os
import shutil
import sys

from hettop.commands.options import (
    add_model_options,
    duration_ns,
    make_parser,
    model_options,
    not_negative,
    positive,
)
from hettop.errors import HettopError
from hettop.wiring.options import DEFAULT_WARMUP

SUMMARY = (
    "Let several units serve one stream of inputs, results in order, and tell what that gains over the best alone."
)
EXAMPLE = """\
  hettop coexec model.onnx --units CPU_ONLY@1,CPU_ONLY@2
  hettop coexec Model.mlpackage --units CPU_AND_GPU,CPU_AND_NE --duration 20s --power powermetrics
  hettop coexec Model.mlpackage --units CPU_AND_NE,CPU_AND_NE  two calls of one unit in flight
  hettop coexec --backend simulated --units CPU_ONLY,CPU_AND_GPU,CPU_AND_NE --json
  hettop coexec model.onnx --granularities --loads none,cpu:1,cpu:2"""
NOTES = """\
A unit is a process that takes the next number of the stream, or steals one that another has not begun; numbers travel,
inputs do not: each process makes the same ones from the seed. A buffer restores the order. Each unit alone and all
together are measured in turns, in blocks with rests between them, through the same dispatch. Alone and together are
inferences a second; the latency is from handing a number out to its leaving in order. A unit that dies has its work
done by the others. A unit that is named twice is two processes: two of its calls in flight, one of them measured alone.
Energy needs --power, and then blocks of 2 s. --granularities compares ways to run one model in parallel on the threads
of one processor: each operator on all of them, operators side by side, slices as a pipeline, inputs side by side.
docs/COEXEC.md tells more. Exit codes: 0 measured, 2 wrong use,
3 nothing could be measured, 130 interrupted (what was measured is printed)."""
DEPTH = 64  # named here and not imported: --help must not wait for msgspec
MOST_DEPTH = 1_000_000
FEWEST_THREADS = 2
COEXECUTING = ("units", "depth", "power")
COMPARING = ("threads", "loads")


def run(argv: list[str]) -> int:
    arguments = _parser().parse_args(argv)
    _refuse_mixtures(arguments)
    return _compare(arguments) if arguments.granularities else _coexecute(arguments)


def _refuse_mixtures(arguments: argparse.Namespace) -> None:
    there = COEXECUTING if arguments.granularities else COMPARING
    wrong = [name for name in there if getattr(arguments, name) is not None]
    if wrong:
        how = "without" if arguments.granularities else "with"
        raise HettopError("usage", f"--{wrong[0]} goes {how} --granularities", "see hettop coexec --help")


def _coexecute(arguments: argparse.Namespace) -> int:
    from hettop.cli import EXIT_INTERRUPTED
    from hettop.commands.progress import one_line
    from hettop.wiring import coexec

    options = model_options(arguments)
    named = None if arguments.units is None else tuple(unit.strip() for unit in arguments.units.split(","))
    setup = coexec.prepare_units(options, named, os.cpu_count() or 1)
    job = coexec.make_job(
        setup,
        options,
        duration_ns=arguments.duration,
        warmup=arguments.warmup,
        depth=arguments.depth or DEPTH,
        powered=arguments.power is not None,
    )
    say = one_line()
    try:
        result, energy = coexec.measure(setup, job, arguments.power, say)
    finally:
        say("")
    model = setup.model
    if arguments.as_json:
        from hettop.report.coexec import coexec_document
        from hettop.report.document import to_json

        told = {"name": model.name, "sha256": model.sha256, "note": model.note or None}
        sys.stdout.write(to_json(coexec_document(told, setup.backend, result, energy)) + "\n")
    else:
        from hettop.report.coexec import coexec_text

        width = shutil.get_terminal_size((100, 24)).columns
        title = f"{model.name} ({model.note})" if model.note else model.name
        sys.stdout.write(coexec_text(title, setup.backend, result, energy, width))
    return EXIT_INTERRUPTED if result.interrupted else 0


def _compare(arguments: argparse.Namespace) -> int:
    from hettop.cli import EXIT_FAILED, EXIT_INTERRUPTED
    from hettop.commands.layers import model_document, model_title
    from hettop.commands.progress import one_line
    from hettop.report.document import to_json
    from hettop.report.granularities import granularities_document, granularities_text
    from hettop.wiring.granularities import compare_under, parse_loads, prepare_model

    loads = parse_loads(arguments.loads or "none")
    threads = arguments.threads or max(FEWEST_THREADS, os.cpu_count() or 1)
    setup = prepare_model(model_options(arguments), threads)
    tell = one_line()
    try:
        found, interrupted = compare_under(
            setup,
            arguments.model,
            loads,
            threads=threads,
            duration_ns=arguments.duration,
            warmup=arguments.warmup,
            tell=tell,
        )
    finally:
        tell("")
    told = [(each.load, each.compared, each.why) for each in found]
    if arguments.as_json:
        document = granularities_document(model_document(setup), threads, told, interrupted=interrupted)
        sys.stdout.write(to_json(document) + "\n")
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        sys.stdout.write(granularities_text(model_title(setup), threads, told, width, interrupted=interrupted))
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
    parser.add_argument(
        "--duration", type=duration_ns, default=duration_ns("6s"), metavar="T", help="of all blocks and rests (6s)"
    )
    parser.add_argument("--warmup", type=not_negative, default=DEFAULT_WARMUP, metavar="N", help="calls before (10)")
    parser.add_argument("--depth", type=_depth, metavar="N", help=f"numbers that the reorder buffer spans ({DEPTH})")
    parser.add_argument("--power", metavar="SRC", help="measure energy with this source of power (none)")
    parser.add_argument(
        "--granularities",
        action="store_true",
        help="compare instead: parallel within operators, between them, by slices, by inputs (ONNX Runtime)",
    )
    parser.add_argument("--threads", type=positive, metavar="N", help="of --granularities (one for each core)")
    parser.add_argument("--loads", metavar="L,M", help="competing loads for --granularities, one after another (none)")
    parser.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")
    return parser
