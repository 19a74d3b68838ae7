"""Folds the lines of a recording so that a fault in one of them costs that line and not the rest.

Knows the session and the report; what the lines are is the reader's matter.
"""

from __future__ import annotations

from hettop.events import AnyEvent
from hettop.record.defects import UNFOLDABLE, Report
from hettop.session.session import Session


def fold(session: Session, event: AnyEvent, report: Report, byte: int | None = None) -> bool:
    """Fold an event that begins at `byte` of its file (None: not known); False, and counted, where that fails."""
    try:
        session.fold(event)
    except Exception as error:  # noqa: BLE001 - a recording is data: a line nobody foresaw must not take the others along
        words = f"{type(error).__name__}: {error}"
        if byte is None:
            report.skipped[UNFOLDABLE] += 1
        else:
            report.skip(byte, UNFOLDABLE, words)
        return False
    return True
