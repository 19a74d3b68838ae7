"""Parses `powermetrics -f plist`: a stream of XML property lists, NUL between them, with noise in any gap.

Bytes in, samples out at each `</plist>` (the NUL belongs to the *next* document: waiting for it would make every
figure one interval late). Knows no process and no file; holds at most one document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from hettop.events import Gpu
from hettop.power.document import TOP_FREQUENCY, Value, read_document
from hettop.power.sample import (
    ESTIMATED,
    MILLI,
    PARTIAL,
    ClusterFigures,
    PowerSample,
    busy_of,
    make_sample,
    mean,
    megahertz,
    milliwatts,
    window_ns,
)

SOURCE = "powermetrics"
DOCUMENT_LIMIT = 4 << 20  # with every process listed a document takes about 2 MB; without, 30 to 150 kB
HZ_PER_MHZ = 1e6
NS_PER_S = 1e9
_START, _END = b"<plist", b"</plist>"
_OURS = frozenset({"elapsed_ns", "processor", "gpu", "thermal_pressure"})
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
        """No more bytes come: a document without its end is dropped, for half its figures would be missing."""
        if self._buffer.find(_START) >= 0:
            self.lost["torn"] += 1
        self._buffer.clear()
        self._searched, self._beheaded = 0, False
        return []

    def _trim(self) -> None:
        """Forgets noise before a document, and a document that grows beyond all bounds."""
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
        if not isinstance(root, dict) or not _OURS & root.keys():
            self.lost["foreign"] += 1
            return None
        return sample_of(root)


def sample_of(root: _Dict) -> PowerSample:
    """The sample in one document's root."""
    elapsed_ns = window_ns(_number(root, "elapsed_ns"))
    processor, gpu = _dict(root.get("processor")), _dict(root.get("gpu"))
    flags: set[str] = set()
    # With the CPU sampler off, the GPU's own section is the only one that tells its energy.
    told = {**{key: value for key, value in gpu.items() if key.startswith("gpu_")}, **processor}
    mw = {rail: _rail(told, rail, elapsed_ns, flags) for rail in ("cpu", "gpu", "ane", "dram", "package")}
    mw["combined"] = _printed(told, "combined_power", flags)
    if mw["package"] is None and "package_watts" in told:  # Intel's key, and its unit
        watts = _number(told, "package_watts")
        mw["package"] = None if watts is None else milliwatts(watts * MILLI)
    clusters = [_cluster(each, flags) for each in _dicts(processor.get("clusters")) if each.get("name")]
    thermal = root.get("thermal_pressure")
    return make_sample(
        SOURCE,
        elapsed_ns,
        mw,
        clusters=clusters,
        gpu=_gpu(gpu),
        thermal=thermal if isinstance(thermal, str) else None,
        flags=flags,
    )


def _rail(told: _Dict, rail: str, elapsed_ns: int | None, flags: set[str]) -> float | None:
    """The rail's power as printed; where only its energy in mJ is, mW = mJ / s."""
    if f"{rail}_power" in told:
        return _printed(told, f"{rail}_power", flags)
    energy_mj = _number(told, f"{rail}_energy")
    if energy_mj is None or elapsed_ns is None:
        return None
    power = milliwatts(energy_mj / (elapsed_ns / NS_PER_S))
    if power is not None:
        flags.add(ESTIMATED)
    return power


def _printed(told: _Dict, key: str, flags: set[str]) -> float | None:
    power = milliwatts(_number(told, key))
    if power is None and key in told:
        flags.add(PARTIAL)
    return power


def _cluster(cluster: _Dict, flags: set[str]) -> ClusterFigures:
    hertz = _number(cluster, "freq_hz")
    busy = mean(
        [busy_of(_number(core, "idle_ratio"), _number(core, "down_ratio")) for core in _dicts(cluster.get("cpus"))]
    )
    if busy is None:
        # The cluster's own ratio is known to be wrong on some chips: second best, and said so.
        busy = busy_of(_number(cluster, "idle_ratio"), _number(cluster, "down_ratio"))
        if busy is not None:
            flags.add(ESTIMATED)
    return ClusterFigures(
        name=str(cluster["name"]),
        mhz=None if hertz is None else megahertz(hertz / HZ_PER_MHZ),
        busy=busy,
        top_mhz=_number(cluster, TOP_FREQUENCY),
    )


def _gpu(gpu: _Dict) -> Gpu | None:
    """Its `freq_hz` is in MHz, whatever the name says."""
    mhz = megahertz(_number(gpu, "freq_hz"))
    idle = _number(gpu, "idle_ratio")
    busy = busy_of(idle, None)
    return None if mhz is None and busy is None else Gpu(mhz=mhz, busy=busy)


def _number(values: _Dict, key: str) -> float | None:
    value = values.get(key)
    return value if isinstance(value, float) else None


def _dict(value: Value) -> _Dict:
    return value if isinstance(value, dict) else {}


def _dicts(value: Value) -> list[_Dict]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
