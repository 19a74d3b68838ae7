"""`hettop bench`: measure without a screen, print statistics, judge thresholds."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hettop.cli.options import (
    add_against_option,
    add_measure_options,
    add_metrics_option,
    add_model_options,
    duration_ns,
    make_parser,
    model_options,
    not_negative,
    positive,
    rest,
    wants_canary,
)
from hettop.cli.token_options import about_tokens, add_token_options, token_setup
from hettop.errors import HettopError
from hettop.measurement.options import LONGEST_WARMUP, MeasureOptions, metrics_address
from hettop.measurement.protocols import PROTOCOLS, under_protocol
from hettop.text import clean

if TYPE_CHECKING:
    from hettop.measurement.setup import Setup
    from hettop.record.writer import Closed
    from hettop.report.threshold import Threshold
    from hettop.session.session import Session

SUMMARY = "Measure a model on some or all units of this machine, without a screen."
EXAMPLE = """\
  hettop bench                                       100 samples on every unit of this machine
  hettop bench model.onnx --units CPU_ONLY@1,CPU_ONLY@2 --interleave --duration 10s
  hettop bench --runs 700 --assert 'CPU_ONLY.p99<30ms' --json
  hettop bench --rate 30 --closed-too                what pacing and idle time do to latency
  hettop bench a.onnx --against b.onnx --units CPU_ONLY  which is faster, by how much, how sure
  hettop bench Llm.mlpackage --prefill @prefill --decode @decode --duration 10s    tokens a second
  hettop bench --protocol embench --rest 500ms --json
  hettop bench --backend simulated --record m2.jsonl"""
NOTES = """\
Only steady samples count: the first call and the warm-up are kept apart. Quantiles are numpy's linear (type 7), std is
the population's; P99 is not shown below 662 samples. JSON statistics are exact up to 100,000 samples a condition,
beyond that within 0.5 %. Exit codes: 0 measured, 1 a threshold failed, 2 wrong use, 3 everything failed while running,
or the load or the recording did, 130 interrupted (what was measured is printed). Power is measured with --duration, or
where --power names a source: a hundred runs are over before the second power sample, and blocks long enough for power
leave nothing to interleave; where that happens, a line on stderr says so. A protocol is a set of defaults that options
override; which, the result and the recording say. MLPerf itself asks for 10 minutes: --protocol mlperf
--duration 10m."""
DEFAULT_RUNS = 100
AUTO = "auto"
TOO_SHORT = ("not measured by runs, which are over too soon, unless --power names a source", "bench --duration 10s")
NO_LOAD = "none"


def run(argv: list[str]) -> int:
    arguments = _parser().parse_args(argv)
    from hettop.report.threshold import check_measured, parse_threshold
    from hettop.sources.load.parts import condition_of, parse_load

    thresholds = [parse_threshold(text) for text in arguments.thresholds]
    measure = _how_to_measure(arguments)
    setup = _what_to_measure(arguments)
    check_measured(thresholds, setup.units, condition_of(parse_load(measure.load)))
    return measure_and_print(setup, measure, as_json=arguments.as_json, thresholds=thresholds)


def _what_to_measure(arguments: argparse.Namespace) -> Setup:
    from hettop.measurement.compare_with import prepare_against, with_closed_loop
    from hettop.measurement.setup import prepare

    options, cores = model_options(arguments), os.cpu_count() or 1
    units = tuple(unit.strip() for unit in arguments.units.split(","))
    if about_tokens(arguments):
        return token_setup(arguments, options, units, cores)
    setup = prepare(options, units, cores)
    if arguments.closed_too:
        return with_closed_loop(setup)
    return setup if arguments.against is None else prepare_against(setup, options, arguments.against, cores)


def _how_to_measure(arguments: argparse.Namespace) -> MeasureOptions:
    """The protocol, if any, and what was said beside it."""
    usual = MeasureOptions(
        runs=None if arguments.duration else DEFAULT_RUNS,
        canary=wants_canary(arguments, otherwise=False),
        record=arguments.record,
        prometheus=arguments.prometheus,
        force=arguments.force,
    )
    told = {
        "warmup": LONGEST_WARMUP if arguments.warmup == AUTO else arguments.warmup,
        "until_steady": True if arguments.warmup == AUTO else None,
        "runs": arguments.runs,
        "duration_ns": arguments.duration,
        "rest_ns": arguments.rest,
        "rate_hz": arguments.rate,
        "interleave": arguments.interleave or None,
        "load": None if arguments.load == NO_LOAD else arguments.load,
    }
    given = {name: value for name, value in told.items() if value is not None}
    besides = {
        "--closed-too": arguments.closed_too,
        "--against": arguments.against is not None,
        "--prefill": about_tokens(arguments),
    }
    asked = [name for name, present in besides.items() if present]
    if asked:
        given["interleave"] = True  # one after another, heat and drift would be taken for what the difference does
    if len(asked) > 1:
        raise HettopError("usage", f"{' and '.join(asked)} exclude each other", "make it two measurements")
    if arguments.closed_too and arguments.rate is None:
        raise HettopError("usage", "--closed-too stands beside a rate", "add --rate 30")
    options = under_protocol(arguments.protocol, given, usual)
    # A hundred runs are over before there is any power.
    if arguments.power is None and not options.duration_ns:
        return replace(options, power="none", why_no_power=TOO_SHORT)
    return replace(options, power=arguments.power)


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("bench", SUMMARY, EXAMPLE, NOTES)
    add_model_options(parser)
    parser.add_argument("--units", default="all", metavar="U,V", help="units to measure, or all (the default)")
    parser.add_argument(
        "--warmup",
        type=_warmup,
        metavar="N|auto",
        help="calls after the first that do not count (10); auto: until the unit is steady, 1,000 or 20 s at most",
    )
    limit = parser.add_mutually_exclusive_group()
    limit.add_argument("--runs", type=positive, metavar="N", help="steady samples per unit (100)")
    limit.add_argument("--duration", type=duration_ns, metavar="10s", help="or steady time per unit")
    parser.add_argument("--rest", type=rest, metavar="2s", help="a rest before each sample (none)")
    parser.add_argument(
        "--protocol",
        choices=sorted(PROTOCOLS),
        help="as published: m2 (10 + 100), embench (10 + 50 with rests; minimum), mlperf (60 s; P90 by early stopping)",
    )
    parser.add_argument(
        "--interleave", action="store_true", help="run the units in blocks, in turn, not one after another"
    )
    add_against_option(parser)
    add_token_options(parser)
    add_measure_options(parser)
    parser.add_argument(
        "--closed-too",
        action="store_true",
        help="with --rate: each unit in a closed loop too, in turns: UNIT~closed",
    )
    add_metrics_option(parser)
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


def _warmup(text: str) -> int | str:
    return AUTO if text == AUTO else not_negative(text)


def measure_and_print(
    setup: Setup, options: MeasureOptions, *, as_json: bool, thresholds: Sequence[Threshold] = ()
) -> int:
    """Measure, print what was measured, and return the exit code; an interrupt prints what there is."""
    from hettop.cli.measuring import (
        LONGER,
        after_recording,
        measure,
        print_header_warnings,
        say_power,
        say_turns,
    )
    from hettop.cli.progress import Progress, width_of
    from hettop.cli.signals import stop_signals_ignored
    from hettop.exits import EXIT_FAILED, EXIT_INTERRUPTED
    from hettop.measurement.headless import Headless
    from hettop.session.session import RAW_LIMIT

    progress = Progress(sys.stderr, width=width_of(sys.stderr, os.environ.get("TERM", "")))
    headless = Headless(setup, options, raw_limit=RAW_LIMIT)
    print_header_warnings(headless.session)
    if options.prometheus is not None:
        sys.stderr.write(f"metrics at {metrics_address(options.prometheus)}\n")

    def show() -> bool:
        progress.show(headless.session, options, setup.units)
        return False

    outcome = measure(headless, show, progress.clear)
    closed = outcome.closed
    with stop_signals_ignored():  # the result is what the wait was for, however impatient the signals
        print_session(headless.session, as_json)
        if closed is not None:
            say_recorded(closed)
        say_power(headless.session, options, LONGER)
        if not outcome.interrupted:
            say_turns(headless.fewest_turns)
    if outcome.interrupted:
        return EXIT_INTERRUPTED
    if headless.load_failure is not None:
        sys.stderr.write(f"hettop: the load failed: {clean(headless.load_failure.message, 400)}\n")
        return EXIT_FAILED
    code = _exit_code(headless.session, thresholds)
    return after_recording(code, closed, headless.session)


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
    missing = closed.dropped + closed.undeclared
    if missing:
        silent = f", and no line in it tells of {closed.undeclared:,} of them" if closed.undeclared else ""
        sys.stderr.write(f"hettop: {missing:,} samples are missing from it{silent}\n")
    if closed.fault:
        sys.stderr.write(f"hettop: {closed.fault}\n")


def _exit_code(session: Session, thresholds: Sequence[Threshold]) -> int:
    """0 if some unit was measured and all thresholds hold."""
    from hettop.exits import EXIT_FAILED, EXIT_FAILED_THRESHOLD
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
