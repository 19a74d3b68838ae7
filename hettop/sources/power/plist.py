"""Parses `powermetrics -f plist`: a stream of XML property lists, NUL between them, with noise in any gap.

Bytes in, samples out at each `</plist>` (the NUL belongs to the *next* document: waiting for it would make every
figure one interval late). Holds at most one document.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import TypeAlias
from xml.parsers import expat

from hettop.events import Gpu
from hettop.sources.power.sample import (
    BATTERY_ONLY,
    ESTIMATED,
    MILLI,
    PARTIAL,
    SUMMARY,
    ClusterFigures,
    PowerSample,
    busy_of,
    checked,
    make_sample,
    mean,
    megahertz,
    milliwatts,
    number,
    window_ns,
)
from hettop.units import NS_PER_S

SOURCE = "powermetrics"
DOCUMENT_LIMIT = 4 << 20  # with every process listed a document takes about 2 MB; without, 30 to 150 kB
HZ_PER_MHZ = 1e6
_START, _END = b"<plist", b"</plist>"
_OURS = frozenset({"elapsed_ns", "processor", "gpu", "thermal_pressure"})
# What every document has, whichever samplers were asked for.
_HEAD = frozenset(
    {"is_delta", "elapsed_ns", "hw_model", "kern_osversion", "kern_bootargs", "kern_boottime", "timestamp"}
)
Value: TypeAlias = "float | str | bool | dict[str, Value] | list[Value] | None"
_Dict = Mapping[str, Value]


class PlistParser:
    """Incremental parser. `lost` counts documents that gave no sample, by reason."""

    source = SOURCE

    def __init__(self, limit: int = DOCUMENT_LIMIT) -> None:
        self.lost: Counter[str] = Counter()
        self._limit = limit
        self._buffer = bytearray()
        self._searched = 0
        self._beheaded = False  # the rest of a document that was too long is still to come

    def feed(self, data: bytes) -> list[PowerSample]:
        """The samples that `data` completes."""
        self._buffer += data
        samples = []
        while (end := self._buffer.find(_END, self._searched)) >= 0:
            sample = self._sample(bytes(self._buffer[: end + len(_END)]))
            del self._buffer[: end + len(_END)]
            self._searched = 0
            self._beheaded = False
            if sample is not None:
                samples.append(sample)
        self._searched = max(0, len(self._buffer) - len(_END) + 1)
        self._trim()
        return samples

    def finish(self) -> list[PowerSample]:
        """End of input: an incomplete document is dropped, because half of its figures would be missing."""
        if self._buffer.find(_START) >= 0:
            self.lost["torn"] += 1
        self._buffer.clear()
        self._searched, self._beheaded = 0, False
        return []

    def _trim(self) -> None:
        """Drop noise before a document, and a document that exceeds the size limit."""
        longest_noise = max(0, len(self._buffer) - len(_START) + 1)
        start = self._buffer.find(_START)
        surplus = start if start >= 0 else longest_noise
        if len(self._buffer) - surplus > self._limit:
            surplus = longest_noise
            self._beheaded = True
            self.lost["too long"] += 1
        del self._buffer[:surplus]
        self._searched = max(0, self._searched - surplus)

    def _sample(self, piece: bytes) -> PowerSample | None:
        """The sample in a piece that ends with a document's end. Its XML and DOCTYPE lines are noise like any other."""
        start = piece.rfind(_START)
        # A beginning before that one was never ended; an end without any beginning had its head torn off.
        torn = piece.count(_START, 0, start) if start >= 0 else int(not self._beheaded)
        if torn:
            self.lost["torn"] += torn
        if start < 0:
            return None
        if len(piece) - start > self._limit:
            self.lost["too long"] += 1
            return None
        try:
            root = read_document(piece[start:])
        except ValueError:
            self.lost["unreadable"] += 1
            return None
        reason = _why_no_sample(root)
        if reason:
            self.lost[reason] += 1
        return None if reason else sample_of(_dict(root))


def _why_no_sample(root: Value) -> str:
    """Why a document is not a power sample; empty for one that is."""
    if not isinstance(root, dict) or not _OURS & root.keys():
        return "foreign"
    if root.get("is_delta") is False:  # figures since the system started (--show-initial-usage)
        return SUMMARY
    return BATTERY_ONLY if root.keys() - _HEAD == {"battery"} else ""


def sample_of(root: _Dict) -> PowerSample:
    """The sample in one document's root."""
    flags: set[str] = set()
    elapsed_ns = checked(window_ns, _number(root, "elapsed_ns"), flags)
    processor, gpu = _dict(root.get("processor")), _dict(root.get("gpu"))
    # With the CPU sampler off, the GPU's own section is the only one that reports its energy.
    fields = {**{key: value for key, value in gpu.items() if key.startswith("gpu_")}, **processor}
    if "package_watts" in fields:  # Intel's key, and its unit
        watts = _number(fields, "package_watts")
        fields["package_power"] = None if watts is None else watts * MILLI
    mw = {rail: _rail(fields, rail, elapsed_ns, flags) for rail in ("cpu", "gpu", "ane", "dram", "package")}
    mw["combined"] = _printed(fields, "combined_power", flags)
    clusters = [_cluster(each, flags) for each in _dicts(processor.get("clusters")) if each.get("name")]
    thermal = root.get("thermal_pressure")
    return make_sample(
        SOURCE,
        elapsed_ns,
        mw,
        clusters=clusters,
        gpu=_gpu(gpu, flags),
        thermal=thermal if isinstance(thermal, str) else None,
        flags=flags,
    )


def _rail(fields: _Dict, rail: str, elapsed_ns: int | None, flags: set[str]) -> float | None:
    """The rail's power as printed; where only its energy in mJ is, mW = mJ / s."""
    if f"{rail}_power" in fields:
        return _printed(fields, f"{rail}_power", flags)
    energy_mj = _number(fields, f"{rail}_energy")
    if energy_mj is None or elapsed_ns is None:
        return None
    power = milliwatts(energy_mj / (elapsed_ns / NS_PER_S))
    if power is not None:
        flags.add(ESTIMATED)
    return power


def _printed(fields: _Dict, key: str, flags: set[str]) -> float | None:
    power = milliwatts(_number(fields, key))
    if power is None and key in fields:
        flags.add(PARTIAL)
    return power


def _cluster(cluster: _Dict, flags: set[str]) -> ClusterFigures:
    hertz = _number(cluster, "freq_hz")
    busy = mean([_busy(core, flags) for core in _dicts(cluster.get("cpus"))])
    if busy is None:
        # The cluster's own ratio is known to be wrong on some chips: second best, and said so.
        busy = _busy(cluster, flags)
        if busy is not None:
            flags.add(ESTIMATED)
    return ClusterFigures(
        name=str(cluster["name"]),
        mhz=checked(megahertz, None if hertz is None else hertz / HZ_PER_MHZ, flags),
        busy=busy,
        top_mhz=_number(cluster, TOP_FREQUENCY),
    )


def _gpu(gpu: _Dict, flags: set[str]) -> Gpu | None:
    """The GPU's figures. `freq_hz` is in MHz, despite its name."""
    mhz = checked(megahertz, _number(gpu, "freq_hz"), flags)
    busy = _busy(gpu, flags)
    return None if mhz is None and busy is None else Gpu(mhz=mhz, busy=busy)


def _busy(part: _Dict, flags: set[str]) -> float | None:
    down = _number(part, "down_ratio")
    return checked(lambda idle: busy_of(idle, down), _number(part, "idle_ratio"), flags)


def _number(values: _Dict, key: str) -> float | None:
    value = values.get(key)
    return value if isinstance(value, float) else None


def _dict(value: Value) -> _Dict:
    return value if isinstance(value, dict) else {}


def _dicts(value: Value) -> list[_Dict]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


DEPTH_LIMIT = 64  # powermetrics nests eight deep
TOP_FREQUENCY = "top_mhz"
# Names of processes and boot arguments may hold bytes that XML forbids; no figure does.
_FORBIDDEN = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
# Four fifths of a document are residencies per frequency, of which only the highest frequency is of use here.
# A list with another one in it is not the list it used to be: it is left to the reader. Nothing is read twice: a list
# ends at the next bracket of any list, and what has matched is not given back (`*+`).
_RESIDENCIES = re.compile(
    rb"<key>(dvfm_states|sw_requested_state|sw_state|requested_freq)</key>\s*+<array>"
    rb"([^<]*+(?:<(?!/?array)[^<]*+)*+)</array>"
)
_FREQUENCY = re.compile(rb"<key>freq</key>\s*<integer>([0-9]{1,6})</integer>")


def read_document(data: bytes) -> Value:
    """The root value of a property list.

    `dvfm_states` becomes `top_mhz`, its highest frequency. Raises ValueError, with a reason, for what is not an XML
    property list, nests deeper than DEPTH_LIMIT or declares entities (which can expand without bound).
    """
    small = _RESIDENCIES.sub(_highest, _FORBIDDEN.sub(b"", data))
    reader = _Reader()
    try:
        reader.attached_to(expat.ParserCreate()).Parse(small.decode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        raise ValueError(f"invalid XML: {error}") from None
    return reader.root


def _highest(found: re.Match[bytes]) -> bytes:
    kind, states = found.groups()
    top = max(map(int, _FREQUENCY.findall(states)), default=0) if kind == b"dvfm_states" else 0
    return b"<key>%s</key><integer>%d</integer>" % (TOP_FREQUENCY.encode(), top) if top else b""


class _Reader:
    """Builds values as the parser meets them; `root` is the outermost."""

    def __init__(self) -> None:
        self.root: Value = None
        self._stack: list[dict[str, Value] | list[Value]] = []
        self._key: str | None = None
        self._text: list[str] = []

    def attached_to(self, parser: expat.XMLParserType) -> expat.XMLParserType:
        """The parser, which holds the reader and not the other way round: no cycle waits for garbage collection."""
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text.append
        parser.EntityDeclHandler = _refuse_entity
        return parser

    def _start(self, tag: str, _attributes: dict[str, str]) -> None:
        self._text.clear()
        if tag not in ("dict", "array"):
            return
        if len(self._stack) >= DEPTH_LIMIT:
            raise ValueError(f"nests deeper than {DEPTH_LIMIT}")
        container: dict[str, Value] | list[Value] = {} if tag == "dict" else []
        self._add(container)
        self._stack.append(container)

    def _end(self, tag: str) -> None:
        text = "".join(self._text)
        self._text.clear()
        match tag:
            case "dict" | "array":
                self._stack.pop()
                self._key = None
            case "key":
                self._key = text
            case "integer" | "real":
                self._add(number(text))
            case "string" | "date":
                self._add(text)
            case "true" | "false":
                self._add(tag == "true")
            case "data":
                self._add(None)

    def _add(self, value: Value) -> None:
        if not self._stack:
            self.root = value
            return
        parent = self._stack[-1]
        if isinstance(parent, list):
            parent.append(value)
        elif self._key is not None:  # a value without its key says nothing
            parent[self._key] = value
        self._key = None


def _refuse_entity(*_declaration: object) -> None:
    raise ValueError("declares entities, which powermetrics never does")
