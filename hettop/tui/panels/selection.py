"""The line that tells of a selection: its ends, and the statistics of each unit between them.

Pure: a `Selection` and a width in, a line out.
"""

from __future__ import annotations

from hettop.format import clock, count, milliseconds, percent, unit_name
from hettop.session.replay_views import SelectedUnit, Selection
from hettop.text import clean
from hettop.tui.charts import glyphs
from hettop.tui.charts.lines import Line, Span, fit, line, width_of

_WIDE = 110  # cells; below, units have short names


def selection_line(selection: Selection, width: int) -> Line:
    """`( 00:10.0 – 00:20.0 ) loop  CPU_AND_NE n 4 210 P50 2.19 P90 2.37 max 6.54 2 spikes`: as many units as fit.

    The first is there whatever the width, and those that are not are counted.
    """
    short = width < _WIDE
    shown = _heading(selection, short=short)
    left = len(selection.units)
    for unit in selection.units:
        told = (*shown, *_unit(unit, short=short))
        if left < len(selection.units) and width_of((*told, *_more(left - 1))) > width:
            break
        shown, left = told, left - 1
    return fit((*shown, *_more(left)), width)


def _more(units: int) -> Line:
    return line((f"  +{units} more", "muted")) if units else ()


def _heading(selection: Selection, *, short: bool) -> Line:
    start, end = selection.start_ns, selection.end_ns
    blank = "" if short else " "
    spans: list[Span] = [
        (" (", "warning"),
        (f"{blank}{glyphs.MORE if start is None else clock(start, 1)}{blank}–{blank}", "text"),
        (f"{glyphs.MORE if end is None else clock(end, 1)}{blank}", "text"),
        (")", "warning"),
    ]
    if selection.looping:
        spans.append((" loop", "active"))
    if not selection.complete:
        spans.append((f"  {')' if end is None else '('} sets the other end", "muted"))
    elif selection.share < 1:
        spans.append((f"  reading {percent(selection.share)} {glyphs.MORE}", "muted"))
    elif not selection.units:
        spans.append(("  no steady samples", "muted"))
    return line(*spans)


def _unit(unit: SelectedUnit, *, short: bool) -> Line:
    # Beyond so many samples quantiles come from the histogram: near, and said to be.
    near = "" if unit.exact else "~"
    spikes = "spikes n/a" if unit.spikes is None else f"{count(unit.spikes)} spike{'' if unit.spikes == 1 else 's'}"
    return line(
        (f"{' ' if short else '  '}{clean(unit_name(unit.unit, short=short))}", "strong"),
        (f" n {count(unit.n)}", "muted"),
        (" P50 ", "low"),
        (f"{near}{milliseconds(unit.p50_ms)}", "text"),
        (" P90 ", "mid"),
        (f"{near}{milliseconds(unit.p90_ms)}", "text"),
        (" max ", "high"),
        (milliseconds(unit.max_ms), "text"),
        (f" {spikes}", "high" if unit.spikes else "muted"),
    )
