"""`hettop bench`: measure without a screen, print statistics, judge thresholds."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hettop.commands.options import (
    add_measure_options,
    add_model_options,
    duration_ns,
    make_parser,
    model_options,
    not_negative,
    positive,
    power_source,
    wants_canary,
)
from hettop.text import clean
from hettop.wiring.options import DEFAULT_WARMUP, MeasureOptions

if TYPE_CHECKING:
    from hettop.record.writer import Closed
    from hettop.report.threshold import Threshold
    from hettop.session.session import Session
    from hettop.wiring.setup import Setup

SUMMARY = "Measure a model on some or all units of this machine, without a screen."
EXAMPLE = """\
  hettop bench                                       100 samples on every unit of this machine
  hettop bench model.onnx --units CPU_ONLY@1,CPU_ONLY@2 --interleave --duration 10s
  hettop bench --runs 700 --assert 'CPU_ONLY.p99<30ms' --json
  hettop bench --backend simulated --record m2.jsonl"""
NOTES = """\
Only steady samples count: the first call and the warm-up are kept apart. Quantiles are numpy's linear (type 7), std is
the population's; P99 is not shown below 662 samples. JSON statistics are exact up to 100,000 samples a condition,
beyond that within 0.5 %. Exit codes: 0 measured, 1 a threshold failed, 2 wrong use, 3 everything failed while running,
or the load or the recording did, 130 interrupted (what was measured is printed). Power is measured with --duration, or
where --power names a source: a hundred runs are over before the second power sample, and blocks long enough for power
leave nothing to interleave."""
DEFAULT_RUNS = 100


def run(argv: list[str]) -> int:
    arguments = _parser().parse_args(argv)
    from hettop.load.parts import condition_of, parse_load
    from hettop.report.threshold import check_measured, parse_threshold
    from hettop.wiring.setup import prepare

    thresholds = [parse_threshold(text) for text in arguments.thresholds]
    measure = MeasureOptions(
        warmup=arguments.warmup,
        runs=arguments.runs if arguments.runs or arguments.duration else DEFAULT_RUNS,
        duration_ns=arguments.duration,
        rate_hz=arguments.rate,
        interleave=arguments.interleave,
        load=arguments.load,
        power=power_source(arguments),
        canary=wants_canary(arguments, otherwise=False),
        record=arguments.record,
        force=arguments.force,
    )
    units = tuple(unit.strip() for unit in arguments.units.split(","))
    setup = prepare(model_options(arguments), units, os.cpu_count() or 1)
    check_measured(thresholds, setup.units, condition_of(parse_load(measure.load)))
    return measure_and_print(setup, measure, as_json=arguments.as_json, thresholds=thresholds)


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("bench", SUMMARY, EXAMPLE, NOTES)
    add_model_options(parser)
    parser.add_argument("--units", default="all", metavar="U,V", help="units to measure, or all (the default)")
    parser.add_argument(
        "--warmup",
        type=not_negative,
        default=DEFAULT_WARMUP,
        metavar="N",
        help="calls after the first that do not count (10)",
    )
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("--runs", type=positive, metavar="N", help="steady samples per unit (100)")
    limit.add_argument("--duration", type=duration_ns, metavar="10s", help="or steady time per unit")
    parser.add_argument(
        "--interleave", action="store_true", help="run the units in blocks, in turn, not one after another"
    )
    add_measure_options(parser)
    parser.add_argument(
        "--assert",
        dest="thresholds",
        action="append",
        default=[],
        metavar="'UNIT.p90<30ms'",
        help="fail (exit 1) unless this holds; may be given several times",
    )
    parser.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")
    return parser


def measure_and_print(
    setup: Setup, options: MeasureOptions, *, as_json: bool, thresholds: Sequence[Threshold] = ()
) -> int:
    """Measure, print what was measured, and return the exit code; an interrupt prints what there is."""
    from hettop.cli import EXIT_FAILED, EXIT_INTERRUPTED
    from hettop.commands.closing import undisturbed
    from hettop.commands.measuring import measure
    from hettop.commands.progress import Progress, width_of
    from hettop.session.session import RAW_LIMIT
    from hettop.wiring.headless import Headless

    progress = Progress(sys.stderr, width=width_of(sys.stderr, os.environ.get("TERM", "")))
    headless = Headless(setup, options, raw_limit=RAW_LIMIT)

    def show() -> bool:
        progress.show(headless.session, options, setup.units)
        return False

    outcome = measure(headless, show, progress.clear)
    closed = outcome.closed
    with undisturbed():  # the result is what the wait was for, however impatient the signals
        print_session(headless.session, as_json)
        if closed is not None:
            say_recorded(closed)
    if outcome.interrupted:
        return EXIT_INTERRUPTED
    if headless.load_failure is not None:
        sys.stderr.write(f"hettop: the load failed: {clean(headless.load_failure.message, 400)}\n")
        return EXIT_FAILED
    code = _exit_code(headless.session, thresholds)
    if closed is not None and _is_incomplete(closed, headless.session):
        sys.stderr.write("hettop: the recording failed, at least in part; what was measured is printed\n")
        return code or EXIT_FAILED
    return code


def _is_incomplete(closed: Closed, session: Session) -> bool:
    """Whether the recording lacks something that the session has; what the engines dropped, both lack."""
    return closed.fault is not None or closed.undeclared > 0 or closed.dropped > session.dropped


def print_session(session: Session, as_json: bool, skipped: dict[str, int] | None = None) -> None:
    """The result on stdout: one JSON document, or the table; what a recording's reader skipped goes with it."""
    from hettop.report.document import session_document, to_json
    from hettop.report.table import session_table

    if as_json:
        sys.stdout.write(to_json(session_document(session, skipped)) + "\n")
    else:
        sys.stdout.write(session_table(session, shutil.get_terminal_size((100, 24)).columns))
        for kind, lines in (skipped or {}).items():
            sys.stdout.write(f"skipped: {kind}, {lines} lines\n")
    sys.stdout.flush()


def say_recorded(closed: Closed) -> None:
    sys.stderr.write(f"recorded {closed.samples} samples to {closed.path}\n")
    if closed.undeclared:
        sys.stderr.write(f"hettop: {closed.undeclared} samples are missing from it, and no line in it says so\n")
    if closed.fault:
        sys.stderr.write(f"hettop: {closed.fault}\n")


def _exit_code(session: Session, thresholds: Sequence[Threshold]) -> int:
    """0 if some unit was measured and all thresholds hold."""
    from hettop.cli import EXIT_FAILED, EXIT_FAILED_THRESHOLD
    from hettop.session.statistics import statistics

    rows = statistics(session)
    if not any(row.n for row in rows):
        for row in rows:
            reason = row.error.message if row.error else "nothing was measured"
            sys.stderr.write(f"hettop: {row.unit}: {clean(reason, 400)}\n")
        return EXIT_FAILED
    broken = [why for threshold in thresholds if (why := threshold.judge(rows)) is not None]
    for why in broken:
        sys.stderr.write(f"threshold failed: {why}\n")
    return EXIT_FAILED_THRESHOLD if broken else 0
