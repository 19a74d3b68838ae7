"""A session on stdout, as bench, replay and a `hettop` without a terminal print it."""

from __future__ import annotations

import shutil
import sys
from typing import Any

from hettop.record.defects import Report
from hettop.report.document import session_document
from hettop.report.formats import result_text
from hettop.report.table import session_blocks
from hettop.session.session import Session
from hettop.studies.recorded import studies_document, study_lines


def print_session(session: Session, form: str, read: Report | None = None) -> None:
    """Print the result in the format `form`; `read`: what the reader of a recording met."""

    def document() -> dict[str, Any]:
        studies = studies_document(session)
        found = session_document(session, None if read is None else read.skipped)
        if read is not None:
            found["crc_errors"] = read.crc_errors
        return {**found, "studies": studies} if studies else found

    width = shutil.get_terminal_size((100, 24)).columns
    sys.stdout.write(result_text(form, document, session_blocks(session, study_lines(session)), width))
    sys.stdout.flush()
