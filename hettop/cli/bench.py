"""`hettop bench`: measure without a screen, print statistics, judge thresholds."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace

from hettop.cli.measure_options import AUTO_WARMUP
from hettop.cli.printed import print_session
from hettop.console.measuring import (
    LONGER,
    after_recording,
    measure,
    print_header_warnings,
    print_power_problem,
    print_recorded,
    print_turns_problem,
)
from hettop.console.progress import completed, progress_line, unit_states
from hettop.console.signals import stop_signals_ignored
from hettop.errors import HettopError
from hettop.events import NO_LOAD
from hettop.exits import EXIT_FAILED, EXIT_FAILED_THRESHOLD, EXIT_INTERRUPTED
from hettop.measurement.arguments import model_options, wants_canary
from hettop.measurement.headless import Headless
from hettop.measurement.options import LONGEST_WARMUP, MeasureOptions, ModelOptions, metrics_address, under_protocol
from hettop.measurement.setup import (
    Setup,
    parse_stage,
    parse_tokens,
    prepare,
    prepare_against,
    prepare_tokens,
    with_closed_loop,
)
from hettop.report.threshold import Threshold, check_measured, parse_threshold
from hettop.session.session import RAW_LIMIT, Session
from hettop.session.statistics import statistics
from hettop.sources.load.parts import condition_of, parse_load
from hettop.text import clean

DEFAULT_RUNS = 100
TOO_SHORT = ("not measured by runs, which are over too soon, unless --power names a source", "bench --duration 10s")


def run(arguments: argparse.Namespace) -> int:
    thresholds = [parse_threshold(text) for text in arguments.thresholds]
    measure = _how_to_measure(arguments)
    setup = _what_to_measure(arguments)
    check_measured(thresholds, setup.units, condition_of(parse_load(measure.load)))
    return measure_and_print(setup, measure, as_json=arguments.as_json, thresholds=thresholds)


def _what_to_measure(arguments: argparse.Namespace) -> Setup:
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
        "warmup": LONGEST_WARMUP if arguments.warmup == AUTO_WARMUP else arguments.warmup,
        "until_steady": True if arguments.warmup == AUTO_WARMUP else None,
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


def measure_and_print(
    setup: Setup, options: MeasureOptions, *, as_json: bool, thresholds: Sequence[Threshold] = ()
) -> int:
    """Measure, print what was measured, and return the exit code; an interrupt prints what there is."""
    progress = progress_line()
    headless = Headless(setup, options, raw_limit=RAW_LIMIT)
    print_header_warnings(headless.session)
    if options.prometheus is not None:
        sys.stderr.write(f"metrics at {metrics_address(options.prometheus)}\n")

    def show() -> bool:
        progress.show(unit_states(headless.session), completed(headless.session, options, setup.units))
        return False

    outcome = measure(headless, show, progress.clear)
    closed = outcome.closed
    with stop_signals_ignored():  # the result is what the wait was for, however impatient the signals
        print_session(headless.session, as_json)
        if closed is not None:
            print_recorded(closed)
        print_power_problem(headless.session, options, LONGER)
        if not outcome.interrupted:
            print_turns_problem(headless.fewest_turns)
    if outcome.interrupted:
        return EXIT_INTERRUPTED
    if headless.load_failure is not None:
        sys.stderr.write(f"hettop: the load failed: {clean(headless.load_failure.message, 400)}\n")
        return EXIT_FAILED
    code = _exit_code(headless.session, thresholds)
    return after_recording(code, closed, headless.session)


def _exit_code(session: Session, thresholds: Sequence[Threshold]) -> int:
    """0 if some unit was measured and all thresholds hold."""
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


def about_tokens(arguments: argparse.Namespace) -> bool:
    """Whether prefill and decode are to be measured. Raises HettopError (`usage`) where one of both is missing."""
    told = {"--prefill": arguments.prefill, "--decode": arguments.decode}
    missing = [name for name, texts in told.items() if not texts]
    if len(missing) == 2 and arguments.tokens is None:
        return False
    if missing:
        raise HettopError(
            "usage",
            f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing",
            "write --prefill @prefill --decode @decode, or --prefill tokens=1,128 --decode tokens=1,1",
        )
    return True


def token_setup(arguments: argparse.Namespace, options: ModelOptions, units: tuple[str, ...], cores: int) -> Setup:
    """The units with prefill beside decode. Raises HettopError as `prepare_tokens` does."""
    return prepare_tokens(
        options,
        units,
        cores,
        prefill=parse_stage(arguments.prefill, "--prefill"),
        decode=parse_stage(arguments.decode, "--decode"),
        tokens=None if arguments.tokens is None else parse_tokens(arguments.tokens),
    )
