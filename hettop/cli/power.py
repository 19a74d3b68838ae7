"""`hettop power`: live power draw, or a capture, as a table, one JSON document, or JSON lines."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import msgspec

from hettop import events
from hettop.cli.commands import refuse
from hettop.console.messages import is_quiet, print_warning
from hettop.console.signals import stop_signals_ignored
from hettop.exits import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_WRONG_USE
from hettop.measurement.arguments import JSON_LINES
from hettop.report.document import head, to_json
from hettop.sources.host import describe_host
from hettop.sources.power.choice import chooser
from hettop.sources.power.feed import INTERVAL_NS, PowerFeed
from hettop.sources.power.file import FileSource, lost_words, notes_of
from hettop.sources.power.page import Stream, page
from hettop.sources.power.powermetrics import root_warning
from hettop.sources.power.sample import PowerSample, as_document, of_event
from hettop.sources.power.source import Machine, this_machine
from hettop.text import clean
from hettop.units import NS_PER_S


def run(arguments: argparse.Namespace) -> int:
    if arguments.replay is None:
        return _measure(arguments)
    refuse(arguments, ("power", "duration", "interval"), "with --replay")
    source = FileSource(Path(arguments.replay))
    if arguments.format == JSON_LINES:
        _print_lines(source)
    else:
        _print_all(source, as_json=arguments.as_json)
    return 0


def _measure(arguments: argparse.Namespace) -> int:
    request = Request(
        source=arguments.power,
        duration_ns=arguments.duration,
        interval_ns=arguments.interval or INTERVAL_NS,
        shape=arguments.format,
        on_terminal=sys.stdout.isatty() and os.environ.get("TERM") != "dumb",
        width=shutil.get_terminal_size((100, 24)).columns,
    )
    return measure(request, this_machine(chip=describe_host().chip), sys.stdout, sys.stderr)


def _print_lines(source: FileSource) -> None:
    for line in _lines(source):
        sys.stdout.write(line)
    if lost_words(source.lost):
        print_warning(f"skipped in the capture: {lost_words(source.lost)}")


def _lines(source: FileSource) -> Iterator[str]:
    for sample in source.samples():
        yield msgspec.json.encode({"source": sample.source, **as_document(sample)}).decode() + "\n"


def _print_all(source: FileSource, *, as_json: bool) -> None:
    samples = list(source.samples())
    notes = notes_of(samples, source.lost)
    if as_json:
        document = {
            **head("power"),
            "source": source.format,
            "samples": [as_document(sample) for sample in samples],
            "notes": notes,
            "skipped": dict(source.lost),
        }
        sys.stdout.write(to_json(document) + "\n")
    else:
        sys.stdout.write(page(str(source.format), samples, notes, shutil.get_terminal_size((100, 24)).columns))


LOOK_EVERY_S = 0.05
MOST_FAILURES = 3  # without a single sample
FIRST_SAMPLE_NS = 20 * NS_PER_S  # as patient as the feed is with a source that starts
USUAL_NS = 5 * 10**9  # without a terminal to end it
WITHOUT_HOPE = ("unavailable", "expired")


@dataclass(frozen=True, slots=True)
class Request:
    """The options. `shape` is `table`, `json` or `jsonl`; `duration_ns` None: until it is interrupted."""

    source: str | None = None
    duration_ns: int | None = None
    interval_ns: int = INTERVAL_NS
    shape: str = "table"
    on_terminal: bool = False
    width: int = 100

    @property
    def limit_ns(self) -> int | None:
        """A table or a document ends by itself where no terminal can interrupt it."""
        endless = self.shape == "jsonl" or (self.shape == "table" and self.on_terminal)
        return self.duration_ns if self.duration_ns or endless else USUAL_NS


@dataclass(slots=True)
class Gathered:
    """The samples so far, and the last status of the source."""

    samples: list[PowerSample] = field(default_factory=list)
    n: int = 0
    elapsed_ns: int = 0
    failures: int = 0
    status: events.PowerStatus | None = None
    running: events.PowerStatus | None = None


def measure(
    request: Request,
    machine: Machine,
    out: TextIO,
    err: TextIO,
    pause: Callable[[float], object] = time.sleep,
) -> int:
    """Print samples until there are enough, there will be no more, or an interrupt; returns the exit code.

    Raises HettopError (`usage`) for an unknown source.
    """
    choose = chooser(request.source, machine)
    warning = root_warning(machine.euid, machine.system)
    if warning is not None:
        err.write(f"warning: {warning}\n")
    feed = PowerFeed(choose, interval_ns=request.interval_ns, now=machine.now)
    printer = _Printer(request, out, err)
    interrupted = False
    try:
        _gather(feed, machine, printer, pause)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        with stop_signals_ignored():
            feed.close()
    with stop_signals_ignored():
        printer.end()
        return EXIT_INTERRUPTED if interrupted else _exit_code(printer.gathered, err)


def _gather(feed: PowerFeed, machine: Machine, printer: _Printer, pause: Callable[[float], object]) -> None:
    while True:
        for event in feed.drain(machine.now()):
            printer.receive(event)
            if printer.enough:
                return
        if printer.out_of_time(machine.now()):
            return
        pause(LOOK_EVERY_S)


class _Printer:
    """Prints events in the format of the request, until there are enough."""

    def __init__(self, request: Request, out: TextIO, err: TextIO) -> None:
        self.gathered = Gathered()
        self._request, self._out, self._err = request, out, err
        self._stream = Stream()
        self._began_ns: int | None = None
        self._first_ns: int | None = None

    @property
    def enough(self) -> bool:
        found, limit = self.gathered, self._request.limit_ns
        if found.status is not None and found.status.state in (*WITHOUT_HOPE, "stopped"):
            return True
        if found.failures >= MOST_FAILURES:
            return True
        return limit is not None and found.n > 0 and found.elapsed_ns >= limit - self._interval_ns // 2

    @property
    def _interval_ns(self) -> int:
        running = self.gathered.running
        return self._request.interval_ns if running is None else running.interval_ns or 0

    def out_of_time(self, now_ns: int) -> bool:
        """Whether the requested time has passed, even if samples cover less of it."""
        limit, found = self._request.limit_ns, self.gathered
        if self._began_ns is None:
            self._began_ns = now_ns
        if found.n and self._first_ns is None:
            self._first_ns = now_ns
        if limit is None:
            return False
        if self._first_ns is None:
            if now_ns - self._began_ns <= limit + FIRST_SAMPLE_NS:
                return False
            self._print("error", f"no sample within {(now_ns - self._began_ns) / NS_PER_S:.3g} s")
            return True
        if now_ns - self._first_ns <= limit + self._interval_ns:
            return False
        covered, passed = found.elapsed_ns / NS_PER_S, (now_ns - self._first_ns) / NS_PER_S
        self._print("warning", f"ended after {passed:.3g} s: samples cover {covered:.3g} s")
        return True

    def receive(self, event: events.Power | events.PowerStatus) -> None:
        if isinstance(event, events.PowerStatus):
            self._receive_status(event)
            return
        sample = of_event(event)
        found = self.gathered
        found.n, found.failures, found.elapsed_ns = found.n + 1, 0, found.elapsed_ns + event.elapsed_ns
        if self._request.shape == "jsonl":
            line = msgspec.json.encode({"source": sample.source, **as_document(sample)}).decode()
            self._out.write(line + "\n")
        elif self._streams:
            self._out.write(self._stream.row(sample))
        else:
            found.samples.append(sample)
        self._out.flush()

    def end(self) -> None:
        """Print what needs all samples."""
        found = self.gathered
        if self._streams:
            self._out.write(self._stream.end())
        elif self._request.shape == "json" and found.n:
            document = {
                **head("power"),
                "source": self._source,
                "samples": [as_document(sample) for sample in found.samples],
                "notes": self._notes,
                "skipped": {},
                "refused": dict(found.running.refused) if found.running else {},
            }
            self._out.write(to_json(document) + "\n")
        elif self._request.shape == "table" and found.n:
            self._out.write(page(self._source, found.samples, self._notes, self._request.width))
        self._out.flush()

    def _receive_status(self, status: events.PowerStatus) -> None:
        found = self.gathered
        found.status = status
        if status.state == "running":
            found.running = status
            if self._request.on_terminal:
                self._print("", f"power from {status.source}" + (f": {status.reason}" if status.reason else ""))
        elif status.state == "failed":
            found.failures += 1
            self._print("error", f"{status.source} failed: {status.reason}")
        elif status.state in WITHOUT_HOPE and found.n:
            self._print("warning", f"{status.source} {status.state}: {status.reason}")

    def _print(self, kind: str, text: str) -> None:
        if is_quiet() and kind != "error":
            return
        self._err.write(f"{kind}: {clean(text, 400)}\n" if kind else f"{clean(text, 400)}\n")
        self._err.flush()

    @property
    def _streams(self) -> bool:
        return self._request.shape == "table" and self._request.on_terminal

    @property
    def _source(self) -> str:
        return self.gathered.running.source if self.gathered.running else "none"

    @property
    def _notes(self) -> list[str]:
        running = self.gathered.running
        return [*([running.reason] if running and running.reason else []), *notes_of(self.gathered.samples, {})]


def _exit_code(found: Gathered, err: TextIO) -> int:
    if found.n:
        return 0
    status = found.status
    if status is None or status.state == "failed":
        return EXIT_FAILED  # the error is printed
    for line in _why_none(status):
        err.write(f"{clean(line, 400)}\n")
    return EXIT_WRONG_USE


def _why_none(status: events.PowerStatus) -> Iterator[str]:
    """The reason of every source, a line each."""
    if len(status.refused) > 1:
        yield "error: no power source works here"
        for name, reason in status.refused.items():
            yield f"  {name}: {reason}"
    else:
        yield f"error: no power from {status.source}: {status.reason or 'no sample'}"
    if status.fix:
        yield f"hint: {status.fix}"
