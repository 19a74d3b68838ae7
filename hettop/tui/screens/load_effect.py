"""Draws what competing load does: two distributions on one axis, and each unit without and under the load."""

from __future__ import annotations

import math

from hettop.format import UNKNOWN, count, milliseconds, percent, significant, unit_name
from hettop.report.evidence import interval_text
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, fit, line, runs
from hettop.session.views.contrast import ContrastView, Estimate, LoadFigures, UnitContrast
from hettop.stats.axes import ticks
from hettop.text import clean

WITHOUT = "without load"
NEEDED, NEEDED_P99 = 64, 662
"""Samples that a P90 and a P99 need; a rate is shown from as many as a P90."""

NAMED = ("P50 ms", "P90 ms", "P99 ms")
_EIGHTHS = len(glyphs.EIGHTHS) - 1
_TICK_EVERY = 12
_NAME, _CHANGE = 8, 9
_WIDEST_FIGURE = 26
_UNKNOWN = Estimate(None)


def distribution_lines(view: ContrastView, width: int, height: int) -> list[Line]:
    """Both distributions of the viewed unit, one over the other, in `height` lines with legend and axis."""
    rows = height - 3
    if rows < 2 or not (view.without or view.under):
        return []
    load = clean(view.load or "", 24)
    legend = line(
        (f"{clean(view.unit or '', 24)} ms  ", "strong"),
        *(((f"{glyphs.SPARSE} ", "low"), (f"{WITHOUT}  ", "muted")) if view.without else ()),
        *(((f"{glyphs.FULL} ", "high"), (f"{load}  ", "muted")) if view.under else ()),
        *(((f"{glyphs.SHADE} ", "mid"), ("both  ", "muted")) if view.without and view.under else ()),
        (f"{glyphs.ABOVE} {count(view.beyond)} beyond" if view.beyond else "", "mid"),
    )
    columns = max(len(view.without), len(view.under))
    without, under = (series or (0.0,) * columns for series in (view.without, view.under))
    drawn = [_cells(without, under, rows, row) for row in range(rows)]
    return [fit(legend, width), *(fit(each, width) for each in drawn), *_axis(view, columns, width)]


def _cells(without: tuple[float, ...], under: tuple[float, ...], rows: int, row: int) -> Line:
    """One line of both; where both fill a cell, it is shaded."""
    base = rows - 1 - row
    characters, inks = [], []
    for idle, loaded in zip(without, under, strict=True):
        low, high = (min(1.0, max(0.0, share * rows - base)) for share in (idle, loaded))
        eighth = math.ceil(high * _EIGHTHS)
        if low >= 0.5 and high >= 0.5:
            glyph, ink = glyphs.SHADE, "mid"
        elif low >= 0.5 or (low > 0 and not base and not eighth):
            glyph, ink = glyphs.SPARSE, "low"
        else:
            glyph, ink = glyphs.EIGHTHS[eighth], "high"
        characters.append(glyph)
        inks.append(ink)
    return runs(characters, inks)


def _axis(view: ContrastView, columns: int, width: int) -> list[Line]:
    characters, labels = [glyphs.AXIS] * columns, [" "] * width
    span = view.high_ms - view.low_ms
    for value, label in ticks(view.low_ms, view.high_ms, max(1, columns // _TICK_EVERY)) if span > 0 else ():
        column = min(columns - 1, max(0, math.floor((value - view.low_ms) / span * columns)))
        start = min(max(0, column - len(label) // 2), width - len(label))
        if start >= 0 and not "".join(labels[max(0, start - 1) : start + len(label) + 1]).strip():
            characters[column] = glyphs.AXIS_DOWN
            labels[start : start + len(label)] = label
    return [fit(line(("".join(characters), "edge")), width), fit(line(("".join(labels), "muted")), width)]


def contrast_lines(view: ContrastView, width: int) -> list[Line]:
    """For each unit a line per figure: without load, under the load, and the change."""
    shown: list[Line] = []
    for row in view.rows:
        shown += _unit_lines(row, view, width)
    return shown


def _unit_lines(row: UnitContrast, view: ContrastView, width: int) -> list[Line]:
    cells = min(_WIDEST_FIGURE, (width - _NAME - _CHANGE) // 2)
    marker = glyphs.VIEWED if row.unit == view.unit else " "
    name = clean(unit_name(row.unit, short=True), 12)
    heads = (f"{name} · {WITHOUT}", clean(view.load or UNKNOWN, cells - 2))
    without, under = _samples(row.without), _samples(row.under)
    shown = [
        line(
            (f"{marker} ", "active"),
            (f"{heads[0]:<{_NAME + cells - 2}}", "strong"),
            (f"{heads[1]:<{cells}}", "strong"),
            (f"{'change':>{_CHANGE}}", "muted"),
        ),
        line(("  n".ljust(_NAME), "muted"), (f"{without:<{cells}}{under:<{cells}}", "muted")),
    ]
    for label, idle, loaded, sign in _pairs(row):
        texts = [_with_interval(each, label, cells) for each in (idle, loaded)]
        shown.append(
            line(
                (f"  {label.partition(' ')[0]}".ljust(_NAME), "muted"),
                (f"{texts[0]:<{cells}}{texts[1]:<{cells}}", "text"),
                _change(idle, loaded, sign),
            )
        )
    return [fit(each, width) for each in shown]


def _samples(figures: LoadFigures | None) -> str:
    if figures is None:
        return "not measured"
    return count(figures.n) + (f" {clean(figures.thermal, 10)}" if figures.thermal else "")


def _pairs(row: UnitContrast) -> list[tuple[str, Estimate, Estimate, int]]:
    """Name, figure without load, figure under it, and whether more of it is worse (1) or better (-1)."""
    both = (row.without, row.under)
    quantiles = [
        (name, row.without.quantiles[i] if row.without else _UNKNOWN, row.under.quantiles[i] if row.under else _UNKNOWN)
        for i, name in enumerate(NAMED)
    ]
    rates = [_UNKNOWN if each is None or each.n < NEEDED else Estimate(each.throughput_per_s) for each in both]
    energies = [each.energy if each else _UNKNOWN for each in both]
    found = [(name, idle, loaded, 1) for name, idle, loaded in quantiles] + [("inf/s", rates[0], rates[1], -1)]
    if any(each.value is not None for each in energies):
        found.append(("mJ", energies[0], energies[1], 1))
    return found


def _text(value: float | None, label: str) -> str:
    return milliseconds(value) if label.endswith("ms") else significant(value)


def _with_interval(estimate: Estimate, label: str, cells: int) -> str:
    """`2.63 (2.61-2.65)`, without the interval where that has no room."""
    text = _text(estimate.value, label)
    whole = text if estimate.value is None else text + interval_text(estimate.low, estimate.high)
    return whole if len(whole) < cells else text


def _change(idle: Estimate, loaded: Estimate, sign: int, cells: int = _CHANGE) -> Span:
    """The change: with an arrow where the intervals do not overlap, or with `~` where they do.

    Without intervals it is the plain percentage.
    """
    if not idle.value or loaded.value is None:
        return (f"{UNKNOWN:>{cells}}", "muted")
    change = loaded.value / idle.value - 1
    words = percent(change, signed=True)
    apart = idle.is_apart_from(loaded)
    if not apart:
        return (f"{('' if apart is None else '~ ') + words:>{cells}}", "muted")
    arrow = "↑" if change > 0 else "↓"
    return (f"{arrow + ' ' + words:>{cells}}", "error" if change * sign > 0 else "good")


def short_lines(view: ContrastView, width: int) -> list[Line]:
    """One line for each unit, `2.50 → 3.74`; as many figures as fit."""
    names = [clean(unit_name(row.unit, short=True), 12) for row in view.rows]
    first = max((len(name) for name in names), default=0) + 3
    head, room = f"{'':<{first}}", width - first
    labels = ["P50", "P90", "change", "P99", "inf/s", "mJ"]
    cells = {"change": 10}
    kept: list[str] = []
    for label in labels if any(len(_pairs(row)) > len(NAMED) + 1 for row in view.rows) else labels[:-1]:
        room -= cells.get(label, 15)
        if room >= 0:
            kept.append(label)
    shown = [line((head, "muted"), ("".join(f"{label:>{cells.get(label, 15)}}" for label in kept), "muted"))]
    for row, name in zip(view.rows, names, strict=True):
        pairs = {label.partition(" ")[0]: (label, idle, loaded, sign) for label, idle, loaded, sign in _pairs(row)}
        marker = glyphs.VIEWED if row.unit == view.unit else " "
        spans: list[Span] = [(f"{marker} ", "active"), (f"{name:<{first - 2}}", "strong")]
        for label in kept:
            full, idle, loaded, sign = pairs.get("P90" if label == "change" else label, (label, _UNKNOWN, _UNKNOWN, 1))
            if label == "change":
                spans.append(_change(idle, loaded, sign, 10))
            else:
                known = idle.value is not None or loaded.value is not None
                pair = f"{_text(idle.value, full)} → {_text(loaded.value, full)}" if known else UNKNOWN
                spans.append((f"{pair:>15}", "text" if known else "muted"))
        shown.append(line(*spans))
    return [fit(each, width) for each in shown]


def note(view: ContrastView, *, intervals: bool) -> str:
    """What the figures and marks mean; `intervals`: whether they are drawn, with the energy."""
    if not intervals:
        return "Times in ms. ↑ ↓: 95% intervals do not overlap; ~: may be chance."
    figures = [each for row in view.rows for each in (row.without, row.under) if each is not None]
    lacking = any(estimate.value is None for each in figures for estimate in each.quantiles)
    return (
        "Times in ms, energy in mJ per inference, 95% intervals in brackets. ↑ ↓: the intervals do not overlap; ~: "
        "they do, so the change may be chance." + (f" P90 needs {NEEDED} samples, P99 {NEEDED_P99}." if lacking else "")
    )
