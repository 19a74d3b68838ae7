"""`hettop decide`: recommend a compute unit from a recording or by measuring, with evidence."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from hettop.analysis.budget import parse_budgets, parse_energy, samples_for
from hettop.analysis.start_up import StartUp, starts_needed
from hettop.analysis.unit_samples import InOrder, in_order_of, loads_of
from hettop.analysis.verdict import Question, Verdict, verdict
from hettop.cli.anonymize import names_here
from hettop.cli.commands import refuse
from hettop.cli.measure_options import DECIDE_RUNS
from hettop.compute_units import ALL_UNITS
from hettop.console.measuring import (
    MORE_RUNS,
    after_recording,
    measure,
    print_header_warnings,
    print_power_problem,
    print_recorded,
    print_setup,
    print_turns_problem,
)
from hettop.console.messages import print_error, print_note, warn_of_damage
from hettop.console.progress import ProgressLine, ProgressStream, completed, progress_line, unit_states
from hettop.console.signals import stop_signals_ignored
from hettop.errors import HettopError
from hettop.exits import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_NOT_MET, EXIT_UNDECIDED
from hettop.measurement.arguments import MARKDOWN, model_options
from hettop.measurement.headless import Headless
from hettop.measurement.options import (
    ANSWER_RUNS,
    ANSWER_WARMUP,
    DEFAULT_MODEL,
    DEFAULT_WARMUP,
    MeasureOptions,
    under_protocol,
)
from hettop.measurement.recorded import looks_like_recording, read_recording
from hettop.measurement.setup import Setup, gives_answers, prepare
from hettop.processes.cpus import usable_threads
from hettop.record.defects import Report
from hettop.report.anonymize import anonymous_document
from hettop.report.document import to_json
from hettop.report.verdict import verdict_document, verdict_markdown, verdict_text
from hettop.session.session import Session
from hettop.sources.load.parts import condition_of, parse_load
from hettop.stats.quantiles import CONFIDENCE, confidence_of_look, samples_needed, shared
from hettop.stats.resampling import LEAST_VALUES, SEED, STRETCH
from hettop.studies.cold.command import pump
from hettop.studies.cold.measure import ColdStarts, cold_result
from hettop.studies.cold.options import DEFAULT_REPEAT
from hettop.studies.cold.result import ColdResult, ColdRow
from hettop.studies.output import study_event
from hettop.studies.registry import result_of
from hettop.text import clean
from hettop.units import NS_PER_MS

UNTIL_PROVEN_LIMIT_NS, DEFAULT_LIMIT_NS = 120 * 10**9, 60 * 10**9
ENOUGH = 1.25
"""Factor on the samples that a percentile needs, because correlation reduces the effective sample size."""

ENOUGH_TURNS = 8
"""Of each unit, where several are measured: six independent ones prove an order."""

RAW_LIMIT = 1_000_000  # samples of a unit that are kept in order; a measurement on the spot ends there
COLD_NAME = "cold.jsonl"
GROWTH = 1.5
"""Looks at the evidence are this factor apart, so that there are few: each one is a chance to be wrong."""


MODEL_OPTIONS = ("backend", "function", "shape", "input", "hint", "seed", "strict", "custom_ops")
FOR_MEASURING = (
    *MODEL_OPTIONS,
    *("units", "runs", "until_proven", "time_limit", "protocol", "power", "record"),
)


def run(arguments: argparse.Namespace) -> int:
    question = _question(arguments)
    if looks_like_recording(arguments.model):
        return _judge_recording(Path(arguments.model), question, arguments)
    return _measure_and_judge(question, arguments)


def _question(arguments: argparse.Namespace) -> Question:
    if arguments.rate is not None and arguments.by == "native":
        raise HettopError(
            "usage", "options exclude each other: --rate, --by native", "leave out --by: --rate judges response times"
        )
    if arguments.load is not None and _about_start_up(arguments):
        raise HettopError(
            "usage",
            "options exclude each other: --load, --cold or --calls",
            "leave out --load: start-up is measured without it",
        )
    budget, also, *_ = (*parse_budgets(arguments.budget, arguments.rate), None, None)
    return Question(
        by=arguments.by,
        load=None if arguments.load is None else condition_of(parse_load(arguments.load)),
        budget=budget,
        also=also,
        energy_mj=None if arguments.energy is None else parse_energy(arguments.energy),
        cold_ms=None if arguments.cold is None else arguments.cold / NS_PER_MS,
        calls=arguments.calls,
    )


def _about_start_up(arguments: argparse.Namespace) -> bool:
    return arguments.cold is not None or arguments.calls is not None


def _judge_recording(path: Path, question: Question, arguments: argparse.Namespace) -> int:
    refuse(arguments, FOR_MEASURING, f"on a recording: {clean(path.name)}", "name a model to measure")
    recorded = read_recording(path)
    if question.load is not None and not any(key.load == question.load for key in recorded.session.conditions):
        raise HettopError(
            "usage",
            f"no samples under this load in the recording: {clean(question.load, 60)}",
            _loads_in(recorded.session),
        )
    starts = _recorded_starts(recorded.session, path) if _about_start_up(arguments) else []
    found = _verdict(recorded.session, question, recorded.samples.column, starts)
    _print(found, recorded.session, arguments, recorded.report)
    warn_of_damage(recorded.report, path)
    return _exit_code(found)


def _recorded_starts(session: Session, path: Path) -> list[StartUp]:
    """Those of the study of start-up in the recording. Raises HettopError (`usage`) where there is none."""
    for study in session.studies.all:
        result = result_of(study)
        if isinstance(result, ColdResult):
            return _starts(result)
    raise HettopError(
        "usage",
        f"no start-up study in the recording: {clean(path.name)}",
        f"run hettop cold MODEL --record {COLD_NAME}",
    )


def _starts(result: ColdResult) -> list[StartUp]:
    """Of each unit those of the row that has most: with an earlier compilation, or without."""
    most: dict[str, ColdRow] = {}
    for row in result.rows:
        if row.unit not in most or row.n > most[row.unit].n:
            most[row.unit] = row
    errors = result.failures()
    return [
        StartUp(row.unit, tuple(row.ready_each_ms), tuple(row.call_each_ms), row.cached, errors.get(row.unit))
        for row in most.values()
    ]


def _measured_starts(setup: Setup, progress: ProgressLine) -> ColdResult | None:
    """Every unit started anew, as `hettop cold` does; None where that was interrupted."""
    repeat = max(DEFAULT_REPEAT, starts_needed(shared(CONFIDENCE, len(setup.units))))
    starts = ColdStarts(setup, repeat)
    interrupted = pump(starts, ProgressStream(progress, dict))
    progress.clear()
    if interrupted:
        return None
    return cold_result(starts.starts, repeat=repeat, backend=setup.backend, simulated=setup.simulated)


def _loads_in(session: Session) -> str:
    return f"loads in it: {', '.join(clean(load, 60) for load in loads_of(session)[:8]) or 'none'}"


def _measure_and_judge(question: Question, arguments: argparse.Namespace) -> int:
    options = _measure_options(question, arguments)
    if arguments.model == DEFAULT_MODEL:
        print_note(f"no recording or model file named: measuring {DEFAULT_MODEL}")
    setup = prepare(model_options(arguments), arguments.units or (ALL_UNITS,), usable_threads())
    question = replace(question, load=question.load or "none")
    progress = progress_line()
    began_ns = time.monotonic_ns()
    cold = _measured_starts(setup, progress) if _about_start_up(arguments) else ColdResult()
    if cold is None:
        print_error("interrupted while start-up was measured: no verdict")
        return EXIT_INTERRUPTED
    took_ns = time.monotonic_ns() - began_ns
    headless = Headless(setup, options, raw_limit=RAW_LIMIT)
    if cold.rows:
        command = arguments.command
        headless.add_study(lambda t: study_event("cold", cold, command, state="done", t=t, elapsed_ns=took_ns))
    print_header_warnings(headless.session)
    print_setup(setup)
    several = len(setup.units)
    aim = None if _fixed(arguments) else _answers_aim(question) if setup.answers else _aim(question, several)
    stop = Stop(
        headless, setup, question, aim=aim, until_proven=arguments.until_proven, limit_ns=_time_limit(arguments)
    )
    progress_to = options if aim is None else replace(options, runs=aim)

    def enough() -> bool:
        progress.show(unit_states(headless.session), completed(headless.session, progress_to, setup.units))
        return stop.enough(time.monotonic_ns())

    outcome = measure(headless, enough, progress.clear)
    with stop_signals_ignored():
        found = _verdict(headless.session, stop.question, in_order_of(headless.session), _starts(cold))
        _print(found, headless.session, arguments)
        if outcome.closed is not None:
            print_recorded(outcome.closed)
        print_power_problem(headless.session, options)
        turns = headless.fewest_turns
        if turns is not None and turns.by_power and not outcome.interrupted:
            print_turns_problem(turns, MORE_RUNS if _fixed(arguments) else "a longer --time-limit")
    if outcome.interrupted:
        if not found.units:
            print_error("interrupted: nothing was measured yet")
        return EXIT_INTERRUPTED
    if headless.load_failure is not None:
        print_error(f"the competing load failed: {headless.load_failure.message}")
        return EXIT_FAILED
    code = _exit_code(found) if found.units else EXIT_FAILED
    return after_recording(code, outcome.closed, headless.session)


def _measure_options(question: Question, arguments: argparse.Namespace) -> MeasureOptions:
    runs = arguments.runs
    if arguments.until_proven and runs is not None:
        raise HettopError(
            "usage", "options exclude each other: --runs, --until-proven", "limit --until-proven with --time-limit"
        )
    usual = MeasureOptions(
        warmup=ANSWER_WARMUP if gives_answers(model_options(arguments)) else DEFAULT_WARMUP,
        runs=RAW_LIMIT if runs is None else min(runs, RAW_LIMIT),
        interleave=True,
        load=question.load or "none",
        budget=arguments.budget,
        canary=question.load is not None or arguments.rate is not None,
        power=arguments.power,
        record=arguments.record,
        force=arguments.force,
    )
    if arguments.protocol is None:
        return replace(usual, rate_hz=arguments.rate)
    if arguments.until_proven:
        raise HettopError("usage", "options exclude each other: --until-proven, --protocol", "use one of them")
    values = {"runs": arguments.runs, "rate_hz": arguments.rate, "load": question.load}
    return under_protocol(
        arguments.protocol, {name: value for name, value in values.items() if value is not None}, usual
    )


def _fixed(arguments: argparse.Namespace) -> bool:
    """Whether the user said how many samples are taken."""
    return arguments.runs is not None or arguments.protocol is not None


def _aim(question: Question, units: int) -> int:
    """Samples of each unit that are likely to be enough."""
    needed = [LEAST_VALUES * STRETCH] if units > 1 else []
    if question.budget is not None:
        needed.append(samples_for(question.budget.quantile, in_turns=units > 1))
    return min(RAW_LIMIT, max([DECIDE_RUNS, *(round(ENOUGH * n) for n in needed)]))


def _answers_aim(question: Question) -> int:
    """Answers of each unit that are likely to be enough."""
    levels = [each.quantile for each in (question.budget, question.also) if each is not None]
    return max([ANSWER_RUNS, *(round(ENOUGH * samples_needed(level)) for level in levels)])


def _time_limit(arguments: argparse.Namespace) -> int | None:
    limit: int | None = arguments.time_limit
    if limit is None and not _fixed(arguments):
        return UNTIL_PROVEN_LIMIT_NS if arguments.until_proven else DEFAULT_LIMIT_NS
    return limit


class Stop:
    """Decides when a measurement has enough: when it has what it aims at, is proven, or its time is over.

    aim: samples of each unit, each in `ENOUGH_TURNS` turns where there are several; None: the engines count themselves.

    Until it is proven: looking again and again at growing evidence would find a `yes` by chance sooner or later. So
    look number k is at confidence 1 - .05 / (k (k + 1)), whose errors add up to 5% however many looks there are.
    """

    def __init__(
        self,
        headless: Headless,
        setup: Setup,
        question: Question,
        *,
        aim: int | None,
        until_proven: bool,
        limit_ns: int | None,
    ) -> None:
        self._headless, self._setup = headless, setup
        self._question, self._aim = question, aim
        self._settled = False
        self._until_proven, self._limit_ns = until_proven, limit_ns
        self._began_ns: int | None = None
        self._next_at = self._first_look()
        self._looks = 0

    @property
    def question(self) -> Question:
        """The question at the confidence of the look that settled it, or else of the next one."""
        if self._settled or not self._until_proven:
            return self._question
        return replace(self._question, confidence=confidence_of_look(self._looks + 1))

    def enough(self, now_ns: int) -> bool:
        """Whether to stop at `now_ns` (monotonic)."""
        if not self._headless.session.conditions:
            return False  # models load for as long as they do; the engine has its own patience with that
        if self._began_ns is None:
            self._began_ns = now_ns
        if self._limit_ns is not None and now_ns - self._began_ns >= self._limit_ns:
            return True
        if self._until_proven:
            return self._fewest() >= self._next_at and self._proven()
        return self._aim is not None and self._fewest() >= self._aim and self._turns() >= ENOUGH_TURNS

    def _turns(self) -> int:
        turns = self._headless.fewest_turns
        return ENOUGH_TURNS if turns is None else turns.n

    def _proven(self) -> bool:
        question = self.question
        self._looks += 1
        self._next_at = GROWTH * self._fewest()
        session = self._headless.session
        self._settled = _verdict(session, question, in_order_of(session)).settled
        if self._settled:
            self._question = question
        return self._settled

    def _first_look(self) -> float:
        """Samples below which nothing that was asked can be proven."""
        if self._setup.answers is not None:
            return _answers_aim(self._question) / ENOUGH
        budget, several = self._question.budget, len(self._setup.units) > 1
        if budget is not None:
            return samples_for(budget.quantile, in_turns=several)
        return LEAST_VALUES * STRETCH if several else samples_needed(0.9)

    def _fewest(self) -> int:
        """Samples of the unit that has the fewest, of those that did not fail."""
        session = self._headless.session
        running = [unit for unit in self._setup.units if session.units[unit].state != "failed"]
        if self._setup.answers is not None:
            return min(
                (sum(a.n for key, a in session.answers.items() if key[0] == unit) for unit in running), default=0
            )
        counts = [sum(c.wall.n for key, c in session.conditions.items() if key.unit == unit) for unit in running]
        return min(counts, default=0)


def _verdict(session: Session, question: Question, in_order: InOrder, starts: Sequence[StartUp] = ()) -> Verdict:
    return verdict(session, question, in_order, _rng(), starts=starts)


def _rng() -> np.random.Generator:
    return np.random.default_rng(SEED)


def _print(found: Verdict, session: Session, arguments: argparse.Namespace, read: Report | None = None) -> None:
    hidden = names_here() if arguments.anonymize else None
    if arguments.as_json:
        document = verdict_document(found, session, skipped=None if read is None else read.skipped)
        if read is not None:
            document["crc_errors"] = read.crc_errors
        sys.stdout.write(to_json(document if hidden is None else anonymous_document(document, hidden)) + "\n")
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        markdown = arguments.format == MARKDOWN
        text = verdict_markdown(found, session, hidden) if markdown else verdict_text(found, session, width, hidden)
        sys.stdout.write(text)
    sys.stdout.flush()


def _exit_code(found: Verdict) -> int:
    if not found.asked_for_proof or found.meeting:
        return 0
    return EXIT_NOT_MET if found.missed_by_all else EXIT_UNDECIDED
