"""`hettop help`: pages on topics, a command's help, and the manual page in troff; `hettop version`."""

from __future__ import annotations

import argparse
import platform
import re
import shutil
import sys

from hettop.cli.commands import COMMAND_GROUPS, COMMANDS, LIVE, LIVE_TOPIC, Option, command_list, options_of, parser_of
from hettop.cli.topics import TOPICS, page, topic_list
from hettop.errors import HettopError
from hettop.report.terminal.glyphs import to_ascii
from hettop.text import clean, nearest
from hettop.version import __version__

WIDEST = 100


def run(arguments: argparse.Namespace) -> int:
    topic = arguments.topic
    if arguments.man:
        _print(manual())
    elif topic is None:
        _print(f"{topic_list()}\n{command_list()}\n{_MORE}")
    elif topic in TOPICS:
        _print(page(topic, min(WIDEST, max(40, shutil.get_terminal_size((WIDEST, 24)).columns))))
    elif topic in COMMANDS or topic == LIVE_TOPIC:
        _print(parser_of(LIVE if topic == LIVE_TOPIC else topic).format_help())
    else:
        near = nearest(topic, [*TOPICS, *COMMANDS])
        raise HettopError("usage", f"unknown topic: {clean(topic)!r}", f"{near} topics: {', '.join(TOPICS)}".strip())
    return 0


_MORE = """\
hettop help TOPIC      explain a topic
hettop help COMMAND    show a command's options
hettop help live       show the live view's options
"""


def run_version(arguments: argparse.Namespace) -> int:
    sys.stdout.write(f"hettop {__version__}\n")
    if arguments.verbose:
        sys.stdout.write(f"Python {platform.python_version()}, {platform.system()} {platform.machine()}\n")
    return 0


def _print(text: str) -> None:
    if not (sys.stdout.encoding or "ascii").lower().replace("-", "").startswith("utf"):
        text = "\n".join(map(to_ascii, text.split("\n")))
    sys.stdout.write(text)


_WIDTH = 78
_HEADING = "hettop \\- live latency, power and compute\\-unit profiler for Core ML and ONNX models"


def manual() -> str:
    """The whole page."""
    lines = [f'.TH HETTOP 1 "" "hettop {__version__}" "User Commands"', ".SH NAME", _HEADING, ".SH SYNOPSIS"]
    lines += [".B hettop", "[MODEL] [options]", ".br", ".B hettop", "COMMAND [options]"]
    lines += [".SH DESCRIPTION", *_description(parser_of(LIVE)), ".SH OPTIONS", *_options(options_of(LIVE))]
    lines.append(".SH COMMANDS")
    for command in (name for names in COMMAND_GROUPS.values() for name in names):
        parser = parser_of(command)
        lines += [f".SS {command}", *_description(parser), *_options(options_of(command))]
        if parser.epilog:
            lines += [".PP", *_text(parser.epilog)]
    for name in TOPICS:
        body = page(name, _WIDTH).split("\n\n", 1)[1]
        lines += [f'.SH "{name.upper()}"', ".nf", *_text(body, keep=True), ".fi"]
    return "\n".join(lines) + "\n"


def _description(parser: argparse.ArgumentParser) -> list[str]:
    words, _, examples = (parser.description or "").partition("\n\nexamples:\n")
    shown = [".PP", ".nf", *_text(examples, keep=True), ".fi"] if examples else []
    return [*_text(words), *shown]


def _options(options: list[Option]) -> list[str]:
    lines = []
    for option in options:
        takes = option.takes or ("{" + ",".join(option.choices) + "}" if option.choices else "")
        name = ", ".join(f"\\fB{_escaped(flag)}\\fR" for flag in option.flags)
        lines += [".TP", f"{name} \\fI{_escaped(takes)}\\fR".strip() if takes else name, *_text(option.words)]
    return lines


def _text(text: str, *, keep: bool = False) -> list[str]:
    """Lines of text, escaped for troff; paragraphs at empty lines, unless `keep`."""
    lines = [re.sub(r"^(?=[.'])", r"\\&", _escaped(line.rstrip())) for line in text.strip("\n").split("\n")]
    return lines if keep else [line or ".PP" for line in lines]


def _escaped(text: str) -> str:
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in plain)
