"""`hettop power`: power as it is drawn, or that of a capture: a table, one JSON document, or a JSON line each."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hettop.cli.options import duration_ns, make_parser
from hettop.errors import HettopError

if TYPE_CHECKING:
    from hettop.sources.power.file import FileSource

SUMMARY = "Tell the power of CPU, GPU and Neural Engine as it is drawn, or the power samples in a capture."
EXAMPLE = """\
  hettop power                          the best source of this machine, until Ctrl-C
  hettop power --duration 5s --json
  hettop power --source macmon --jsonl > power.jsonl
  hettop power --replay capture.plist   a capture of powermetrics (plist or text) or macmon

captures are made with:
  sudo powermetrics -s cpu_power,gpu_power,thermal -f plist -i 500 -n 20 > capture.plist
  macmon pipe -s 20 > capture.jsonl"""
NOTES = """\
Sources, best first: powermetrics (macOS, through sudo -n: run `sudo -v` before, on the same terminal), macmon, zeus
(pip install zeus-apple-silicon), rapl and hwmon (Linux); file:PATH plays a capture as fast as it was made. hettop never
asks for a password and never runs as root.
Power is in W (JSON: mW), the mean over the window before each sample; busy is a share of time, the mean over a
cluster's cores. What the source does not tell is n/a (JSON: null), never 0. `combined` is CPU + GPU + ANE as
powermetrics estimates it, never the whole system. Flags: suspect-zero (0 W for the CPU or a busy GPU: not measured),
partial (cut off), estimated (worked out from another quantity), inconsistent (`combined` far from CPU + GPU + ANE).
Without a terminal, and with --json, it ends after 5 s.
Exit codes: 0 measured, 2 no source works here (every reason is told), 3 it failed while running, 130 interrupted
(what was gathered is printed)."""


def run(argv: list[str]) -> int:
    arguments = _parser().parse_args(argv)
    if arguments.replay is None:
        return _measure(arguments)
    if arguments.source or arguments.duration or arguments.interval:
        raise HettopError("usage", "a capture has its own source and times", "leave out --source and --duration")
    from hettop.sources.power.file import FileSource

    source = FileSource(Path(arguments.replay))
    if arguments.as_lines:
        _print_lines(source)
    else:
        _print_all(source, as_json=arguments.as_json)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("power", SUMMARY, EXAMPLE, NOTES)
    parser.add_argument("--source", metavar="S", help="powermetrics, macmon, zeus, rapl, hwmon or file:PATH (the best)")
    parser.add_argument("--duration", type=duration_ns, metavar="5s", help="measure for so long")
    parser.add_argument(
        "--interval", type=duration_ns, metavar="500ms", help="a sample so often (500ms; powermetrics: always 500ms)"
    )
    parser.add_argument("--replay", metavar="FILE", help="a captured powermetrics plist or text, or lines of macmon")
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")
    shape.add_argument("--jsonl", dest="as_lines", action="store_true", help="print a JSON line for each sample")
    return parser


def _measure(arguments: argparse.Namespace) -> int:
    from hettop.cli.power_live import Request, measure
    from hettop.sources.host import describe_host
    from hettop.sources.power.feed import INTERVAL_NS
    from hettop.sources.power.machine import this_machine

    request = Request(
        source=arguments.source,
        duration_ns=arguments.duration,
        interval_ns=arguments.interval or INTERVAL_NS,
        shape="json" if arguments.as_json else "jsonl" if arguments.as_lines else "table",
        on_terminal=sys.stdout.isatty() and os.environ.get("TERM") != "dumb",
        width=shutil.get_terminal_size((100, 24)).columns,
    )
    return measure(request, this_machine(chip=describe_host().chip), sys.stdout, sys.stderr)


def _print_lines(source: FileSource) -> None:
    from hettop.sources.power.reading import lost_words

    for line in _lines(source):
        sys.stdout.write(line)
    if lost_words(source.lost):
        sys.stderr.write(f"hettop: dropped from the capture: {lost_words(source.lost)}\n")


def _lines(source: FileSource) -> Iterator[str]:
    import msgspec

    from hettop.sources.power.sample import as_document

    for sample in source.samples():
        yield msgspec.json.encode({"source": sample.source, **as_document(sample)}).decode() + "\n"


def _print_all(source: FileSource, *, as_json: bool) -> None:
    from hettop.report.document import to_json
    from hettop.sources.power.page import page
    from hettop.sources.power.reading import notes_of
    from hettop.sources.power.sample import as_document

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
