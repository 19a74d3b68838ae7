"""Parses what powermetrics prints for people, with the labels of macOS 11 to 26 and of Intel Macs.

Bytes in, samples out where the next one begins (text has no mark for an end). Knows no process and no file; holds
one sample and one line.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from hettop.events import Gpu
from hettop.power.sample import (
    CLUSTER_LIMIT,
    MILLI,
    PARTIAL,
    ClusterFigures,
    PowerSample,
    busy_of,
    make_sample,
    mean,
    megahertz,
    milliwatts,
    number,
    share,
    window_ns,
)

SOURCE = "powermetrics"
LINE_LIMIT = 64 << 10  # the longest real line, residencies of a cluster, has about 600 bytes
HEADER = b"*** Sampled system activity"
NS_PER_MS = 1e6

_NUMBER = r"([-+]?[0-9]*[.,]?[0-9]+(?:[eE][-+]?[0-9]+)?|[-+]?nan)"
_ELAPSED = re.compile(r"\(" + _NUMBER + r" ?ms elapsed\)", re.IGNORECASE)
# The unit is required: where a file was cut off within a figure, none is left.
_POWER = re.compile(r"\s*" + _NUMBER + r"\s*(m?)W", re.IGNORECASE)
_FREQUENCY = re.compile(r"\s*" + _NUMBER + r"\s*MHz", re.IGNORECASE)
_PERCENT = re.compile(r"\s*" + _NUMBER + r"\s*%", re.IGNORECASE)
_STATE = re.compile(r"([0-9]{1,6}) MHz:")
_CLUSTER = re.compile(
    r"(?P<name>\S{1,40}-Cluster) (?:HW )?(?P<what>active frequency|active residency|idle residency|down residency)",
    re.IGNORECASE,
)
_CORE = re.compile(r"CPU (?P<name>[0-9]{1,4}) (?P<what>active residency|idle residency|down residency)", re.IGNORECASE)
_GPU = re.compile(r"GPU (?:HW )?(?P<what>active frequency|active residency|idle residency)", re.IGNORECASE)
_RAILS = {
    "cpu power": "cpu",
    "clusters total power": "cpu",  # macOS 11's word
    "gpu power": "gpu",
    "ane power": "ane",
    "dram power": "dram",
    "package power": "package",
}
_LONG_RAILS = {"combined power": "combined", "intel energy model derived package power": "package"}


@dataclass(slots=True)
class _Core:
    name: str
    shares: dict[str, float | None] = field(default_factory=dict)

    def busy(self) -> float | None:
        if "active residency" in self.shares:
            return share(self.shares["active residency"])
        return busy_of(self.shares.get("idle residency"), self.shares.get("down residency"))


@dataclass(slots=True)
class _TextCluster:
    name: str
    mhz: float | None = None
    top_mhz: float | None = None
    cores: list[_Core] = field(default_factory=list)


@dataclass(slots=True)
class _Window:
    """What has been read of one sample."""

    elapsed_ns: int | None
    mw: dict[str, float | None] = field(default_factory=dict)
    clusters: list[_TextCluster] = field(default_factory=list)
    gpu: dict[str, float | None] = field(default_factory=dict)
    thermal: str | None = None

    def extent(self) -> tuple[frozenset[str], int, int, bool]:
        """What a whole sample of the same capture has too: rails, cores, figures of the GPU, thermal state."""
        rails = frozenset(rail for rail, value in self.mw.items() if value is not None)
        cores = sum(len(cluster.cores) for cluster in self.clusters)
        return rails, cores, len(self.gpu), self.thermal is not None


class TextParser:
    """Incremental parser. `lost` counts lines that were too long to be read."""

    source = SOURCE

    def __init__(self) -> None:
        self.lost: Counter[str] = Counter()
        self._line = bytearray()
        self._overlong = False
        self._window: _Window | None = None
        self._before: _Window | None = None

    def feed(self, data: bytes) -> list[PowerSample]:
        """The samples that `data` shows to be complete."""
        samples = []
        *whole, rest = data.split(b"\n")
        for line in whole:
            self._append(line)
            samples += self._end_line()
        self._append(rest)
        return samples

    def finish(self) -> list[PowerSample]:
        """The last sample, marked `partial` where it lacks what the one before had."""
        cut = bool(self._line)
        if cut and b"pressure level" not in self._line:  # half a word looks like a whole one
            samples = self._end_line()
        else:
            samples = []
            self._line.clear()
        window, self._window = self._window, None
        if window is None or (cut and window.extent() == _Window(None).extent()):
            return samples
        return [*samples, self._sample(window)]

    def _append(self, part: bytes) -> None:
        if self._overlong:
            return
        self._line += part
        if len(self._line) > LINE_LIMIT:
            self._overlong = True
            self._line.clear()
            self.lost["too long"] += 1

    def _end_line(self) -> list[PowerSample]:
        line = bytes(self._line)
        self._line.clear()
        self._overlong = False
        at = line.find(HEADER)  # not always first: noise has no line feed of its own
        if at < 0:
            if self._window is not None:
                _read(self._window, line.decode("utf-8", "replace").strip("\0 \r\t"))
            return []
        done, self._window = self._window, _Window(_elapsed_ns(line[at:]))
        return [] if done is None else [self._sample(done)]

    def _sample(self, window: _Window) -> PowerSample:
        flags = [PARTIAL] if _lacks(window, self._before) else []
        self._before = window
        clusters = [
            ClusterFigures(each.name, each.mhz, mean([core.busy() for core in each.cores]), each.top_mhz)
            for each in window.clusters
        ]
        return make_sample(
            SOURCE,
            window.elapsed_ns,
            window.mw,
            clusters=clusters,
            gpu=_gpu(window.gpu),
            thermal=window.thermal,
            flags=flags,
        )


def _lacks(window: _Window, before: _Window | None) -> bool:
    rails, cores, gpu, thermal = window.extent()
    if (cores and not rails) or None in window.mw.values():
        return True
    if before is None:
        return False
    rails_before, cores_before, gpu_before, thermal_before = before.extent()
    return bool(rails_before - rails) or cores < cores_before or gpu < gpu_before or thermal < thermal_before


def _elapsed_ns(header: bytes) -> int | None:
    found = _ELAPSED.search(header.decode("utf-8", "replace"))
    elapsed_ms = number(found[1]) if found else None
    return None if elapsed_ms is None else window_ns(elapsed_ms * NS_PER_MS)


def _read(window: _Window, line: str) -> None:
    """Takes what one line tells into the window; a line of any other kind tells nothing."""
    label, colon, value = line.partition(":")
    if not colon:
        return
    word = label.lower()
    rail = _RAILS.get(word) or next((rail for long, rail in _LONG_RAILS.items() if word.startswith(long)), None)
    if rail is not None:
        _read_power(window, rail, value)
    elif word == "current pressure level":
        window.thermal = value.strip() or None
    elif found := _CORE.fullmatch(label):
        _read_core(window, found["name"], found["what"].lower(), value)
    elif found := _CLUSTER.fullmatch(label):
        _read_cluster(window, found["name"], found["what"].lower(), value)
    elif found := _GPU.fullmatch(label):
        _read_gpu(window, found["what"].lower(), value)


def _read_power(window: _Window, rail: str, value: str) -> None:
    """The first line that names a rail counts: the GPU's section repeats its power."""
    found = _POWER.match(value)
    if found and rail not in window.mw:
        power = number(found[1])
        window.mw[rail] = None if power is None else milliwatts(power if found[2] else power * MILLI)


def _read_cluster(window: _Window, name: str, what: str, value: str) -> None:
    if not window.clusters or window.clusters[-1].name != name:
        if len(window.clusters) >= CLUSTER_LIMIT:
            return
        window.clusters.append(_TextCluster(name))
    cluster = window.clusters[-1]
    if what == "active frequency":
        cluster.mhz = _frequency(value)
    elif what == "active residency":
        cluster.top_mhz = float(max(map(int, _STATE.findall(value)), default=0)) or None


def _read_core(window: _Window, name: str, what: str, value: str) -> None:
    """Cores are printed after the cluster they belong to; Intel's belong to none and are left out."""
    if not window.clusters:
        return
    cores = window.clusters[-1].cores
    if not cores or cores[-1].name != name:
        if len(cores) >= 10 * CLUSTER_LIMIT:
            return
        cores.append(_Core(name))
    portion = _portion(value)
    if portion is not None:
        cores[-1].shares[what] = portion


def _read_gpu(window: _Window, what: str, value: str) -> None:
    figure = _frequency(value) if what == "active frequency" else _portion(value)
    if figure is not None:
        window.gpu[what] = figure


def _gpu(figures: dict[str, float | None]) -> Gpu | None:
    if not figures:
        return None
    busy = share(figures.get("active residency"))
    return Gpu(
        mhz=figures.get("active frequency"), busy=busy_of(figures.get("idle residency"), None) if busy is None else busy
    )


def _frequency(value: str) -> float | None:
    found = _FREQUENCY.match(value)
    return megahertz(number(found[1])) if found else None


def _portion(value: str) -> float | None:
    found = _PERCENT.match(value)
    percent = number(found[1]) if found else None
    return None if percent is None else percent / 100
