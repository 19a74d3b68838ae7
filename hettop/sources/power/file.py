"""The source that plays a captured file: what powermetrics or macmon printed, at once or as fast as it was made.

The first bytes decide the kind of capture; anything else is refused with a reason. Time is passed in.
"""

from __future__ import annotations

import os
import re
import select
import stat
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from io import FileIO
from pathlib import Path
from typing import Protocol

import msgspec

from hettop.errors import HettopError
from hettop.sources.power.macmon import MacmonParser
from hettop.sources.power.plist import SOURCE as POWERMETRICS
from hettop.sources.power.plist import PlistParser
from hettop.sources.power.sample import (
    BATTERY_ONLY,
    ESTIMATED,
    INCONSISTENT,
    PARTIAL,
    POWERMETRICS_STEP_MJ,
    RAILS,
    SUMMARY,
    SUSPECT_ZERO,
    PowerSample,
)
from hettop.sources.power.source import Availability
from hettop.sources.power.text import HEADER, TextParser, is_figure
from hettop.text import clean
from hettop.units import NS_PER_S

CHUNK = 64 << 10
PIPE_PATIENCE_S = 10.0
"""Until the first byte: what writes to a pipe was started before, or is by now. Later pauses may be of any length."""


class FileSource:
    """A capture of powermetrics (plist or text) or of macmon, at once or `speed` times as fast as it was made.

    `wait` pauses for so many seconds, or until the source is stopped; by default it really does.
    """

    name = "file"

    def __init__(
        self,
        path: Path,
        speed: float | None = None,
        wait: Callable[[float], object] | None = None,
        pipe_patience_s: float = PIPE_PATIENCE_S,
    ) -> None:
        self._path, self._pipe_patience_s = path, pipe_patience_s
        self._speed = speed
        self._stopped = threading.Event()
        self._wait = wait or self._stopped.wait
        self._lost: Counter[str] = Counter()
        self._format: str | None = None

    @property
    def format(self) -> str | None:
        """What made the capture (`powermetrics`, `macmon`); None before the first sample was asked for."""
        return self._format

    @property
    def resolution_mj(self) -> float | None:
        return POWERMETRICS_STEP_MJ if self._format == POWERMETRICS else None

    @property
    def note(self) -> str:
        made_by = f" of {self._format}" if self._format else ""
        return f"plays the capture{made_by} {clean(self._path.name, 80)}: not measured on this machine now"

    def granted_ns(self, asked_ns: int) -> int | None:  # noqa: ARG002 - its windows are what they are
        return None

    @property
    def lost(self) -> Counter[str]:
        """What gave no sample so far, by reason."""
        return self._lost

    def probe(self) -> Availability:
        """Whether the file can be read and begins like a capture."""
        try:
            with _open(self._path, self._pipe_patience_s) as file:
                _recognise(file, self._path.name)
        except HettopError as error:
            return Availability(False, error.message, error.hint, impossible=True)
        return Availability(True)

    def samples(self, interval_ns: int = 0) -> Generator[PowerSample, None, None]:
        """All samples of the file, in order; its windows are what they are, whatever `interval_ns` asks for.

        Raises HettopError (`missing`, `input`, `io`, `format`) for a file that cannot be read or holds no sample.
        """
        del interval_ns
        self._stopped.clear()
        n = 0
        with _open(self._path, self._pipe_patience_s) as file:
            head, parser = _recognise(file, self._path.name)
            self._format, self._lost = parser.source, parser.lost
            for sample in _parse(file, head, parser):
                self._pace(sample)
                if self._stopped.is_set():
                    return
                n += 1
                yield sample
        if not n:
            raise nothing_found(self._path.name, parser.lost)

    def stop(self) -> None:
        """End `samples` before its next one, also while it waits."""
        self._stopped.set()

    def _pace(self, sample: PowerSample) -> None:
        if self._speed is not None and sample.elapsed_ns is not None:
            self._wait(sample.elapsed_ns / NS_PER_S / self._speed)


def _open(path: Path, pipe_patience_s: float) -> FileIO:
    shown = clean(path.name or str(path), 80)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            raise HettopError("input", f"{shown} is not a file", "pass the file with the capture")
        return _open_pipe(path, shown, pipe_patience_s) if stat.S_ISFIFO(mode) else FileIO(path)
    except FileNotFoundError:
        raise HettopError("missing", f"file not found: {shown}", f"create a capture with: {CAPTURE}") from None
    except (OSError, ValueError) as error:
        words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise HettopError("io", f"cannot read {shown}: {words}", "check its permissions") from None


def _open_pipe(path: Path, shown: str, patience_s: float) -> FileIO:
    """Open a pipe without waiting for its writer, which must then begin to write soon."""
    file = FileIO(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    if not select.select([file], [], [], patience_s)[0]:
        file.close()
        raise HettopError("input", f"no data from the pipe {shown} for {patience_s:g} s", "start the writer first")
    os.set_blocking(file.fileno(), True)
    return file


def _recognise(file: FileIO, name: str) -> tuple[bytes, CaptureParser]:
    """The bytes read so far, and the parser for them."""
    recogniser = Recogniser()
    parser = None
    while parser is None:
        part = _read(file, name)
        parser = recogniser.feed(part)
        if parser is None and (not part or len(recogniser.head) >= HEAD_LIMIT):
            parser = recogniser.finish()
            if parser is None:
                raise refusal(name, bytes(recogniser.head))
    return bytes(recogniser.head), parser


def _parse(file: FileIO, head: bytes, parser: CaptureParser) -> Iterator[PowerSample]:
    part, others = head, FormatCounter(parser)
    while part:
        others.feed(part)
        yield from parser.feed(part)
        part = _read(file, "the capture")
    yield from parser.finish()


def _read(file: FileIO, name: str) -> bytes:
    try:
        return file.read(CHUNK)
    except OSError as error:
        raise HettopError("io", f"cannot read {clean(name, 80)}: {error.strerror}", "copy it again") from None


HEAD_LIMIT = 64 << 10  # noise before the first sample is a line or two
CAPTURE = "sudo powermetrics -s cpu_power,gpu_power,thermal -f plist -i 500 -n 20 > capture.plist"
_HINT = f"create a capture with: {CAPTURE}; or macmon pipe -s 20 > capture.jsonl"
_TEXT_MARKS = (HEADER, b"*** Summary system activity", b"Machine model:")
_PLIST_MARK = b"<plist"
# How a sample of each format begins. JSON has no mark of its own: this key is in every object of macmon.
_MACMON_MARK = b'"cpu_power"'
_MARKS = {PlistParser: _PLIST_MARK, TextParser: HEADER, MacmonParser: _MACMON_MARK}
OTHER_FORMAT = "in another format"
BLANKS = b"\0 \r\n\t"
_PRINTABLE = re.compile(rb"[\x09\x0a\x0d\x20-\x7e\x80-\xff]")
# What stands in a capture when nothing was captured.
_REFUSALS = {
    b"must be invoked as the superuser": "powermetrics must be run with sudo",
    b"a password is required": "sudo needed a password",
    b"unrecognized sampler": "this macOS does not have one of the samplers",
    b"command not found": "the command was not found",
}


class CaptureParser(Protocol):
    """Bytes in, samples out; `lost` counts what gave no sample, by reason."""

    source: str
    lost: Counter[str]

    def feed(self, data: bytes) -> list[PowerSample]: ...

    def finish(self) -> list[PowerSample]: ...


class Recogniser:
    """Finds the parser for a capture by its first lines, reading each line once."""

    def __init__(self) -> None:
        self.head = bytearray()
        self._line_at = 0
        self._macmon = MacmonParser()

    def feed(self, part: bytes) -> CaptureParser | None:
        """The parser, or None while no line of a capture has been seen. Blanks before the first line say nothing."""
        searched = len(self.head)
        self.head += part if self.head else part.lstrip(BLANKS)
        while (end := self.head.find(b"\n", searched)) >= 0:
            parser = self._parser_for(bytes(self.head[self._line_at : end + 1]))
            if parser is not None:
                return parser
            self._line_at = searched = end + 1
        return None

    def finish(self) -> CaptureParser | None:
        """What the last line says, of which no more is read."""
        return self._parser_for(bytes(self.head[self._line_at :]) + b"\n")

    def _parser_for(self, line: bytes) -> CaptureParser | None:
        text_at = min((at for at in map(line.find, _TEXT_MARKS) if at >= 0), default=len(line))
        if 0 <= line.find(_PLIST_MARK) < text_at:
            return PlistParser()
        if text_at < len(line) or is_figure(line.decode("utf-8", "replace").strip("\0 \r\t\n")):
            return TextParser()
        return MacmonParser() if self._macmon.feed(line) else None


class FormatCounter:
    """Counts the samples in other formats than the one that is read: two captures in one file, say."""

    def __init__(self, parser: CaptureParser) -> None:
        self._lost = parser.lost
        self._marks = [mark for kind, mark in _MARKS.items() if not isinstance(parser, kind)]
        self._tail = b""

    def feed(self, part: bytes) -> None:
        """Adds what `part` holds to the parser's `lost`; a mark may begin in the part before."""
        data = self._tail + part
        longest = max(map(len, self._marks))
        for mark in self._marks:
            n = data.count(mark, max(0, len(self._tail) - len(mark) + 1))
            if n:
                self._lost[OTHER_FORMAT] += n
        self._tail = data[1 - longest :]


def refusal(name: str, head: bytes) -> HettopError:
    """Why the file `name`, which begins with `head`, is not a capture."""
    shown = clean(name, 80)
    if not head.strip(BLANKS):
        return HettopError("format", f"empty capture: {shown}", _HINT)
    for mark, words in _REFUSALS.items():
        if mark in head:
            return HettopError("format", f"no sample in {shown}: {words}", _HINT)
    document = _json(head.split(b"\n")[0])
    if isinstance(document, dict) and document.get("format") == "hettop":
        return HettopError("format", f"{shown} is a hettop recording, not a capture", f"hettop replay {shown}")
    if head.startswith((b"{", b"[")) and _MACMON_MARK in head:
        hint = f"print one object per line: jq -c '.. | select(.cpu_power?)' {shown}"
        return HettopError("format", f"{shown} is JSON from macmon, but not one object per line", hint)
    return HettopError("format", f"{shown} {_looks(head, document)}", _HINT)


def _looks(head: bytes, document: object) -> str:
    if head.startswith(b"bplist"):
        return "is a binary property list; powermetrics writes XML"
    if isinstance(document, dict):
        return "is JSON, but not macmon's"
    if len(_PRINTABLE.findall(head)) < 0.9 * len(head):
        return "is binary data"
    if b"\n" not in head and len(head) >= HEAD_LIMIT:
        return f"begins with a line of over {HEAD_LIMIT >> 10} kB, which neither powermetrics nor macmon prints"
    return "is text, but not from powermetrics or macmon"


def nothing_found(name: str, lost: Mapping[str, int]) -> HettopError:
    """The error for a file that looked like a capture but contains no sample."""
    shown, reasons = clean(name, 80), {reason for reason, n in lost.items() if n}
    if reasons == {SUMMARY}:
        return HettopError("format", f"no sample in {shown}, only a summary of the whole run", _HINT)
    if reasons == {BATTERY_ONLY}:
        return HettopError("format", f"no power sample in {shown}, only battery readings", _HINT)
    why = lost_words(lost)
    return HettopError("format", f"no complete sample in {shown}" + (f": {why}" if why else ""), _HINT)


def lost_words(lost: Mapping[str, int]) -> str:
    """`2 torn, 1 unreadable`."""
    return ", ".join(f"{n} {why}" for why, n in sorted(lost.items()) if n)


def notes_of(samples: Sequence[PowerSample], lost: Mapping[str, int]) -> list[str]:
    """Notes on the samples: which figures are absent and why, and which are doubtful."""
    if not samples:
        return []
    rails = [rail for rail in RAILS if any(sample.mw[rail] is not None for sample in samples)]
    absent = [rail for rail in RAILS if rail not in rails]
    notes = [f"n/a, not in this capture: {', '.join(absent)}"] if absent else []
    clusters = any(sample.clusters for sample in samples)
    if not clusters and rails == ["package"]:
        notes.append("an Intel Mac reports package power only")
    elif not clusters and "cpu" not in rails and not any(PARTIAL in sample.flags for sample in samples):
        notes.append("no CPU power: a virtual machine, or captured without the cpu_power sampler")
    meanings = {
        SUSPECT_ZERO: "read 0 W for the CPU, or for a busy GPU (suspect-zero): not a measurement, since both draw "
        "power while running; seen on macOS 27 and in very short windows",
        PARTIAL: "are incomplete (partial): cut off, a power printed as nan, or an impossible value",
        ESTIMATED: "contain derived values (estimated): power from whole mJ, busy from a "
        "frequency-scaled ratio or from the cluster's own counter",
        INCONSISTENT: "have a combined power that contradicts the sum of CPU, GPU and ANE (inconsistent)",
    }
    for flag, meaning in meanings.items():
        n = sum(flag in sample.flags for sample in samples)
        if n:
            notes.append(f"{n} of {len(samples)} samples {meaning}")
    if lost_words(lost):
        notes.append(f"dropped from the capture: {lost_words(lost)}")
    return notes


def _json(line: bytes) -> object:
    try:
        return msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
