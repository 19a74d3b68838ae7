"""`hettop replay`: play a recording in the screen it was made on, or print its statistics."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hettop.cli.options import duration_ns, make_parser, on_terminal
from hettop.cli.screen import add_screen_options, screen_options
from hettop.cli.serving import add_serve_option, serve
from hettop.errors import HettopError
from hettop.text import clean

if TYPE_CHECKING:
    from hettop.app.replay import ReplayFeed

SUMMARY = "Play a recording in the same screen, or print the same table as the session that made it."
EXAMPLE = """\
  hettop replay session.jsonl                  play; space pauses, arrows seek, < > change the speed
  hettop replay session.jsonl --at 90s --speed 4
  hettop replay session.jsonl --headless --json"""


def run(argv: list[str]) -> int:
    arguments = _parser().parse_args(argv)
    path = Path(arguments.file)
    if arguments.serve is not None:
        if arguments.headless or arguments.as_json:
            raise HettopError("usage", "--serve shows a screen, and --headless has none", "leave one of them out")
        if not path.exists():
            raise HettopError("recording", f"there is no file {clean(arguments.file)}", "name a recording")
        return serve("replay", argv, arguments.serve)
    if arguments.headless or arguments.as_json or not on_terminal() or os.environ.get("TERM") == "dumb":
        return _headless(path, at_ns=arguments.at, as_json=arguments.as_json)
    return _on_screen(path, arguments)


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("replay", SUMMARY, EXAMPLE)
    parser.add_argument("file", metavar="FILE", help="a recording (JSON Lines, as --record writes it)")
    parser.add_argument("--speed", type=_speed, default=1.0, metavar="N", help="play N times as fast (0.25 to 64)")
    parser.add_argument("--at", type=duration_ns, metavar="90s", help="the moment to begin at; headless: to stop at")
    parser.add_argument(
        "--refold", action="store_true", help="compute from the start, not from states that the recording holds"
    )
    parser.add_argument("--headless", action="store_true", help="print the table instead of playing")
    parser.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")
    add_screen_options(parser)
    add_serve_option(parser)
    return parser


def _speed(text: str) -> float:
    try:
        value = float(text.lower().removesuffix("x"))
    except ValueError:
        value = 0.0
    if not 0.25 <= value <= 64:
        raise argparse.ArgumentTypeError(f"{text!r} is no speed; give 0.25 to 64")
    return value


def _headless(path: Path, *, at_ns: int | None, as_json: bool) -> int:
    from hettop.cli.bench import print_session
    from hettop.record.defects import Report
    from hettop.record.folding import fold
    from hettop.record.reader import open_recording, read_events
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
    from hettop.cli.closing import Endings
    from hettop.cli.screen import show
    from hettop.record.is_study_only import is_study_only

    opened: list[ReplayFeed] = []
    alone = arguments.at is None and is_study_only(path)

    def begin() -> ReplayFeed:
        from hettop.app.replay import ReplayFeed

        opened.append(ReplayFeed(path, speed=arguments.speed, at_ns=arguments.at or 0, refold=arguments.refold))
        if alone:
            opened[0].to_end()
        return opened[0]

    with Endings() as endings:
        screen = screen_options(arguments)
        if alone:
            screen = replace(screen, preferences=replace(screen.preferences, room="studies"))
        try:
            return show(begin, screen, endings=endings, replaying=True)
        finally:
            for feed in opened:
                feed.close()
