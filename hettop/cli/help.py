"""`hettop help`: short pages on topics, a command's own help, the manual page."""

from __future__ import annotations

import argparse
import difflib
import shutil
import sys

from hettop.cli.main import COMMANDS, help_page
from hettop.cli.options import make_parser
from hettop.errors import HettopError
from hettop.text import clean

SUMMARY = "Explain a topic, or print a command's own help."
EXAMPLE = """\
  hettop help                    all commands and topics
  hettop help percentiles
  hettop help bench              as hettop bench --help
  hettop help --man > hettop.1   the manual page"""
WIDEST = 100


def run(argv: list[str]) -> int:
    from hettop.cli.topics import TOPICS, page

    arguments = _parser().parse_args(argv)
    topic = arguments.topic
    if arguments.man:
        from hettop.cli.manual import manual

        _print(manual())
    elif topic is None:
        _print(f"{help_page()}\n{_listed()}")
    elif topic in TOPICS:
        _print(page(topic, min(WIDEST, max(40, shutil.get_terminal_size((WIDEST, 24)).columns))))
    elif topic in COMMANDS:
        from hettop.cli.parsers import parser_of

        _print(parser_of(topic).format_help())
    else:
        near = difflib.get_close_matches(topic, [*TOPICS, *COMMANDS], 1)
        mean = f"did you mean {near[0]}? " if near else ""
        raise HettopError("usage", f"no topic is called {clean(topic)!r}", f"{mean}there are: {', '.join(TOPICS)}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("help", SUMMARY, EXAMPLE, _listed())
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("topic", nargs="?", metavar="TOPIC", help="a topic or a command")
    choice.add_argument("--man", action="store_true", help="print the manual page, in troff")
    return parser


def _listed() -> str:
    from hettop.cli.topics import TOPICS

    return "topics:\n" + "".join(f"  {name:<12} {topic.summary}\n" for name, topic in TOPICS.items())


def _print(text: str) -> None:
    from hettop.tui.charts.glyphs import to_ascii

    if not (sys.stdout.encoding or "ascii").lower().replace("-", "").startswith("utf"):
        text = "\n".join(map(to_ascii, text.split("\n")))
    sys.stdout.write(text)
