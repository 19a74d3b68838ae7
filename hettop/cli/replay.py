"""`hettop replay`: replay a recording in the UI, or print its statistics."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hettop.cli.commands import refuse
from hettop.cli.screen import on_terminal, screen_options, serve, show
from hettop.console.messages import warn_of_damage
from hettop.console.signals import ScreenSignals
from hettop.errors import HettopError
from hettop.record.moments import length_of
from hettop.text import clean
from hettop.units import NS_PER_S

if TYPE_CHECKING:
    from hettop.app.replay import ReplayFeed


PRINTED = ("format", "output")
FOR_SCREEN = ("speed", "theme", "fps", "ascii", "refold")


def run(arguments: argparse.Namespace) -> int:
    path = Path(arguments.file)
    if arguments.serve is not None:
        refuse(arguments, ("headless", *PRINTED), "with --serve")
        if not path.exists():
            raise HettopError("recording", f"no such file: {clean(arguments.file)}", "name a recording")
        return serve(arguments.command, arguments.serve)
    asked = arguments.headless or any(name in arguments.given for name in PRINTED)
    if asked or not on_terminal() or os.environ.get("TERM") == "dumb":
        if asked:
            refuse(arguments, FOR_SCREEN, "without the UI")
        return _headless(path, arguments)
    return _on_screen(path, arguments)


def _headless(path: Path, arguments: argparse.Namespace) -> int:
    from hettop.cli.printed import print_session
    from hettop.record.defects import Report
    from hettop.record.reader import fold, open_recording, read_events
    from hettop.session.session import Session

    report = Report()
    session = Session()
    at_ns = None if arguments.at is None else moment_in(path, arguments.at)
    file, header = open_recording(path)
    with file:
        session.fold(header)
        for event in read_events(file, report, check_crc=True):
            if at_ns is not None and event.t > at_ns:
                break
            fold(session, event, report)
    print_session(session, arguments.format, report)
    warn_of_damage(report, path)
    return 0


def moment_in(path: Path, text: str) -> int:
    """The moment in ns that `--at` names. Raises HettopError (`usage`) for one after the end of the recording."""
    end_ns = end_of(path)
    if length_of(text, end_ns) > end_ns:
        raise HettopError(
            "usage", f"--at is after the end of the recording: {clean(text)}", f"it ends at {end_ns / NS_PER_S:.1f}s"
        )
    return length_of(text, end_ns)


def end_of(path: Path) -> int:
    """When the recording ends, in ns. Raises HettopError (`recording`)."""
    from hettop.record.player import Player

    player = Player(path)
    try:
        return player.duration_ns
    finally:
        player.close()


def _on_screen(path: Path, arguments: argparse.Namespace) -> int:
    from hettop.record.is_study_only import is_study_only

    opened: list[ReplayFeed] = []
    alone = arguments.at is None and is_study_only(path)

    def begin() -> ReplayFeed:
        from hettop.app.replay import ReplayFeed

        at_ns = 0 if arguments.at is None else moment_in(path, arguments.at)
        opened.append(ReplayFeed(path, speed=arguments.speed, at_ns=at_ns, refold=arguments.refold))
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
