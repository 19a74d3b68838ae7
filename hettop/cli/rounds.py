"""What commands share that measure several candidates in turns: the loop, its line of progress, and what came of it.

Knows nothing of what the candidates have in common.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hettop.cli.bench import say_recorded
from hettop.cli.output import Answer
from hettop.cli.progress import progress_line, width_of
from hettop.cli.signals import stop_signals_ignored
from hettop.exits import EXIT_FAILED, EXIT_INTERRUPTED
from hettop.measurement.options import MeasureOptions
from hettop.measurement.rounds import Candidate, Rounds, Trial
from hettop.measurement.setup import Setup
from hettop.record.pack import SUFFIX, plain_path
from hettop.report.document import session_document
from hettop.report.verdict_words import provenance
from hettop.session.session import RAW_LIMIT
from hettop.session.statistics import Statistics
from hettop.text import clean

INTERRUPTED = "interrupted: there are fewer samples than were asked for"
PUMP_EVERY_S = 0.02
"""Oftener than a turn of the fastest models lasts."""

TOLD_EVERY_NS = 500_000_000
KNOWN_EVERY_NS = 900_000_000
"""A little less than the second in which whoever follows looks once."""


class Followed:
    """Tells whoever follows what is measured now, how much is done, and between turns all that is known by then.

    What is known is put together while nothing is measured: it would take a core from what is.
    """

    def __init__(
        self, rounds: Rounds, answer: Answer, known: Callable[[], Mapping[str, Any]], now: Callable[[], int]
    ) -> None:
        """`known`: the document as far as it goes; asked for only if somebody reads it."""
        self._rounds, self._answer, self._known, self._now = rounds, answer, known, now
        self._told_at: int | None = None
        self._known_at = now()
        self._doing = "beginning"

    def look(self) -> None:
        """Called after every pump."""
        now = self._now()
        knows = self._rounds.between_turns and now - self._known_at >= KNOWN_EVERY_NS
        if knows:
            self._known_at = now
            self._answer.known(self._known)
        if knows or self._told_at is None or now - self._told_at >= TOLD_EVERY_NS:
            self._told_at = now
            self._doing = clean(self._rounds.doing, 60) or self._doing
            self._answer.doing(self._doing, self._rounds.share_done)


def run_rounds(rounds: Rounds, each_time: Callable[[], None]) -> bool:
    """Pump until all is measured or a signal comes; close it in good order. Returns whether it was interrupted."""
    interrupted = False
    try:
        while not rounds.finished:
            rounds.pump()
            each_time()
            time.sleep(PUMP_EVERY_S)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        with stop_signals_ignored():
            rounds.close("interrupted" if interrupted else "done")
    return interrupted


class Bar:
    """A bar, the share done and the time left in one line, on a terminal's stderr."""

    def __init__(self, rounds: Rounds) -> None:
        self._rounds, self._began_ns = rounds, time.monotonic_ns()
        self._width = width_of(sys.stderr, os.environ.get("TERM", ""))

    def show(self) -> None:
        if self._width:
            sys.stderr.write(f"\r\x1b[K{self._line()[: self._width - 1]}")
            sys.stderr.flush()

    def _line(self) -> str:
        elapsed = time.monotonic_ns() - self._began_ns
        return progress_line(self._rounds.share_done, clean(self._rounds.doing, 60), elapsed, what="")


def follow(rounds: Rounds, answer: Answer, known: Callable[[], Mapping[str, Any]], *, streamed: bool) -> bool:
    """Measure, and tell of it in the way that was asked for. Returns whether it was interrupted."""
    return run_rounds(rounds, Followed(rounds, answer, known, time.monotonic_ns).look if streamed else Bar(rounds).show)


def make_rounds(
    candidates: Sequence[Candidate], units: Sequence[str], arguments: argparse.Namespace, runs: int
) -> Rounds:
    """All candidates on all units, measured as the options say; `runs` of each where they say nothing."""
    measure = MeasureOptions(
        warmup=arguments.warmup,
        runs=arguments.runs if arguments.runs or arguments.duration else runs,
        duration_ns=arguments.duration,
        power="none",
        record=arguments.record,
        force=arguments.force,
    )
    return Rounds(list(candidates), tuple(units), measure, raw_limit=RAW_LIMIT)


def study_options(arguments: argparse.Namespace) -> argparse.Namespace:
    """The options of the answer: what was found is never compressed, as the samples beside it may be."""
    record = arguments.record
    if record is not None and Path(record).suffix == SUFFIX:
        record = str(plain_path(Path(record)))
    return argparse.Namespace(**{**vars(arguments), "record": record})


def heading(setup: Setup, trials: Sequence[Trial]) -> tuple[str, dict[str, Any]]:
    """A title, and the head of a document: host and model, called as what all candidates were made of."""
    model, name = setup.model, setup.model.name
    session = next((trial.session for trial in trials if trial.session is not None), None)
    if session is None:
        return name, {"model": {"name": name, "sha256": model.sha256}}
    head = session_document(session)
    head.pop("conditions", None)
    called = {"name": name, "sha256": model.sha256, "note": model.note or None}
    return " · ".join([name, *provenance(session)[2:]]), {**head, "model": {**head["model"], **called}}


def say_recordings(trials: Sequence[Trial]) -> None:
    for trial in trials:
        if trial.closed is not None:
            say_recorded(trial.closed)


def exit_code(rows: Sequence[Statistics], interrupted: bool) -> int:
    """0 if something was measured; else the reasons are told, each once."""
    if interrupted:
        return EXIT_INTERRUPTED
    if any(row.n for row in rows):
        return 0
    for why in dict.fromkeys(row.error.message if row.error else "nothing was measured" for row in rows):
        sys.stderr.write(f"hettop: {clean(why, 400)}\n")
    return EXIT_FAILED
