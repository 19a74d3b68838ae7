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
from hettop.power.macmon import MacmonParser, is_macmon
from hettop.power.plist import PlistParser
from hettop.power.sample import ESTIMATED, PARTIAL, RAILS, SUSPECT_ZERO, PowerSample
from hettop.power.text import HEADER, TextParser
from hettop.text import clean

HEAD_LIMIT = 64 << 10  # noise before the first sample is a line or two
CAPTURE = "sudo powermetrics -s cpu_power,gpu_power,thermal -f plist -i 500 -n 20 > capture.plist"
_HINT = f"a capture is made with: {CAPTURE}; or macmon pipe -s 20 > capture.jsonl"
_TEXT_HEAD = b"Machine model:"
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


def parser_for(head: bytes) -> CaptureParser | None:
    """The parser for a capture that begins with `head`; None while its marks have not been seen."""
    marks: dict[int, type[PlistParser] | type[TextParser]]
    marks = {head.find(b"<plist"): PlistParser, head.find(HEADER): TextParser, head.find(_TEXT_HEAD): TextParser}
    found = [at for at in marks if at >= 0]
    if found:
        return marks[min(found)]()
    for line in head.split(b"\n")[:20]:
        if line.lstrip(b"\0 ").startswith(b"{") and is_macmon(_json(line)):
            return MacmonParser()
    return None


def refusal(name: str, head: bytes) -> HettopError:
    """Why the file `name`, which begins with `head`, is no capture."""
    shown = clean(name, 80)
    if not head.strip(BLANKS):
        return HettopError("format", f"{shown} is empty: nothing was captured", _HINT)
    for mark, words in _REFUSALS.items():
        if mark in head:
            return HettopError("format", f"{shown} holds no sample: {words}", _HINT)
    if head.startswith(b"bplist"):
        return HettopError("format", f"{shown} is a binary property list; powermetrics writes XML", _HINT)
    told = _json(head.split(b"\n")[0])
    if isinstance(told, dict) and told.get("format") == "hettop":
        return HettopError("format", f"{shown} is a recording of hettop, not a capture", f"hettop replay {shown}")
    if isinstance(told, dict):
        return HettopError("format", f"{shown} is JSON, but not macmon's", _HINT)
    return HettopError("format", f"{shown} {_looks(head)}", _HINT)


def _looks(head: bytes) -> str:
    if len(_PRINTABLE.findall(head)) < 0.9 * len(head):
        return "is binary data"
    if b"\n" not in head and len(head) >= HEAD_LIMIT:
        return f"begins with a line of over {HEAD_LIMIT >> 10} kB: neither powermetrics nor macmon print such"
    return "is text, but not what powermetrics or macmon print"


def nothing_found(name: str, lost: Mapping[str, int]) -> HettopError:
    """The file looked like a capture and no sample came out of it."""
    why = lost_words(lost)
    return HettopError("format", f"{clean(name, 80)} holds no whole sample" + (f": {why}" if why else ""), _HINT)


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
    elif not clusters and "cpu" not in rails:
        notes.append(
            "nothing of the CPU: a virtual machine has none to tell, or the cpu_power sampler was not asked for"
        )
    meanings = {
        SUSPECT_ZERO: "read 0 W while cores were busy (suspect-zero): known of macOS 27 betas and of short windows",
        PARTIAL: "lack what others have (partial): cut off, or a figure printed as nan",
        ESTIMATED: "hold figures worked out from another quantity (estimated): power from whole mJ, busy from a "
        "frequency-scaled ratio or from the cluster's own counter",
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
