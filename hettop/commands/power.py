"""`hettop power`: the power samples in a capture, as a table, one JSON document, or a JSON line each."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hettop.commands.options import make_parser
from hettop.errors import HettopError

if TYPE_CHECKING:
    from hettop.power.source import FileSource

SUMMARY = "Tell the power samples in a capture of powermetrics (plist or text) or macmon. Nothing is measured."
EXAMPLE = """\
  hettop power --replay capture.plist
  hettop power --replay capture.plist --json
  hettop power --replay capture.jsonl --jsonl

captures are made with:
  sudo powermetrics -s cpu_power,gpu_power,thermal -f plist -i 500 -n 20 > capture.plist
  macmon pipe -s 20 > capture.jsonl"""
NOTES = """\
Power is in W (JSON: mW), the mean over the window before each sample; busy is a share of time, the mean over a
cluster's cores. What the capture does not tell is n/a (JSON: null), never 0. `combined` is CPU + GPU + ANE as
powermetrics estimates it, never the whole system. Flags: suspect-zero (0 W while cores were busy), partial (cut off),
estimated (worked out from another quantity)."""


def run(argv: list[str]) -> int:
    arguments = _parser().parse_args(argv)
    if arguments.replay is None:
        raise HettopError(
            "usage",
            "no live power source yet: this version reads captures only",
            "hettop power --replay FILE reads what powermetrics or macmon wrote; see hettop power --help",
        )
    from hettop.power.source import FileSource

    source = FileSource(Path(arguments.replay))
    if arguments.as_lines:
        _print_lines(source)
    else:
        _print_all(source, as_json=arguments.as_json)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("power", SUMMARY, EXAMPLE, NOTES)
    parser.add_argument("--replay", metavar="FILE", help="a captured powermetrics plist or text, or lines of macmon")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")
    shape.add_argument("--jsonl", dest="as_lines", action="store_true", help="print a JSON line for each sample")
    return parser


def _print_lines(source: FileSource) -> None:
    from hettop.power.reading import lost_words

    for line in _lines(source):
        sys.stdout.write(line)
    if lost_words(source.lost):
        sys.stderr.write(f"hettop: dropped from the capture: {lost_words(source.lost)}\n")


def _lines(source: FileSource) -> Iterator[str]:
    import msgspec

    from hettop.power.sample import as_document

    for sample in source.samples():
        yield msgspec.json.encode({"source": sample.source, **as_document(sample)}).decode() + "\n"


def _print_all(source: FileSource, *, as_json: bool) -> None:
    from hettop.power.page import page
    from hettop.power.reading import notes_of
    from hettop.power.sample import as_document
    from hettop.report.document import to_json

    samples = list(source.samples())
    notes = notes_of(samples, source.lost)
    if as_json:
        document = {
            "source": source.format,
            "samples": [as_document(sample) for sample in samples],
            "notes": notes,
            "skipped": dict(source.lost),
        }
        sys.stdout.write(to_json(document) + "\n")
    else:
        sys.stdout.write(page(str(source.format), samples, notes, shutil.get_terminal_size((100, 24)).columns))
