"""`hettop bench`: measure without a screen, print statistics, check thresholds."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from hettop.analysis.budget import samples_for
from hettop.analysis.unit_samples import in_order_of
from hettop.cli.measure_options import AUTO_WARMUP, BENCH_RUNS
from hettop.cli.printed import print_session
from hettop.console.measuring import (
    LONGER,
    after_recording,
    measure,
    print_header_warnings,
    print_power_problem,
    print_recorded,
    print_setup,
    print_turns_problem,
)
from hettop.console.messages import print_error, print_note
from hettop.console.progress import completed, progress_line, unit_states
from hettop.console.signals import stop_signals_ignored
from hettop.errors import HettopError
from hettop.events import NO_LOAD
from hettop.exits import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_NOT_MET, EXIT_UNDECIDED
from hettop.format import group_names
from hettop.measurement.arguments import model_options, wants_canary
from hettop.measurement.headless import Headless
from hettop.measurement.options import (
    ANSWER_RUNS,
    ANSWER_WARMUP,
    DEFAULT_WARMUP,
    LONGEST_WARMUP,
    MeasureOptions,
    ModelOptions,
    metrics_address,
    under_protocol,
)
from hettop.measurement.setup import (
    Setup,
    gives_answers,
    parse_stage,
    parse_tokens,
    prepare,
    prepare_against,
    prepare_tokens,
    with_closed_loop,
)
from hettop.processes.cpus import usable_threads
from hettop.report.threshold import (
    KEPT_FOR_PROOF,
    PROVABLE,
    Threshold,
    check_measured,
    check_provable,
    parse_threshold,
    prove,
)
from hettop.session.condition import JUDGED_FROM
from hettop.session.session import RAW_LIMIT, Session
from hettop.session.statistics import statistics
from hettop.sources.load.parts import condition_of, parse_load
from hettop.stats.quantiles import samples_needed

WITHOUT_DURATION = (
    "not measured without --duration",
    "use --duration 10s, if hettop doctor lists a power source that works",
)


def run(arguments: argparse.Namespace) -> int:
    thresholds = [parse_threshold(text) for text in arguments.thresholds]
    measure = _how_to_measure(arguments)
    setup = _what_to_measure(arguments)
    check_measured(thresholds, setup.units, condition_of(parse_load(measure.load)))
    for threshold in thresholds:
        _check_reachable(threshold, measure, tokens=about_tokens(arguments) or setup.tokens is not None)
    if not arguments.require_proof:
        return measure_and_print(setup, measure, form=arguments.format, thresholds=thresholds)
    _check_provable(thresholds, setup, measure)
    if measure.duration_ns is None:
        measure = replace(measure, runs=min(measure.runs or KEPT_FOR_PROOF, KEPT_FOR_PROOF))
    return measure_and_print(setup, measure, form=arguments.format, thresholds=thresholds, proof=True)


def _check_provable(thresholds: Sequence[Threshold], setup: Setup, options: MeasureOptions) -> None:
    """Raises HettopError (`usage`) where no proof can come of this measurement."""
    if not thresholds:
        raise HettopError("usage", "--require-proof needs --assert", "add --assert 'cpu.p90<30ms'")
    check_provable(thresholds)
    if options.runs is None or setup.answers is not None:
        return  # of answers, only the measurement shows how many tokens they have
    in_turns = options.interleave and len(setup.units) > 1
    for threshold in thresholds:
        needed = samples_for(PROVABLE[threshold.stat], in_turns=in_turns)
        if options.runs < needed:
            message = f"{threshold.text} cannot be proven from fewer than {needed:,} samples: --runs {options.runs}"
            raise HettopError("usage", message, f"use --runs {needed}, or --duration 30s")


PERCENTILES = {"p99": 0.99, "p999": 0.999}
"""Statistics that are unknown until there are enough samples."""
AT_A_RATE = ("misses", "response_p50", "response_p90")


def _check_reachable(threshold: Threshold, options: MeasureOptions, *, tokens: bool) -> None:
    """Raises HettopError (`usage`) for a statistic that this measurement cannot have: found before it starts."""
    needed = samples_needed(PERCENTILES[threshold.stat]) if threshold.stat in PERCENTILES else 0
    if threshold.stat == "spikes":
        needed = JUDGED_FROM
    if options.runs is not None and options.runs < needed:
        message = f"--assert cannot be decided, {threshold.stat} needs {needed:,} samples: --runs {options.runs}"
        raise HettopError("usage", message, f"use --runs {needed}")
    missing = ""
    if threshold.stat in AT_A_RATE and options.rate_hz is None:
        missing = "--rate HZ"
    elif threshold.stat == "energy" and options.power == "none":
        missing = "--power SRC or --duration 10s"
    elif threshold.stat == "tokens" and not tokens:
        missing = "--prefill and --decode"
    if missing:
        raise HettopError("usage", f"--assert cannot be decided: {threshold.text}", f"{threshold.stat} needs {missing}")


def _what_to_measure(arguments: argparse.Namespace) -> Setup:
    options, cores, units = model_options(arguments), usable_threads(), arguments.units
    if about_tokens(arguments):
        return token_setup(arguments, options, units, cores)
    setup = prepare(options, units, cores)
    if arguments.closed_too:
        return with_closed_loop(setup)
    return setup if arguments.against is None else prepare_against(setup, options, arguments.against, cores)


def _how_to_measure(arguments: argparse.Namespace) -> MeasureOptions:
    """The protocol, if any, and the options that override it."""
    answers = gives_answers(model_options(arguments))
    runs, warmup = (ANSWER_RUNS, ANSWER_WARMUP) if answers else (BENCH_RUNS, DEFAULT_WARMUP)
    usual = MeasureOptions(
        warmup=warmup,
        runs=None if arguments.duration else runs,
        canary=wants_canary(arguments, otherwise=False),
        record=arguments.record,
        prometheus=arguments.prometheus,
        force=arguments.force,
    )
    values = {
        "warmup": LONGEST_WARMUP if arguments.warmup == AUTO_WARMUP else arguments.warmup,
        "until_steady": True if arguments.warmup == AUTO_WARMUP else None,
        "runs": arguments.runs,
        "duration_ns": arguments.duration,
        "rest_ns": arguments.rest,
        "rate_hz": arguments.rate,
        "interleave": arguments.interleave or None,
        "load": None if arguments.load == NO_LOAD else arguments.load,
    }
    given = {name: value for name, value in values.items() if value is not None}
    besides = {
        "--closed-too": arguments.closed_too,
        "--against": arguments.against is not None,
        "--prefill": about_tokens(arguments),
        "answers token by token": answers,
    }
    asked = [name for name, present in besides.items() if present]
    if asked and not answers:
        given["interleave"] = True  # one after another, heat and drift would confound the difference
    if answers and arguments.against is not None:
        raise HettopError(
            "usage",
            "--against does not work with answers token by token: their rows are UNIT and UNIT~prefill, one model each",
            "record each: hettop bench A --record a.jsonl, the same for B, then hettop compare a.jsonl b.jsonl",
        )
    if len(asked) > 1:
        raise HettopError("usage", f"options exclude each other: {', '.join(asked)}", "run hettop bench twice")
    if arguments.closed_too and arguments.rate is None:
        raise HettopError("usage", "--closed-too needs a rate", "add --rate 30")
    options = under_protocol(arguments.protocol, given, usual)
    # A hundred runs are over before there is any power.
    if arguments.power is None and not options.duration_ns:
        return replace(options, power="none", why_no_power=WITHOUT_DURATION)
    return replace(options, power=arguments.power)


def measure_and_print(
    setup: Setup, options: MeasureOptions, *, form: str, thresholds: Sequence[Threshold] = (), proof: bool = False
) -> int:
    """Measure, print what was measured, and return the exit code; an interrupt prints what there is.

    proof: whether thresholds are decided only by what is proven.
    """
    progress = progress_line()
    headless = Headless(setup, options, raw_limit=KEPT_FOR_PROOF if proof else RAW_LIMIT)
    print_header_warnings(headless.session)
    print_setup(setup)
    if options.prometheus is not None:
        print_note(f"metrics at {metrics_address(options.prometheus)}")

    def show() -> bool:
        progress.show(unit_states(headless.session), completed(headless.session, options, setup.units))
        return False

    outcome = measure(headless, show, progress.clear)
    closed = outcome.closed
    with stop_signals_ignored():  # the result is printed, however many signals come
        print_session(headless.session, form)
        if closed is not None:
            print_recorded(closed)
        print_power_problem(headless.session, options, LONGER)
        if not outcome.interrupted:
            print_turns_problem(headless.fewest_turns)
    if outcome.interrupted:
        return EXIT_INTERRUPTED
    if headless.load_failure is not None:
        print_error(f"the competing load failed: {headless.load_failure.message}")
        return EXIT_FAILED
    code = _exit_code(headless.session, thresholds, proof=proof)
    return after_recording(code, closed, headless.session)


def _exit_code(session: Session, thresholds: Sequence[Threshold], *, proof: bool) -> int:
    """0 if a unit was measured and all thresholds are met; 1 if one is not met, 4 if one is undecided."""
    rows = statistics(session)
    if not any(row.n for row in rows):
        failed = [(row.unit, row.error) for row in rows]
        reasons = (
            (unit, (error.message, error.hint) if error else ("nothing was measured", "")) for unit, error in failed
        )
        for units, (message, hint) in group_names(reasons):
            print_error(f"{units}: {message}", hint)
        return EXIT_FAILED
    if session.answers and not any(each.n + each.cut for each in session.answers.values()):
        print_error("no answer was complete")
        return EXIT_FAILED
    if proof:
        judged = prove(thresholds, session, in_order_of(session))
    else:
        judged = [threshold.judge(rows) for threshold in thresholds]
    for each in judged:
        if each.met is False:
            print_error(f"threshold not met: {each.why}")
        elif each.met is None:
            print_error(f"threshold undecided: {each.why}")
        else:
            print_note(f"threshold met: {each.shown}")
    if any(each.met is False for each in judged):
        return EXIT_NOT_MET
    return EXIT_UNDECIDED if any(each.met is None for each in judged) else 0


def about_tokens(arguments: argparse.Namespace) -> bool:
    """Whether to measure prefill and decode. Raises HettopError (`usage`) where one of both is missing."""
    stages = {"--prefill": arguments.prefill, "--decode": arguments.decode}
    missing = [name for name, texts in stages.items() if not texts]
    if len(missing) == 2 and arguments.tokens is None:
        return False
    if missing:
        raise HettopError(
            "usage",
            f"missing option: {', '.join(missing)}",
            "add --prefill @prefill --decode @decode, or --prefill tokens=1,128 --decode tokens=1,1",
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
