"""`hettop report`: a report on one recording or several, as Markdown or as one HTML page."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from hettop.app.recording_page import recordings_page
from hettop.errors import HettopError
from hettop.export.formats import Files
from hettop.record.opened import open_recording
from hettop.report.html_page import html_page
from hettop.report.markdown_page import markdown_page
from hettop.report.page import Page
from hettop.report.terminal.blocks import page_text
from hettop.text import clean

MOST_FILES = 16
MARKDOWN, HTML = (".md", ".markdown"), (".html", ".htm")
BEGINNINGS = {"md": (b"# ",), "html": (b"<!doctype html>\n<!-- hettop",)}


def run(arguments: argparse.Namespace) -> int:
    kind = _kind(arguments.output)
    if len(arguments.files) > MOST_FILES:
        raise HettopError("usage", f"too many recordings: {len(arguments.files)}", f"the limit is {MOST_FILES}")
    if arguments.output is None:
        page = _page(arguments.files)
        for_people = sys.stdout.isatty()
        sys.stdout.write(page_text(page, shutil.get_terminal_size().columns) if for_people else _rendered(page, kind))
        return 0
    out = Path(arguments.output)
    with Files(out, BEGINNINGS[kind], force=arguments.force) as files:
        files.main().write(_rendered(_page(arguments.files), kind).encode())
    sys.stdout.write(f"{clean(os.fspath(out))}\n")
    return 0


def _kind(output: str | None) -> str:
    suffix = MARKDOWN[0] if output is None else Path(output).suffix.lower()
    if suffix in MARKDOWN:
        return "md"
    if suffix in HTML:
        return "html"
    raise HettopError(
        "usage", f"no report format for this file name: {clean(output or '')!r}", "name a .md or .html file"
    )


def _page(names: list[str]) -> Page:
    recordings = [open_recording(name) for name in names]  # all of them, before any is read to its end
    return recordings_page(recordings)


def _rendered(page: Page, kind: str) -> str:
    if kind == "html":
        return html_page(page)
    return markdown_page(page)
