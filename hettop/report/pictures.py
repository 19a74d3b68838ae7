"""The figures of a recording's report: which conditions and units are drawn, on which axes, and what a caption says.

Pure; how a figure is drawn is `figures`' matter.
"""

from __future__ import annotations

from collections.abc import Iterator

from hettop.events import NO_LOAD
from hettop.format import count, seconds
from hettop.report.page import Figure
from hettop.report.session_history import SessionHistory
from hettop.report.svg.figures import Band, Line, Violin, bands, histogram, lines, violins
from hettop.session.condition import Condition
from hettop.session.session import Session
from hettop.session.views.latency import axis
from hettop.session.views.units import density
from hettop.stats.quantiles import samples_needed
from hettop.units import NS_PER_MS

DRAWN = 24  # conditions; a damaged recording can name hundreds
VIOLIN_COLUMNS = 160
HISTOGRAM_COLUMNS = 96
LOWEST_SHARE, HIGHEST_SHARE = 0.005, 0.95  # a tail twenty times as long would squeeze all the rest


def violin_figure(session: Session) -> Iterator[Figure]:
    """All conditions on one axis, from the fastest to the slowest one's P95."""
    measured = _measured(session)
    if not measured:
        return
    low = min(condition.wall.histogram.quantile(LOWEST_SHARE) or 0.0 for condition in measured)
    high = max(condition.wall.histogram.quantile(HIGHEST_SHARE) or 0.0 for condition in measured)
    margin = max(0.05 * (high - low), 0.02 * high, 1.0)
    low, high = max(0.0, low - margin), high + margin
    rows = [
        Violin(
            name=_name(condition),
            density=density(condition, low, high, VIOLIN_COLUMNS),
            p50_ms=condition.wall.quantile_ms(0.5) or 0.0,
            p90_ms=condition.wall.quantile_ms(0.9) or 0.0,
            max_ms=(condition.wall.moments.max_ns or 0) / NS_PER_MS,
        )
        for condition in measured
    ]
    caption = (
        "Share of samples by latency; the long line is P50, the short line P90. Cut at the P95 of "
        "the slowest condition."
    )
    yield Figure(violins(rows, low / NS_PER_MS, high / NS_PER_MS), caption + _left_out(session))


def histogram_figures(session: Session) -> Iterator[Figure]:
    """A histogram for each condition, on an axis of its own."""
    for condition in _measured(session):
        moments, buckets = condition.wall.moments, condition.wall.histogram
        smallest, largest = float(moments.min_ns or 0), float(moments.max_ns or 0)
        low, high = axis(smallest, buckets.quantile(0.01) or 0.0, buckets.quantile(0.99) or 0.0, largest)
        levels = [("P50", 0.5), ("P90", 0.9), *([("P99", 0.99)] if condition.wall.n >= samples_needed(0.99) else [])]
        marks = [(name, condition.wall.quantile_ms(level) or 0.0) for name, level in levels]
        marks.append(("max", largest / NS_PER_MS))
        columns = density(condition, low, high, HISTOGRAM_COLUMNS)
        svg = histogram(columns, low / NS_PER_MS, high / NS_PER_MS, marks)
        yield Figure(svg, f"{_name(condition)}: {count(condition.wall.n)} steady samples, by latency.")


def history_figure(history: SessionHistory, numbered: int) -> Iterator[Figure]:
    """Latency over time, with the first `numbered` happenings on it."""
    units = [Band(unit, _points(history, unit)) for unit in history.units]
    marks = [(number, each.t) for number, each in enumerate(history.happenings[:numbered], 1)]
    svg = bands(units, history.slot_ns, history.end_ns, marks)
    if svg:
        slot = seconds(history.slot_ns)
        caption = f"Band: P50 to P90 per {slot}; dots: maxima. Logarithmic axis; numbers refer to the list."
        yield Figure(svg, caption)


def power_figure(history: SessionHistory) -> Iterator[Figure]:
    rails = [
        Line(rail, [(place, mean.value / 1e3) for place, mean in sorted(means.items()) if mean.value is not None])
        for rail, means in history.rails.items()
    ]
    svg = lines(rails, history.slot_ns, history.end_ns)
    if svg:
        yield Figure(svg, f"Power by rail in watts, averaged over {seconds(history.slot_ns)}.")


def _points(history: SessionHistory, unit: str) -> list[tuple[int, float, float, float]]:
    points = []
    for place, slot in sorted(history.units[unit].items()):
        p50, p90 = slot.quantiles()
        points.append((place, p50 / NS_PER_MS, p90 / NS_PER_MS, slot.max_ns / NS_PER_MS))
    return points


def _measured(session: Session) -> list[Condition]:
    """Those that have samples, unit by unit as in the tables."""
    units = list(session.units)
    measured = [condition for condition in session.conditions.values() if condition.wall.n]
    return sorted(measured, key=lambda condition: units.index(condition.key.unit))[:DRAWN]


def _left_out(session: Session) -> str:
    more = sum(1 for condition in session.conditions.values() if condition.wall.n) - DRAWN
    return f" {more} more conditions are only in the table." if more > 0 else ""


def _name(condition: Condition) -> str:
    key = condition.key
    load = "" if key.load == NO_LOAD else f" under {key.load}"
    return f"{key.unit}{load}{f' ({key.thermal})' if key.thermal else ''}"
