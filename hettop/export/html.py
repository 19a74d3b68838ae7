"""The HTML report of one recording.

Everything it says is made by `hettop.report`.
"""

from __future__ import annotations

from hettop.export.formats import Target
from hettop.export.telling import tell
from hettop.record.opened import Recording
from hettop.report.html_page import html_page
from hettop.report.story import page_of


def export(recording: Recording, target: Target) -> None:
    target.main().write(html_page(page_of([tell(recording)])).encode())
