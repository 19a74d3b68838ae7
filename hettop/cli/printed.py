"""A session on stdout, as bench, replay and a `hettop` without a terminal print it."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from hettop.report.document import session_document, to_json
from hettop.report.table import session_table
from hettop.session.session import Session
from hettop.studies.recorded import studies_document, study_lines

if TYPE_CHECKING:  # a replay without a screen prints a session, and measures nothing
    pass


def print_session(session: Session, as_json: bool, skipped: dict[str, int] | None = None) -> None:
    """The result on stdout: one JSON document, or the table; what a recording's reader skipped goes with it."""
    if as_json:
        studies = studies_document(session)
        document = session_document(session, skipped)
        sys.stdout.write(to_json({**document, "studies": studies} if studies else document) + "\n")
    else:
        sys.stdout.write(session_table(session, shutil.get_terminal_size((100, 24)).columns, study_lines(session)))
        for kind, lines in (skipped or {}).items():
            sys.stdout.write(f"skipped: {kind}, {lines} lines\n")
    sys.stdout.flush()
