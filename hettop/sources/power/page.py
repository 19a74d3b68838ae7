"""The table of power samples that `hettop power` prints, whole or row by row as they come, with mean and peak.

Pure text, no colours; watts are absolute, and what is unknown reads `n/a`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from hettop.events import Cluster, Gpu
from hettop.format import UNKNOWN, percent, significant
from hettop.sources.power.sample import CLUSTER_LIMIT, MILLI, RAILS, PowerSample
from hettop.text import clean
from hettop.units import NS_PER_S

WIDTH = 100
_NARROWEST = 40  # narrower, sentences fall apart
_GAP = "  "
_CLUSTER = 2  # `spare` of the cluster that did most; those that did less have more


@dataclass(frozen=True)
class _Column:
    """A heading, a cell for each sample, mean and peak; `spare` columns may be left out, highest first."""

    heading: str
    cells: list[str]
    mean: str = ""
    peak: str = ""
    spare: int = 0

    @cached_property
    def width(self) -> int:
        return max(map(len, (self.heading, self.mean, self.peak, *self.cells)))


def page(source: str, samples: Sequence[PowerSample], notes: Sequence[str], width: int = WIDTH) -> str:
    """Title, table and notes, ending with a line feed."""
    work = _work(samples)
    columns = _columns(samples, work)
    shown, left_out = _fitted(columns, width)
    lines = [_title(source, samples), "", *_rows(shown, len(samples)), ""]
    for note in [*notes, *_missing(left_out, shown, len(work))]:
        lines += textwrap.wrap(note, max(width, _NARROWEST), subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"


def _fitted(columns: Sequence[_Column], width: int) -> tuple[list[_Column], list[_Column]]:
    """The columns that fit, and those that do not, each in their order."""
    room = width + len(_GAP) - sum(each.width + len(_GAP) for each in columns)
    dropped = set()
    for index in sorted(range(len(columns)), key=lambda at: -columns[at].spare):
        if room >= 0 or not columns[index].spare:
            break
        room += columns[index].width + len(_GAP)
        dropped.add(index)
    shown = [each for index, each in enumerate(columns) if index not in dropped]
    return shown, [columns[index] for index in sorted(dropped)]


def _missing(left_out: Sequence[_Column], shown: Sequence[_Column], clusters: int) -> list[str]:
    there = sum(each.spare >= _CLUSTER for each in shown)
    notes = []
    if there < clusters:
        which = " (those with the lowest busy x MHz are hidden first)" if there else ""
        notes.append(f"{clusters - there} of {clusters} clusters not shown{which}")
    if left_out:
        headings = ", ".join(each.heading for each in left_out)
        notes.append(f"columns not shown: {headings}; use a wider terminal or --json")
    return notes


def _work(samples: Sequence[PowerSample]) -> dict[str, float]:
    """What each cluster did, as busy share x MHz summed over the samples; slowest tier first."""
    work: dict[str, float] = {}
    for sample in samples:
        for cluster in sample.clusters:
            work[cluster.name] = work.get(cluster.name, 0.0) + (cluster.busy or 0.0) * (cluster.mhz or 0.0)
    return work


def _title(source: str, samples: Sequence[PowerSample]) -> str:
    windows = [sample.elapsed_ns for sample in samples]
    length = f" · {sum(filter(None, windows)) / NS_PER_S:.3g} s" if any(windows) else ""
    return f"{source} · {len(samples)} sample{'s' if len(samples) != 1 else ''}{length} · power in W"


def _rows(columns: Sequence[_Column], n: int) -> list[str]:
    def row(text: Callable[[_Column], str]) -> str:
        return _GAP.join(text(each).rjust(each.width) for each in columns)

    rows = [row(lambda each: each.heading)]
    rows += [row(lambda each, at=index: each.cells[at]) for index in range(n)]  # type: ignore[misc]
    if n > 1:
        rows += [row(lambda each: each.mean), row(lambda each: each.peak)]
    return rows


def _columns(samples: Sequence[PowerSample], work: Mapping[str, float]) -> list[_Column]:
    columns = [_Column("", [str(index + 1) for index in range(len(samples))], "mean", "peak")]
    columns.append(_Column("window s", [_window(sample.elapsed_ns) for sample in samples], spare=1))
    for rail in dict.fromkeys((*RAILS, *(rail for sample in samples for rail in sample.mw))):
        values = [sample.mw.get(rail) for sample in samples]
        if any(value is not None for value in values):
            measured = [sample.measured_mw(rail) for sample in samples]
            mean, peak = _mean(measured, samples), max((mw for mw in measured if mw is not None), default=None)
            columns.append(_Column(rail, [_watts(value) for value in values], _watts(mean), _watts(peak)))
    columns += _cluster_columns(samples, work)
    if any(sample.gpu for sample in samples):
        columns.append(_Column("GPU MHz", [_load(sample.gpu) for sample in samples], spare=1))
    if any(sample.thermal for sample in samples):
        columns.append(_Column("thermal", [clean(each.thermal or UNKNOWN, 20) for each in samples], spare=1))
    if any(sample.flags for sample in samples):
        columns.append(_Column("flags", [" ".join(each.flags) for each in samples]))
    return columns


def _cluster_columns(samples: Sequence[PowerSample], work: Mapping[str, float]) -> list[_Column]:
    """Slowest tier first; of clusters that did the same the faster one is kept. No chip has more than the limit."""
    busiest = sorted(enumerate(work), key=lambda at: (work[at[1]], at[0]), reverse=True)[:CLUSTER_LIMIT]
    spares = {name: spare for spare, (_, name) in enumerate(busiest, start=_CLUSTER)}
    by_name = [{each.name: each for each in reversed(sample.clusters)} for sample in samples]
    return [
        _Column(f"{clean(name, 20)} MHz", [_load(each.get(name)) for each in by_name], spare=spares[name])
        for name in work
        if name in spares
    ]


def _mean(values: Sequence[float | None], samples: Sequence[PowerSample]) -> float | None:
    """Mean over time: each value weighs as long as its window lasted. Without any window all weigh the same."""
    known = [(value, each.elapsed_ns or 0) for value, each in zip(values, samples, strict=True) if value is not None]
    total = sum(weight for _, weight in known)
    if not total:
        return sum(value for value, _ in known) / len(known) if known else None
    return sum(value * weight for value, weight in known) / total


def _watts(mw: float | None) -> str:
    return significant(None if mw is None else mw / MILLI)


def _window(elapsed_ns: int | None) -> str:
    return significant(None if elapsed_ns is None else elapsed_ns / NS_PER_S)


def _load(part: Cluster | Gpu | None) -> str:
    if part is None:
        return UNKNOWN
    frequency = UNKNOWN if part.mhz is None else f"{part.mhz:.0f}"
    return f"{frequency} {percent(part.busy):>5}"


_CELL = 9
_TIME = 8


@dataclass(slots=True)
class Totals:
    """Of one rail: energy in mW ns, the time it was reported for, and the highest power in mW."""

    energy: float = 0.0
    elapsed_ns: int = 0
    peak: float | None = None

    def add(self, mw: float | None, elapsed_ns: int) -> None:
        if mw is None:
            return
        self.energy += mw * elapsed_ns
        self.elapsed_ns += elapsed_ns
        self.peak = mw if self.peak is None else max(self.peak, mw)

    @property
    def mean(self) -> float | None:
        """Over time; None if it was never reported."""
        return self.energy / self.elapsed_ns if self.elapsed_ns else None


@dataclass(slots=True)
class Stream:
    """Rows for one source; the rails of the first sample decide on the columns, and later ones may add theirs."""

    rails: tuple[str, ...] = ()
    elapsed_ns: int = 0
    n: int = 0
    totals: dict[str, Totals] = field(default_factory=dict)

    def row(self, sample: PowerSample) -> str:
        """A row, after a heading where the columns have changed; ends with a line feed."""
        self.n += 1
        self.elapsed_ns += sample.elapsed_ns or 0
        for rail in sample.mw:
            self.totals.setdefault(rail, Totals()).add(sample.measured_mw(rail), sample.elapsed_ns or 0)
        rails = tuple(rail for rail in self.totals if rail in self.rails or sample.mw.get(rail) is not None)
        heading = "" if rails == self.rails and self.n > 1 else _row("s", *(f"{rail} W" for rail in rails))
        self.rails = rails
        rest = " ".join(clean(word, 20) for word in (sample.thermal or "", *sample.flags))
        watts = (_watts(sample.mw.get(rail)) for rail in rails)
        return heading + _row(f"{self.elapsed_ns / NS_PER_S:.1f}", *watts, rest=rest)

    def end(self) -> str:
        """Mean over time and peak."""
        if not self.n:
            return ""
        means = (_watts(self.totals[rail].mean) for rail in self.rails)
        peaks = (_watts(self.totals[rail].peak) for rail in self.rails)
        return _row("mean", *means) + _row("peak", *peaks)


def _row(time: str, *cells: str, rest: str = "") -> str:
    line = time.rjust(_TIME) + "".join(cell.rjust(max(_CELL, len(cell) + 2)) for cell in cells)
    return f"{line}  {rest}".rstrip() + "\n"
