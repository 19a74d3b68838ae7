"""What commands share that measure several candidates in turns: the loop, its line of progress, and what came of it.

Knows nothing of what the candidates have in common.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

from hettop.text import clean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hettop.session.statistics import Statistics
    from hettop.wiring.rounds import Rounds, Trial
    from hettop.wiring.setup import Setup

PUMP_EVERY_S = 0.02
"""Oftener than a turn of the fastest models lasts."""


def run_rounds(rounds: Rounds) -> bool:
    """Pump until all is measured or a signal comes; close it in good order. Returns whether it was interrupted."""
    from hettop.commands.closing import undisturbed
    from hettop.commands.progress import width_of

    width = width_of(sys.stderr, os.environ.get("TERM", ""))
    began, interrupted = time.monotonic_ns(), False
    try:
        while not rounds.finished:
            rounds.pump()
            if width:
                sys.stderr.write(f"\r\x1b[K{_line(rounds, time.monotonic_ns() - began)[: width - 1]}")
                sys.stderr.flush()
            time.sleep(PUMP_EVERY_S)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        with undisturbed():
            rounds.close("interrupted" if interrupted else "done")
        if width:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
    return interrupted


def _line(rounds: Rounds, elapsed_ns: int) -> str:
    from hettop.commands.sweep import progress_line

    return progress_line(rounds.share_done, clean(rounds.doing, 60), elapsed_ns, what="")


def heading(setup: Setup, trials: Sequence[Trial]) -> tuple[str, dict[str, Any]]:
    """A title, and the head of a document: host and model, called as what all candidates were made of."""
    from hettop.report.document import session_document
    from hettop.report.verdict_words import provenance

    model = setup.model
    name = model.name if model.synthetic or model.path is None else clean(model.path.name)
    session = next((trial.session for trial in trials if trial.session is not None), None)
    if session is None:
        return name, {"model": {"name": name, "sha256": model.sha256}}
    head = session_document(session)
    head.pop("conditions", None)
    called = {"name": name, "sha256": model.sha256, "note": model.note or None}
    return " · ".join([name, *provenance(session)[2:]]), {**head, "model": {**head["model"], **called}}


def say_recordings(trials: Sequence[Trial]) -> None:
    from hettop.commands.bench import say_recorded

    for trial in trials:
        if trial.closed is not None:
            say_recorded(trial.closed)


def exit_code(rows: Sequence[Statistics], interrupted: bool) -> int:
    """0 if something was measured; else the reasons are told, each once."""
    from hettop.cli import EXIT_FAILED, EXIT_INTERRUPTED

    if interrupted:
        return EXIT_INTERRUPTED
    if any(row.n for row in rows):
        return 0
    for why in dict.fromkeys(row.error.message if row.error else "nothing was measured" for row in rows):
        sys.stderr.write(f"hettop: {clean(why, 400)}\n")
    return EXIT_FAILED
