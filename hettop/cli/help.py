"""`hettop help`: short pages on topics, a command's own help, the manual page."""

from __future__ import annotations

import argparse
import difflib
import shutil
import sys

from hettop.cli.commands import COMMANDS, parser_of
from hettop.cli.main import help_page
from hettop.cli.manual import manual
from hettop.cli.topics import TOPICS, page, topic_list
from hettop.errors import HettopError
from hettop.text import clean
from hettop.tui.charts.glyphs import to_ascii

WIDEST = 100


def run(arguments: argparse.Namespace) -> int:
    topic = arguments.topic
    if arguments.man:
        _print(manual())
    elif topic is None:
        _print(f"{help_page()}\n{topic_list()}")
    elif topic in TOPICS:
        _print(page(topic, min(WIDEST, max(40, shutil.get_terminal_size((WIDEST, 24)).columns))))
    elif topic in COMMANDS:
        _print(parser_of(topic).format_help())
    else:
        near = difflib.get_close_matches(topic, [*TOPICS, *COMMANDS], 1)
        mean = f"did you mean {near[0]}? " if near else ""
        raise HettopError("usage", f"no topic is called {clean(topic)!r}", f"{mean}there are: {', '.join(TOPICS)}")
    return 0


def _print(text: str) -> None:
    if not (sys.stdout.encoding or "ascii").lower().replace("-", "").startswith("utf"):
        text = "\n".join(map(to_ascii, text.split("\n")))
    sys.stdout.write(text)
