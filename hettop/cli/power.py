"""`hettop power`: power as it is drawn, or that of a capture: a table, one JSON document, or a JSON line each."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from hettop.cli.power_live import Request, measure
from hettop.errors import HettopError
from hettop.report.document import to_json
from hettop.sources.host import describe_host
from hettop.sources.power.feed import INTERVAL_NS
from hettop.sources.power.file import FileSource
from hettop.sources.power.machine import this_machine
from hettop.sources.power.page import page
from hettop.sources.power.reading import lost_words, notes_of
from hettop.sources.power.sample import as_document


def run(arguments: argparse.Namespace) -> int:
    if arguments.replay is None:
        return _measure(arguments)
    if arguments.source or arguments.duration or arguments.interval:
        raise HettopError("usage", "a capture has its own source and times", "leave out --source and --duration")
    source = FileSource(Path(arguments.replay))
    if arguments.as_lines:
        _print_lines(source)
    else:
        _print_all(source, as_json=arguments.as_json)
    return 0


def _measure(arguments: argparse.Namespace) -> int:
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
    for line in _lines(source):
        sys.stdout.write(line)
    if lost_words(source.lost):
        sys.stderr.write(f"hettop: dropped from the capture: {lost_words(source.lost)}\n")


def _lines(source: FileSource) -> Iterator[str]:
    for sample in source.samples():
        yield msgspec.json.encode({"source": sample.source, **as_document(sample)}).decode() + "\n"


def _print_all(source: FileSource, *, as_json: bool) -> None:
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
