"""What commands share that measure several candidates in turns: the loop, its line of progress, and what came of it."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hettop.console.measuring import print_recorded
from hettop.console.progress import Document, ProgressStream
from hettop.console.signals import stop_signals_ignored
from hettop.exits import EXIT_FAILED, EXIT_INTERRUPTED
from hettop.measurement.options import MeasureOptions
from hettop.measurement.rounds import Candidate, Rounds, Trial
from hettop.measurement.setup import Setup
from hettop.record.pack import SUFFIX, plain_path
from hettop.report.document import head, session_document
from hettop.report.verdict_words import provenance
from hettop.session.session import RAW_LIMIT
from hettop.session.statistics import Statistics
from hettop.studies.output import StudyOutput
from hettop.text import clean

INTERRUPTED = "interrupted: fewer samples than requested"
PUMP_EVERY_S = 0.02
"""Oftener than a turn of the fastest models lasts."""


def measure_rounds(rounds: Rounds, output: StudyOutput, known: Document) -> bool:
    """Pump until all is measured or a signal comes, and show progress. Returns whether it was interrupted."""
    progress = ProgressStream(output.progress, known)
    interrupted = False
    try:
        while not rounds.finished:
            rounds.pump()
            progress.poll(clean(rounds.doing, 60), rounds.share_done, idle=rounds.between_turns)
            time.sleep(PUMP_EVERY_S)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        with stop_signals_ignored():
            rounds.close("interrupted" if interrupted else "done")
    return interrupted


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
    """The options of the output: what was found is never compressed, as the samples beside it may be."""
    record = arguments.record
    if record is not None and Path(record).suffix == SUFFIX:
        record = str(plain_path(Path(record)))
    return argparse.Namespace(**{**vars(arguments), "record": record})


def heading(setup: Setup, trials: Sequence[Trial], study: str) -> tuple[str, dict[str, Any]]:
    """A title, and the head of a document: host and model, called as what all candidates were made of."""
    model, name = setup.model, setup.model.name
    session = next((trial.session for trial in trials if trial.session is not None), None)
    if session is None:
        return name, {**head(study), "model": {"name": name, "sha256": model.sha256}}
    first = session_document(session, name=study)
    first.pop("conditions", None)
    called = {"name": name, "sha256": model.sha256, "note": model.note or None}
    return " · ".join([name, *provenance(session)[2:]]), {**first, "model": {**first["model"], **called}}


def print_recordings(trials: Sequence[Trial]) -> None:
    for trial in trials:
        if trial.closed is not None:
            print_recorded(trial.closed)


def exit_code(rows: Sequence[Statistics], interrupted: bool, output: StudyOutput) -> int:
    """0 if something was measured; else the reasons are reported, each once."""
    if interrupted:
        return EXIT_INTERRUPTED
    if any(row.n for row in rows):
        return 0
    for why in dict.fromkeys(row.error.message if row.error else "nothing was measured" for row in rows):
        output.failed(why)
    return EXIT_FAILED
