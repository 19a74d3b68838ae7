"""A session on stdout, as bench, replay and a `hettop` without a terminal print it."""

from __future__ import annotations

import shutil
import sys
from typing import Any

from hettop.report.document import session_document
from hettop.report.formats import TABLE, result_text
from hettop.report.table import session_blocks
from hettop.session.session import Session
from hettop.studies.recorded import studies_document, study_lines


def print_session(session: Session, form: str, skipped: dict[str, int] | None = None) -> None:
    """Print the result in the format `form`; `skipped`: what a recording's reader skipped."""

    def document() -> dict[str, Any]:
        studies = studies_document(session)
        found = session_document(session, skipped)
        return {**found, "studies": studies} if studies else found

    width = shutil.get_terminal_size((100, 24)).columns
    sys.stdout.write(result_text(form, document, session_blocks(session, study_lines(session)), width))
    if form == TABLE:
        for kind, lines in (skipped or {}).items():
            sys.stdout.write(f"skipped: {kind}, {lines} lines\n")
    sys.stdout.flush()
