"""`hettop report`: a report on one recording or several, as text, as Markdown or as one HTML page."""

from __future__ import annotations

import argparse
import shutil
import sys

from hettop.app.recording_page import recordings_page
from hettop.console.messages import warn_of_damage
from hettop.errors import HettopError
from hettop.measurement.arguments import HTML, TABLE
from hettop.record.opened import open_recording
from hettop.report.html_page import html_page
from hettop.report.markdown_page import markdown_page
from hettop.report.terminal.blocks import page_text

MOST_FILES = 16


def run(arguments: argparse.Namespace) -> int:
    if len(arguments.files) > MOST_FILES:
        raise HettopError("usage", f"too many recordings: {len(arguments.files)}", f"the limit is {MOST_FILES}")
    recordings = [open_recording(name) for name in arguments.files]  # all of them, before any is read to its end
    page = recordings_page(recordings)
    if arguments.format == TABLE and (
        "format" in arguments.given or arguments.output is not None or sys.stdout.isatty()
    ):
        sys.stdout.write(page_text(page, shutil.get_terminal_size().columns))
    else:
        sys.stdout.write(html_page(page) if arguments.format == HTML else markdown_page(page))
    for recording in recordings:
        warn_of_damage(recording.report, recording.path)
    return 0
