"""`hettop cold`: what the first answer costs on each unit, each time in a new process."""

from __future__ import annotations

import argparse
import time
from typing import Any

from hettop.console.progress import ProgressStream
from hettop.console.signals import stop_signals_ignored
from hettop.errors import HettopError
from hettop.exits import EXIT_INTERRUPTED
from hettop.measurement.arguments import model_options
from hettop.measurement.setup import Setup, prepare
from hettop.processes.cpus import usable_threads
from hettop.report.document import head, session_document
from hettop.report.verdict_words import provenance
from hettop.studies.cold.measure import ColdStarts, cold_result
from hettop.studies.cold.result import ColdResult
from hettop.studies.output import StudyOutput, model_document, model_title

PUMP_EVERY_S = 0.005
"""As exact is the time at which a process is seen to begin to load."""

INTERRUPTED = "interrupted: fewer starts than requested"


def run(arguments: argparse.Namespace) -> int:
    with StudyOutput("cold", arguments) as output:
        setup = prepare(model_options(arguments), arguments.units, usable_threads())
        output.begin(setup)
        return _measure(setup, arguments.repeat, output)


def _measure(setup: Setup, repeat: int, output: StudyOutput) -> int:
    starts = ColdStarts(setup, repeat)

    def result(*notes: str) -> ColdResult:
        return cold_result(starts.starts, repeat=repeat, backend=setup.backend, simulated=setup.simulated, notes=notes)

    interrupted = pump(starts, ProgressStream(output.progress, lambda: _document(setup, starts, result())))
    with stop_signals_ignored():
        found = result(INTERRUPTED) if interrupted else result()
        output.finish(found, lambda: _document(setup, starts, found), _title(setup, starts), interrupted=interrupted)
    if interrupted:
        return EXIT_INTERRUPTED
    if not any(row.n for row in found.rows):
        raise _failure(found)
    return 0


def _failure(found: ColdResult) -> HettopError:
    """The first reason why no unit started."""
    error = next(row.error for row in found.rows if row.error is not None)
    return HettopError(error.kind, error.message, error.hint)


def pump(starts: ColdStarts, progress: ProgressStream) -> bool:
    """Until all is measured or a signal comes. Returns whether it was interrupted."""
    interrupted = False
    try:
        while not starts.finished:
            starts.pump()
            progress.poll(starts.doing, starts.share_done, idle=starts.between_starts)
            time.sleep(PUMP_EVERY_S)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        with stop_signals_ignored():
            starts.close("interrupted" if interrupted else "done")
    return interrupted


def _document(setup: Setup, starts: ColdStarts, result: ColdResult) -> dict[str, Any]:
    first = {**head("cold"), "model": model_document(setup)}
    if starts.session is not None:
        first = session_document(starts.session, name="cold")
        del first["conditions"], first["power"]
    return {**first, **result.document()}


def _title(setup: Setup, starts: ColdStarts) -> str:
    return model_title(setup) if starts.session is None else " · ".join(provenance(starts.session))
