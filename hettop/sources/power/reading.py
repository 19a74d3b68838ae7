"""Tells what kind of capture a file is from its first bytes, and refuses what is none in words.

Knows the formats by their marks only; reads no file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

import msgspec

from hettop.errors import HettopError
from hettop.sources.power.macmon import MacmonParser
from hettop.sources.power.plist import PlistParser
from hettop.sources.power.sample import (
    BATTERY_ONLY,
    ESTIMATED,
    INCONSISTENT,
    PARTIAL,
    RAILS,
    SUMMARY,
    SUSPECT_ZERO,
    PowerSample,
)
from hettop.sources.power.text import HEADER, TextParser, is_figure
from hettop.text import clean

HEAD_LIMIT = 64 << 10  # noise before the first sample is a line or two
CAPTURE = "sudo powermetrics -s cpu_power,gpu_power,thermal -f plist -i 500 -n 20 > capture.plist"
_HINT = f"a capture is made with: {CAPTURE}; or macmon pipe -s 20 > capture.jsonl"
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
    b"must be invoked as the superuser": "powermetrics refused: it must be run with sudo",
    b"a password is required": "sudo refused: it wanted a password that nobody was asked for",
    b"unrecognized sampler": "powermetrics refused a sampler that this macOS does not have",
    b"command not found": "the command was not found, so nothing was captured",
}


class CaptureParser(Protocol):
    """Bytes in, samples out; `lost` counts what gave no sample, by reason."""

    source: str
    lost: Counter[str]

    def feed(self, data: bytes) -> list[PowerSample]: ...

    def finish(self) -> list[PowerSample]: ...


class Recogniser:
    """Finds the parser for a capture from its first lines, each of which is looked at once."""

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
    """Why the file `name`, which begins with `head`, is no capture."""
    shown = clean(name, 80)
    if not head.strip(BLANKS):
        return HettopError("format", f"{shown} is empty: nothing was captured", _HINT)
    for mark, words in _REFUSALS.items():
        if mark in head:
            return HettopError("format", f"{shown} holds no sample: {words}", _HINT)
    told = _json(head.split(b"\n")[0])
    if isinstance(told, dict) and told.get("format") == "hettop":
        return HettopError("format", f"{shown} is a recording of hettop, not a capture", f"hettop replay {shown}")
    if head.startswith((b"{", b"[")) and _MACMON_MARK in head:
        hint = f"print one object a line: jq -c '.. | select(.cpu_power?)' {shown}"
        return HettopError("format", f"{shown} is JSON with macmon's figures, but not one object after the other", hint)
    return HettopError("format", f"{shown} {_looks(head, told)}", _HINT)


def _looks(head: bytes, told: object) -> str:
    if head.startswith(b"bplist"):
        return "is a binary property list; powermetrics writes XML"
    if isinstance(told, dict):
        return "is JSON, but not macmon's"
    if len(_PRINTABLE.findall(head)) < 0.9 * len(head):
        return "is binary data"
    if b"\n" not in head and len(head) >= HEAD_LIMIT:
        return f"begins with a line of over {HEAD_LIMIT >> 10} kB: neither powermetrics nor macmon print such"
    return "is text, but not what powermetrics or macmon print"


def nothing_found(name: str, lost: Mapping[str, int]) -> HettopError:
    """The file looked like a capture and no sample came out of it."""
    shown, reasons = clean(name, 80), {reason for reason, n in lost.items() if n}
    if reasons == {SUMMARY}:
        return HettopError("format", f"{shown} holds no sample, only a summary of the whole run", _HINT)
    if reasons == {BATTERY_ONLY}:
        return HettopError("format", f"{shown} holds no power sample, only readings of the battery", _HINT)
    why = lost_words(lost)
    return HettopError("format", f"{shown} holds no whole sample" + (f": {why}" if why else ""), _HINT)


def lost_words(lost: Mapping[str, int]) -> str:
    """`2 torn, 1 unreadable`."""
    return ", ".join(f"{n} {why}" for why, n in sorted(lost.items()) if n)


def notes_of(samples: Sequence[PowerSample], lost: Mapping[str, int]) -> list[str]:
    """What a reader of these samples must know: what is absent and why, and what is in doubt."""
    if not samples:
        return []
    rails = [rail for rail in RAILS if any(sample.mw[rail] is not None for sample in samples)]
    absent = [rail for rail in RAILS if rail not in rails]
    notes = [f"n/a, not in this capture: {', '.join(absent)}"] if absent else []
    clusters = any(sample.clusters for sample in samples)
    if not clusters and rails == ["package"]:
        notes.append("an Intel Mac tells the power of its package only")
    elif not clusters and "cpu" not in rails and not any(PARTIAL in sample.flags for sample in samples):
        notes.append(
            "nothing of the CPU: a virtual machine has none to tell, or the cpu_power sampler was not asked for"
        )
    meanings = {
        SUSPECT_ZERO: "read 0 W for the CPU, or for a busy GPU (suspect-zero): both draw power while they run, so "
        "this was not measured; seen on macOS 27, and in very short windows",
        PARTIAL: "lack what others have (partial): cut off, a power printed as nan, or an impossible value",
        ESTIMATED: "hold figures worked out from another quantity (estimated): power from whole mJ, busy from a "
        "frequency-scaled ratio or from the cluster's own counter",
        INCONSISTENT: "have a combined power far from the sum of CPU, GPU and ANE (inconsistent): one of them is wrong",
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
