"""Parses what powermetrics prints for people, with the labels of macOS 11 to 26 and of Intel Macs.

Bytes in, samples out where the next one begins (text has no mark for an end). Figures without a heading above them,
as people paste them into reports, are read with the elapsed time unknown. Holds one sample and one line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from hettop.events import Gpu
from hettop.sources.power.sample import (
    BATTERY_ONLY,
    CLUSTER_LIMIT,
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
    share,
    window_ns,
)
from hettop.units import NS_PER_MS

SOURCE = "powermetrics"
LINE_LIMIT = 64 << 10  # the longest real line, residencies of a cluster, has about 600 bytes
HEADER = b"*** Sampled system activity"
# Thermal pressure: only a word of these is known to be complete where a file ends without a line feed.
PRESSURE_LEVELS = frozenset({"Nominal", "Fair", "Moderate", "Serious", "Heavy", "Critical", "Trapping", "Sleeping"})

# "Sampled" begins a sample; any other word ("Summary") begins figures of the whole run or since the system started.
_HEADING = re.compile(rb"\*\*\* ([A-Za-z]{1,20}) system activity")
_SAMPLED = b"Sampled"
_BATTERY = "battery"
_PROCESSOR = "processor usage"  # the first section with figures that are read
_TOTALS = frozenset({"combined", "package"})  # printed after the rails they are the sum of
REPEATED = "repeated"
# Every repetition is bounded: a line of 64 kB of digits must not be read again from each of them.
_DIGITS = r"[0-9]{1,20}"
_NUMBER = rf"([-+]?(?:{_DIGITS}(?:[.,]{_DIGITS})?|[.,]{_DIGITS})(?:[eE][-+]?[0-9]{{1,3}})?|[-+]?nan)"
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


@dataclass(frozen=True, slots=True)
class _Figure:
    """One line that the parser knows: `name` is the rail, the cluster or the core, `what` the kind of figure."""

    kind: str
    name: str
    what: str
    value: str


@dataclass(slots=True)
class _Core:
    name: str
    shares: dict[str, float | None] = field(default_factory=dict)


@dataclass(slots=True)
class _TextCluster:
    name: str
    mhz: float | None = None
    top_mhz: float | None = None
    shares: dict[str, float | None] = field(default_factory=dict)
    cores: list[_Core] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Window:
    """What has been read of one sample. `begun`: its beginning was seen, so that nothing above is missing.

    `repeats` counts the further lines of the GPU's power, of which one is of this sample's section on the GPU, and
    `spare` is the last of them.
    """

    elapsed_ns: int | None = None
    begun: bool = True
    headed: bool = True
    summary: bool = False
    in_processor: bool = False
    in_gpu: bool = False
    repeats: int = 0
    spare: _Figure | None = None
    battery_only: bool | None = None
    mw: dict[str, float | None] = field(default_factory=dict)
    clusters: list[_TextCluster] = field(default_factory=list)
    gpu: dict[str, float | None] = field(default_factory=dict)
    thermal: str | None = None
    flags: set[str] = field(default_factory=set)

    def extent(self) -> tuple[frozenset[str], int, int, bool]:
        """What a complete sample of the same capture has too: rails, cores, figures of the GPU, thermal state."""
        rails = frozenset(rail for rail, value in self.mw.items() if value is not None)
        cores = sum(len(cluster.cores) for cluster in self.clusters)
        gpu = sum(figure is not None for figure in self.gpu.values())
        return rails, cores, gpu, self.thermal is not None

    def is_empty(self) -> bool:
        return not (self.mw or self.clusters or self.gpu or self.thermal)


class TextParser:
    """Incremental parser. `lost` counts what gave no sample, by reason."""

    source = SOURCE

    def __init__(self) -> None:
        self.lost: Counter[str] = Counter()
        self._line = bytearray()
        self._overlong = False
        self._window: _Window | None = None
        self._before: _Window | None = None
        self._section_begun = False

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
        samples = self._end_line(cut=True) if cut else []
        window, self._window = self._window, None
        if window is None or (cut and window.is_empty()):
            return samples
        return samples + self._complete(window)

    def _append(self, part: bytes) -> None:
        if self._overlong:
            return
        self._line += part
        if len(self._line) > LINE_LIMIT:
            self._overlong = True
            self._line.clear()
            self.lost["too long"] += 1

    def _end_line(self, *, cut: bool = False) -> list[PowerSample]:
        """`cut`: the file ends here, perhaps within a word."""
        line = bytes(self._line)
        self._line.clear()
        self._overlong = False
        heading = _HEADING.search(line)  # not always first: noise has no line feed of its own
        if heading is not None:
            return self._begin(line[heading.start() :], sampled=heading[1] == _SAMPLED)
        text = line.decode("utf-8", "replace").strip("\0 \r\t")
        if text.startswith("****"):
            return self._begin_section(text.lower())
        figure = _figure(text)
        return [] if figure is None else self._take(figure, cut=cut)

    def _begin(self, heading: bytes, *, sampled: bool) -> list[PowerSample]:
        done = self._end_window()
        self._section_begun = False
        self._window = _Window(summary=not sampled)
        if sampled:
            self._window.elapsed_ns = _elapsed_ns(heading, self._window.flags)
        else:
            self.lost[SUMMARY] += 1
        return done

    def _end_window(self) -> list[PowerSample]:
        """The sample above a heading or the title of a first section, unless its own beginning was cut off."""
        done, self._window = self._window, None
        if done is None:
            return []
        return self._complete(done) if done.begun else self._drop(done)

    def _drop(self, window: _Window) -> list[PowerSample]:
        """The end of a sample whose beginning was cut off."""
        if not window.is_empty():
            self.lost["torn"] += 1
        return []

    def _begin_section(self, title: str) -> list[PowerSample]:
        done: list[PowerSample] = []
        window, processor = self._window, _PROCESSOR in title
        if window and processor and (window.in_processor or not (window.headed or window.is_empty())):
            if not window.in_processor:
                window.flags.add(PARTIAL)
            done = self._end_window()
            window = self._window = _Window(headed=False)
        if window is None:
            self._section_begun = self._section_begun or processor
            return done
        window.in_processor = window.in_processor or processor
        window.in_gpu = window.in_gpu or "gpu" in title
        window.battery_only = _BATTERY in title and window.battery_only is not False
        return done

    def _take(self, figure: _Figure, *, cut: bool) -> list[PowerSample]:
        """A figure that was read already, or that is printed before those in the window, begins the next sample."""
        done: list[PowerSample] = []
        window = self._window
        if window is None:
            window = _Window(begun=self._section_begun, headed=False, in_processor=self._section_begun)
        elif _begins_next(window, figure):
            done, window = self._end_by_figure(window, figure)
        self._window = window
        if _is_gpu_power(figure) and _is_repeat(window):
            window.spare = figure
            window.repeats += 1
        else:
            _read(window, figure, cut=cut)
        return done

    def _end_by_figure(self, window: _Window, figure: _Figure) -> tuple[list[PowerSample], _Window]:
        """The sample above `figure`, which begins the next one, and the window of the next one.

        What lacks the figure that others begin with has lost its beginning.
        """
        first = window.spare if window.spare is not None and _follows_gpu(window, figure) else figure
        complete = _has(window, first)
        following = _Window(begun=window.begun or complete, headed=False)
        if first is not figure:
            _read(following, first, cut=False)
            window.repeats -= 1
        if not complete:
            window.flags.add(PARTIAL)
        return self._complete(window) if following.begun else self._drop(window), following

    def _complete(self, window: _Window) -> list[PowerSample]:
        if window.repeats > 1:
            self.lost[REPEATED] += window.repeats - 1
        if window.summary:
            return []
        if window.is_empty() and (window.battery_only or not window.headed):
            if window.battery_only:
                self.lost[BATTERY_ONLY] += 1
            return []
        if _lacks(window, self._before):
            window.flags.add(PARTIAL)
        clusters = _clusters(window, self._before)
        gpu = _gpu(window)
        self._before = window
        return [
            make_sample(
                SOURCE,
                window.elapsed_ns,
                window.mw,
                clusters=clusters,
                gpu=gpu,
                thermal=window.thermal,
                flags=window.flags,
            )
        ]


def is_figure(line: str) -> bool:
    """Whether a line is one of powermetrics' figures, so that a text that holds it is worth reading."""
    figure = _figure(line)
    return figure is not None and (figure.kind != "rail" or _POWER.match(figure.value) is not None)


def _lacks(window: _Window, before: _Window | None) -> bool:
    rails, cores, gpu, thermal = window.extent()
    if (cores and not rails) or None in window.mw.values():
        return True
    if before is None:
        return False
    rails_before, cores_before, gpu_before, thermal_before = before.extent()
    return bool(rails_before - rails) or cores < cores_before or gpu < gpu_before or thermal < thermal_before


def _elapsed_ns(heading: bytes, flags: set[str]) -> int | None:
    found = _ELAPSED.search(heading.decode("utf-8", "replace"))
    elapsed_ms = number(found[1]) if found else None
    return checked(window_ns, None if elapsed_ms is None else elapsed_ms * NS_PER_MS, flags)


def _figure(line: str) -> _Figure | None:
    """The figure in a line; None for a line of any other kind."""
    label, colon, value = line.partition(":")
    if not colon:
        return None
    word = label.lower()
    rail = _RAILS.get(word) or next((rail for long, rail in _LONG_RAILS.items() if word.startswith(long)), None)
    if rail is not None:
        return _Figure("rail", rail, "power", value)
    if word == "current pressure level":
        return _Figure("pressure", "", "level", value)
    for kind, pattern in (("core", _CORE), ("cluster", _CLUSTER), ("gpu", _GPU)):
        if found := pattern.fullmatch(label):
            return _Figure(kind, found.groupdict().get("name", ""), found["what"].lower(), value)
    return None


def _begins_next(window: _Window, figure: _Figure) -> bool:
    """Whether this figure cannot be of the same sample as those in the window.

    The order is: clusters with their cores, rails with the CPU before the GPU (the ANE has been first and last), their
    total, and in sections of their own the thermal pressure and the GPU. Below a heading only repetition counts.
    """
    if _is_gpu_power(figure):
        alone = set(window.mw) == {"gpu"} and not (window.clusters or window.gpu or window.thermal)
        return alone and (window.spare is not None or not (window.headed or window.in_gpu))
    in_other_sections = bool(window.gpu) or window.thermal is not None
    if figure.kind in ("cluster", "core"):
        past = bool(window.mw) or in_other_sections
        if window.headed:
            return figure.kind == "cluster" and past and _has(window, figure)
        return past or (figure.kind == "cluster" and _cluster_ended(window, figure))
    if _has(window, figure) or window.headed or figure.kind != "rail":
        return _has(window, figure)
    if in_other_sections or figure.name in _TOTALS:
        return in_other_sections
    after_gpu = figure.name == "cpu" and "gpu" in window.mw
    return after_gpu or window.spare is not None or not _TOTALS.isdisjoint(window.mw)


def _has(window: _Window, figure: _Figure) -> bool:
    match figure.kind:
        case "rail":
            return figure.name in window.mw
        case "pressure":
            return window.thermal is not None
        case "cluster":
            return any(cluster.name == figure.name and figure.what in cluster.seen for cluster in window.clusters)
        case "gpu":
            return figure.what in window.gpu
    return False


def _cluster_ended(window: _Window, figure: _Figure) -> bool:
    """Whether the cluster has this figure already, or others have been printed since."""
    return _has(window, figure) or any(cluster.name == figure.name for cluster in window.clusters[:-1])


def _is_gpu_power(figure: _Figure) -> bool:
    return figure.kind == "rail" and figure.name == "gpu"


def _is_repeat(window: _Window) -> bool:
    """Whether the GPU's power was read already, or may be of the next sample: below a total and outside its section."""
    below_total = not (window.headed or window.in_gpu or window.gpu) and not _TOTALS.isdisjoint(window.mw)
    return "gpu" in window.mw or below_total


def _follows_gpu(window: _Window, figure: _Figure) -> bool:
    """Whether this rail is printed after the GPU's: a total always is, others as in the window."""
    rails = list(window.mw)
    if figure.kind != "rail" or figure.name in _TOTALS:
        return figure.kind == "rail"
    return {"gpu", figure.name} <= set(rails) and rails.index("gpu") < rails.index(figure.name)


def _read(window: _Window, figure: _Figure, *, cut: bool) -> None:
    match figure.kind:
        case "rail":
            _read_power(window, figure.name, figure.value)
        case "pressure":
            _read_pressure(window, figure.value.strip(), cut=cut)
        case "core":
            _read_core(window, figure)
        case "cluster":
            _read_cluster(window, figure)
        case "gpu":
            convert = _frequency if figure.what == "active frequency" else _portion
            window.gpu[figure.what] = convert(figure.value, window.flags)


def _read_power(window: _Window, rail: str, value: str) -> None:
    """The first line that names a rail counts: the GPU's section repeats its power."""
    if rail in window.mw:
        return
    found = _POWER.match(value)
    power = number(found[1]) if found else None
    window.mw[rail] = None if found is None or power is None else milliwatts(power if found[2] else power * MILLI)


def _read_pressure(window: _Window, level: str, *, cut: bool) -> None:
    if not cut or level in PRESSURE_LEVELS:
        window.thermal = level or None
    else:  # half a word looks like a word
        window.flags.add(PARTIAL)


def _read_cluster(window: _Window, figure: _Figure) -> None:
    if not window.clusters or window.clusters[-1].name != figure.name:
        if len(window.clusters) >= CLUSTER_LIMIT:
            return
        window.clusters.append(_TextCluster(figure.name))
    cluster = window.clusters[-1]
    cluster.seen.add(figure.what)
    if figure.what == "active frequency":
        cluster.mhz = _frequency(figure.value, window.flags)
        return
    cluster.shares[figure.what] = _portion(figure.value, window.flags)
    if figure.what == "active residency":
        cluster.top_mhz = float(max(map(int, _STATE.findall(figure.value)), default=0)) or None


def _read_core(window: _Window, figure: _Figure) -> None:
    """Cores are printed after the cluster they belong to; Intel's belong to none and are left out."""
    if not window.clusters:
        return
    cores = window.clusters[-1].cores
    if not cores or cores[-1].name != figure.name:
        if len(cores) >= 10 * CLUSTER_LIMIT:
            return
        cores.append(_Core(figure.name))
    cores[-1].shares[figure.what] = _portion(figure.value, window.flags)


def _clusters(window: _Window, before: _Window | None) -> list[ClusterFigures]:
    """A cluster without cores is busy as it says itself, which is an estimate, unless its cores were cut off."""
    with_cores = {cluster.name for cluster in before.clusters if cluster.cores} if before else set()
    figures = []
    for cluster in window.clusters:
        busy = mean([_busy(core.shares, window.flags) for core in cluster.cores])
        if busy is None and cluster.name not in with_cores:
            busy = _busy(cluster.shares, window.flags)
            if busy is not None:
                window.flags.add(ESTIMATED)
        figures.append(ClusterFigures(cluster.name, cluster.mhz, busy, cluster.top_mhz))
    return figures


def _gpu(window: _Window) -> Gpu | None:
    if all(figure is None for figure in window.gpu.values()):
        return None
    return Gpu(mhz=window.gpu.get("active frequency"), busy=_busy(window.gpu, window.flags))


def _busy(shares: Mapping[str, float | None], flags: set[str]) -> float | None:
    """The active share, else what idle and down leave of the window."""
    active = checked(share, shares.get("active residency"), flags)
    if active is not None:
        return active
    down = shares.get("down residency")
    return checked(lambda idle: busy_of(idle, down), shares.get("idle residency"), flags)


def _frequency(value: str, flags: set[str]) -> float | None:
    return checked(megahertz, _number(_FREQUENCY, value, flags), flags)


def _portion(value: str, flags: set[str]) -> float | None:
    percent = _number(_PERCENT, value, flags)
    return None if percent is None else percent / 100


def _number(pattern: re.Pattern[str], value: str, flags: set[str]) -> float | None:
    """The number in `value`; `nan` is printed where there was nothing to measure, anything else makes it `partial`."""
    found = pattern.match(value)
    if found is None:
        flags.add(PARTIAL)
        return None
    return number(found[1])
