"""macmon as a source, and the parser of the JSON objects of `macmon pipe`, with the names of 0.6 and 0.7 or of 0.8.

macmon prints each on a line of its own, `jq` over many lines; both are read. Bytes in, samples out at the line feed
that ends an object. Holds one object.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec

from hettop.events import Gpu
from hettop.sources.power.child import ChildOutput
from hettop.sources.power.sample import (
    ESTIMATED,
    FLAGS,
    MILLI,
    ClusterFigures,
    PowerSample,
    checked,
    make_sample,
    megahertz,
    milliwatts,
    share,
    window_ns,
)
from hettop.sources.power.source import Availability, Machine, PowerLostError, of_another_system
from hettop.text import clean
from hettop.units import NS_PER_MS, NS_PER_S

SOURCE = "macmon"
LINE_LIMIT = 256 << 10  # of an object; real ones have 500 to 5,000 bytes
LONGEST_GAP_S = 3600.0  # between two lines; more is a clock that was set, or two captures in one file
MOST_DIGITS = 20  # of a whole number: 64 bits have no more
_BLANKS = b"\0 \r\t"
_INDENTATION = b" \t"
RAIL_KEYS = {
    "cpu": "cpu_power",
    "gpu": "gpu_power",
    "ane": "ane_power",
    "dram": "ram_power",
    "combined": "all_power",  # as macmon reports it; its sys_power is the whole machine's and no rail
}
_CLUSTER = re.compile(r"([a-z]{1,8}cpu)_(?:usage|freq_mhz|active_ratio|scaled_ratio)")


class MacmonParser:
    """Incremental parser. `lost` counts objects and lines that gave no sample, by reason."""

    source = SOURCE

    def __init__(self) -> None:
        self.lost: Counter[str] = Counter()
        self._line = bytearray()
        self._object = bytearray()  # the lines of an object that has not ended
        self._overlong = False
        self._last: datetime | None = None

    def feed(self, data: bytes) -> list[PowerSample]:
        """The samples that `data` completes."""
        samples = []
        *whole, rest = data.split(b"\n")
        for line in whole:
            self._append(line)
            samples += self._end_line("unreadable")
        self._append(rest)
        return samples

    def finish(self) -> list[PowerSample]:
        """A last object without its line feed counts if it is complete."""
        samples = self._end_line("torn")
        self._drop_object("torn")
        return samples

    def _append(self, part: bytes) -> None:
        if self._overlong:
            return
        self._line += part
        if len(self._line) > LINE_LIMIT:
            self._overlong = True
            self._line.clear()
            self.lost["too long"] += 1

    def _end_line(self, fault: str) -> list[PowerSample]:
        line = bytes(self._line).lstrip(b"\0").rstrip(_BLANKS)
        self._line.clear()
        self._overlong = False
        # jq prints the brackets of an object alone on their lines, and indents all between.
        if line[:1] not in _INDENTATION and line != b"}":
            self._drop_object("torn")
        if not self._object and line != b"{":
            return self._read(line.strip(_BLANKS), fault)
        self._object += line
        if len(self._object) > LINE_LIMIT:
            self._drop_object("too long")
        if line != b"}":
            return []
        line = bytes(self._object)
        self._object.clear()
        return self._read(line, fault)

    def _drop_object(self, reason: str) -> None:
        if self._object:
            self.lost[reason] += 1
            self._object.clear()

    def _read(self, line: bytes, fault: str) -> list[PowerSample]:
        if not line:
            return []
        try:
            fields = _decoded(line)
        except (ValueError, RecursionError):
            self.lost[fault] += 1
            return []
        if not is_macmon(fields):
            self.lost["foreign"] += 1
            return []
        return [self._sample(fields)]

    def _sample(self, fields: Mapping[str, Any]) -> PowerSample:
        moment = _moment(fields.get("timestamp"))
        elapsed_ns = _between(self._last, moment)
        self._last = moment or self._last
        flags: set[str] = set()
        names = dict.fromkeys(found[1] for found in map(_CLUSTER.fullmatch, fields) if found)
        clusters = [ClusterFigures(name, *_mhz_and_busy(fields, name, flags)) for name in names]
        mhz, busy = _mhz_and_busy(fields, "gpu", flags)
        mw = {rail: _milliwatts(fields.get(key), flags) for rail, key in RAIL_KEYS.items()}
        return make_sample(
            SOURCE,
            elapsed_ns,
            mw,
            clusters=clusters,
            gpu=None if mhz is None and busy is None else Gpu(mhz=mhz, busy=busy),
            flags=flags,
        )


def _decoded(line: bytes) -> Any:
    """The line as JSON. Raises ValueError, or RecursionError for one that is nested too deep."""
    try:
        return msgspec.json.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        # A number beyond all bounds is not a reason to lose the figures beside it.
        return json.loads(line, parse_int=_whole, parse_constant=_refuse)


def _whole(digits: str) -> float:
    return int(digits) if len(digits) <= MOST_DIGITS else math.inf


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


def is_macmon(fields: object) -> bool:
    """Whether a decoded line is one of macmon's."""
    return isinstance(fields, dict) and any(key in fields for key in RAIL_KEYS.values())


def _mhz_and_busy(fields: Mapping[str, Any], name: str, flags: set[str]) -> tuple[float | None, float | None]:
    """Frequency and share of time busy.

    0.8 reports both. 0.6 and 0.7 report `[MHz, ratio]` where the ratio is scaled by frequency: it reads low whenever
    the clock does, so it is a stand-in and flagged `estimated`. 0.8.1 repeats those names beside its own.
    """
    pair = fields.get(f"{name}_usage")
    none = None if pair is None else math.nan
    old = pair if isinstance(pair, list) and len(pair) == 2 else [none, none]
    mhz = _figure(fields.get(f"{name}_freq_mhz"))
    busy = checked(share, _figure(fields.get(f"{name}_active_ratio")), flags)
    if busy is None:
        scaled = fields.get(f"{name}_scaled_ratio")
        busy = checked(share, _figure(old[1] if scaled is None else scaled), flags)
        if busy is not None:
            flags.add(ESTIMATED)
    return checked(megahertz, _figure(old[0]) if mhz is None else mhz, flags), busy


def _figure(value: object) -> float | None:
    """The value as a number: `null`, which stands for no figure, is None; what is not a number at all is nan."""
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool):
        return math.nan
    try:
        return float(value)
    except OverflowError:  # more digits than a power has
        return math.inf


def _milliwatts(watts: object, flags: set[str]) -> float | None:
    figure = _figure(watts)
    return checked(milliwatts, None if figure is None else figure * MILLI, flags)


def _moment(text: object) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None


def _between(before: datetime | None, now: datetime | None) -> int | None:
    """macmon does not report its window: a line's is the time since the line before; the first line's is unknown."""
    if before is None or now is None or (before.tzinfo is None) != (now.tzinfo is None):
        return None
    elapsed_s = (now - before).total_seconds()
    return window_ns(elapsed_s * NS_PER_S) if elapsed_s <= LONGEST_GAP_S else None


PROGRAM = "macmon"
SHORTEST_NS = 100 * 10**6  # it waits at least this long
MOST_LOST = 20
RUST_NOTE = "note: run with `RUST_BACKTRACE"  # the last line of a panic; why it panicked stands above it
FAREWELL_S = 0.2  # it runs as the user, who need not wait for its next write: it is ended
UNRELIABLE_FROM = 27
# Programs built before macOS 26 see 16 for 26, and so on.
OLD_NAMES = range(17, 26)


class MacmonSource:
    """What macmon reads of a Mac, without sudo."""

    name = "macmon"
    resolution_mj: float | None = None

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._child: ChildOutput | None = None
        self._stopped = False

    @property
    def note(self) -> str:
        return "on this macOS its CPU power is unreliable (estimated)" if self._unreliable else ""

    def granted_ns(self, asked_ns: int) -> int | None:
        return max(SHORTEST_NS, asked_ns)

    def probe(self) -> Availability:
        if not self._machine.is_mac:
            return of_another_system("macOS")
        if self._machine.find(PROGRAM) is None:
            return Availability(False, "macmon is not installed", "brew install macmon", impossible=True, absent=True)
        return Availability(True)

    def samples(self, interval_ns: int) -> Generator[PowerSample, None, None]:
        """A sample for each of its lines, until it is stopped; PowerLostError when it ends before."""
        self._stopped = False
        path = self._machine.find(PROGRAM)
        if path is None:
            raise PowerLostError("macmon was removed", "brew install macmon")
        argv = (path, "pipe", "-i", str(max(SHORTEST_NS, interval_ns) // NS_PER_MS))
        try:
            self._child = ChildOutput(argv, self._machine, farewell_s=FAREWELL_S)
        except OSError as error:
            raise PowerLostError(f"cannot start macmon: {error.strerror}", "brew reinstall macmon") from None
        parser, n = MacmonParser(), 0
        with closing(self._child.chunks()) as chunks:
            for chunk in chunks:
                if self._stopped:
                    break
                for sample in parser.feed(chunk):
                    parser.lost.clear()
                    n += 1
                    yield self._marked(sample)
                if sum(parser.lost.values()) > MOST_LOST:
                    raise PowerLostError("invalid output from macmon", "brew upgrade macmon")
        if not self._stopped:
            raise _lost(self._child, n)

    def stop(self) -> None:
        self._stopped = True
        if self._child is not None:
            self._child.stop()

    @property
    def _unreliable(self) -> bool:
        major = self._machine.release.partition(".")[0]
        return major.isdecimal() and (int(major) >= UNRELIABLE_FROM or int(major) in OLD_NAMES)

    def _marked(self, sample: PowerSample) -> PowerSample:
        if not self._unreliable or ESTIMATED in sample.flags:
            return sample
        return replace(sample, flags=tuple(flag for flag in FLAGS if flag in (*sample.flags, ESTIMATED)))


def _lost(child: ChildOutput, n: int) -> PowerLostError:
    said = [line for line in child.last_words if not line.startswith(RUST_NOTE)]
    words = f": {said[-1]}" if said else ""
    status = None if child.exit is None else child.exit.status
    ended = f"ended (exit {status})" if status else "ended"
    return PowerLostError(
        clean(f"macmon {ended}{'' if n else ' without a sample'}{words}"), "" if n else "macmon pipe -s 1"
    )
