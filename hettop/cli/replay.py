"""`hettop replay`: play a recording in the screen it was made on, or print its statistics."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hettop.cli.screen import on_terminal, screen_options, serve, show
from hettop.console.signals import ScreenSignals
from hettop.errors import HettopError
from hettop.text import clean

if TYPE_CHECKING:
    from hettop.app.replay import ReplayFeed


def run(arguments: argparse.Namespace) -> int:
    path = Path(arguments.file)
    if arguments.serve is not None:
        if arguments.headless or arguments.as_json:
            raise HettopError("usage", "--serve shows a screen, and --headless has none", "leave one of them out")
        if not path.exists():
            raise HettopError("recording", f"there is no file {clean(arguments.file)}", "name a recording")
        return serve(arguments.command, arguments.serve)
    if arguments.headless or arguments.as_json or not on_terminal() or os.environ.get("TERM") == "dumb":
        return _headless(path, at_ns=arguments.at, as_json=arguments.as_json)
    return _on_screen(path, arguments)


def _headless(path: Path, *, at_ns: int | None, as_json: bool) -> int:
    from hettop.cli.printed import print_session
    from hettop.record.defects import Report
    from hettop.record.reader import fold, open_recording, read_events
    from hettop.session.session import Session

    report = Report()
    session = Session()
    file, header = open_recording(path)
    with file:
        session.fold(header)
        for event in read_events(file, report):
            if at_ns is not None and event.t > at_ns:
                break
            fold(session, event, report)
    print_session(session, as_json, skipped=report.skipped)
    return 0


def _on_screen(path: Path, arguments: argparse.Namespace) -> int:
    from hettop.record.is_study_only import is_study_only

    opened: list[ReplayFeed] = []
    alone = arguments.at is None and is_study_only(path)

    def begin() -> ReplayFeed:
        from hettop.app.replay import ReplayFeed

        opened.append(ReplayFeed(path, speed=arguments.speed, at_ns=arguments.at or 0, refold=arguments.refold))
        if alone:
            opened[0].to_end()
        return opened[0]

    with ScreenSignals() as signals:
        screen = screen_options(arguments)
        if alone:
            screen = replace(screen, preferences=replace(screen.preferences, screen="studies"))
        try:
            return show(begin, screen, signals=signals, replaying=True)
        finally:
            for feed in opened:
                feed.close()
