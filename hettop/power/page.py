"""The table of power samples that `hettop power` prints: a row each, then mean and peak, then what to know.

Pure text, no colours; watts are absolute, and what is unknown reads `n/a`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hettop.events import Cluster, Gpu
from hettop.format import NS_PER_SECOND, UNKNOWN, percent, significant
from hettop.power.sample import MILLI, RAILS, PowerSample
from hettop.text import clean

WIDTH = 100
_NARROWEST = 40  # narrower, sentences fall apart
_GAP = "  "


@dataclass(frozen=True, slots=True)
class _Column:
    """A heading, a cell for each sample, mean and peak; `spare` columns may be left out, highest first."""

    heading: str
    cells: list[str]
    mean: str = ""
    peak: str = ""
    spare: int = 0

    @property
    def width(self) -> int:
        return max(map(len, (self.heading, self.mean, self.peak, *self.cells)))


def page(source: str, samples: Sequence[PowerSample], notes: Sequence[str], width: int = WIDTH) -> str:
    """Title, table and notes, ending with a line feed."""
    columns = _columns(samples)
    left_out = []
    while sum(each.width + len(_GAP) for each in columns) > width and any(each.spare for each in columns):
        least = max(columns, key=lambda each: each.spare)
        columns.remove(least)
        left_out.append(least.heading)
    told = list(notes)
    if left_out:
        told.append(f"no room for: {', '.join(reversed(left_out))}; a wider terminal or --json has them")
    lines = [_title(source, samples), "", *_rows(columns, len(samples)), ""]
    for note in told:
        lines += textwrap.wrap(note, max(width, _NARROWEST), subsequent_indent="  ", break_on_hyphens=False)
    return "\n".join(line.rstrip() for line in lines).rstrip() + "\n"


def _title(source: str, samples: Sequence[PowerSample]) -> str:
    windows = [sample.elapsed_ns for sample in samples]
    length = f" · {sum(filter(None, windows)) / NS_PER_SECOND:.3g} s" if any(windows) else ""
    return f"{source} · {len(samples)} sample{'s' if len(samples) != 1 else ''}{length} · power in W"


def _rows(columns: Sequence[_Column], n: int) -> list[str]:
    def row(text: Callable[[_Column], str]) -> str:
        return _GAP.join(text(each).rjust(each.width) for each in columns)

    rows = [row(lambda each: each.heading)]
    rows += [row(lambda each, at=index: each.cells[at]) for index in range(n)]  # type: ignore[misc]
    if n > 1:
        rows += [row(lambda each: each.mean), row(lambda each: each.peak)]
    return rows


def _columns(samples: Sequence[PowerSample]) -> list[_Column]:
    columns = [_Column("", [str(index + 1) for index in range(len(samples))], "mean", "peak")]
    columns.append(_Column("window s", [_window(sample.elapsed_ns) for sample in samples], spare=1))
    for rail in RAILS:
        values = [sample.mw[rail] for sample in samples]
        if any(value is not None for value in values):
            mean, peak = _mean(values, samples), max(value for value in values if value is not None)
            columns.append(_Column(rail, [_watts(value) for value in values], _watts(mean), _watts(peak)))
    names = dict.fromkeys(cluster.name for sample in samples for cluster in sample.clusters)
    for spare, name in enumerate(names, start=2):
        found = [next((each for each in sample.clusters if each.name == name), None) for sample in samples]
        columns.append(_Column(f"{clean(name, 20)} MHz", [_load(each) for each in found], spare=spare))
    if any(sample.gpu for sample in samples):
        columns.append(_Column("GPU MHz", [_load(sample.gpu) for sample in samples], spare=1))
    if any(sample.thermal for sample in samples):
        columns.append(_Column("thermal", [clean(each.thermal or UNKNOWN, 20) for each in samples], spare=1))
    if any(sample.flags for sample in samples):
        columns.append(_Column("flags", [" ".join(each.flags) for each in samples]))
    return columns


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
    return significant(None if elapsed_ns is None else elapsed_ns / NS_PER_SECOND)


def _load(part: Cluster | Gpu | None) -> str:
    if part is None:
        return UNKNOWN
    frequency = UNKNOWN if part.mhz is None else f"{part.mhz:.0f}"
    return f"{frequency} {percent(part.busy):>5}"
