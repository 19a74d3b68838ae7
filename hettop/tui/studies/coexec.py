"""A co-execution round by round: what all together do against the best alone and the ideal, and each unit's part.

Pure: what was found and a size in, lines out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hettop.format import UNKNOWN, count, percent, short_count, significant
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, fit, line, runs
from hettop.report.terminal.scale import nice_ceiling, row_labels, row_of
from hettop.session.coexec_findings import deaths, energy, further_notes, is_worth_it, of_alone, order, verdict
from hettop.tui.charts.histogram import GUTTER
from hettop.report.terminal.tables import bar, table
from hettop.report.terminal.rows import cut_middle, notes, sentences

if TYPE_CHECKING:
    from hettop.events import FoundCoexec, FoundWorker

_LOWEST_PLOT, _HIGHEST_PLOT = 6, 20  # lines, the axis included
_NAME, _PLACED = 22, 40
_OTHER_CELLS = 58  # of the columns beside the bar of shares
_SHORTEST_BAR, _LONGEST_BAR = 6, 30


def drawn(found: FoundCoexec, width: int, height: int) -> list[Line]:
    """The verdict, the course, the units, and what is to be known of them."""
    head = _head(found, width)
    units = _units(found, width)
    foot = [*sentences([energy(found)], width, "muted"), *notes(further_notes(found), width)]
    room = height - len(head) - len(units) - len(foot) - 4  # a legend, and a blank line before each part
    plot = _course(found, width, min(_HIGHEST_PLOT, max(_LOWEST_PLOT, room)))
    return [*head, *([(), *plot] if plot else []), (), *units, (), *foot]


def _head(found: FoundCoexec, width: int) -> list[Line]:
    dead = [f"{glyphs.FAILED} {text}" for text in deaths(found)]
    ink = "error" if dead else {True: "good", False: "warning", None: "strong"}[is_worth_it(found)]
    told = order(found)
    return [
        *sentences([verdict(found)], width, ink),
        *sentences(dead, width, "error"),
        *sentences([told] if told else [], width, "text" if found.in_order else "error"),
    ]


def _course(found: FoundCoexec, width: int, height: int) -> list[Line]:
    """Empty before the first round is over."""
    courses = (found.together_by_round, found.best_by_round, found.ideal_by_round)
    rounds = [Rates(*rates) for rates in zip(*courses, strict=False)]
    plot = draw_rounds(rounds, found.rounds, width, height)
    return [_legend(found), *plot] if plot else []


def _legend(found: FoundCoexec) -> Line:
    best = cut_middle(found.best or UNKNOWN, _NAME)
    return line(
        ("inferences a second  ", "muted"),
        (glyphs.FULL, "good"),
        (glyphs.FULL, "low"),
        (" together  ", "muted"),
        (BEST * 2, "mid"),
        (f" {best} alone  ", "muted"),
        (IDEAL * 2, "strong"),
        (" sum of each alone", "muted"),
    )


def _units(found: FoundCoexec, width: int) -> list[Line]:
    cells = min(_LONGEST_BAR, max(_SHORTEST_BAR, width - _OTHER_CELLS))
    heading = (
        "",
        "unit",
        "alone/s",
        "together/s",
        "of alone",
        "share",
        "of the work done together",
        "redone",
        "runs on",
    )
    rows = [_row(found, unit, cells) for unit in found.units]
    return table(
        heading, rows, width, left=("", "unit", "of the work done together", "runs on"), drop=("runs on", "of alone")
    )


def _row(found: FoundCoexec, unit: FoundWorker, cells: int) -> tuple[Span | str, ...]:
    best = unit.unit == found.best
    mark: Span = (glyphs.FAILED, "error") if unit.error is not None else (glyphs.UP if best else "", "mid")
    ink = "error" if unit.error is not None else "strong" if best else "text"
    return (
        mark,
        (cut_middle(unit.unit, _NAME), ink),
        significant(unit.alone_per_s),
        significant(unit.together_per_s),
        percent(of_alone(unit)),
        percent(unit.share),
        (bar(unit.share or 0.0, cells)[0].ljust(cells), "accent"),
        count(unit.redone) if unit.error is not None else "",
        (cut_middle(unit.placed or "", _PLACED), "muted"),
    )


BEST, IDEAL = glyphs.TRACK_DONE, glyphs.FENCE
LEVELS = len(glyphs.EIGHTHS) - 1
WIDTHS = (6, 4, 3, 2, 1)
"""Cells of a round, a gap included where there is more than one: as wide as there is room for all of them."""

LABEL_EVERY = 3  # lines
HEADROOM = 1.02


@dataclass(frozen=True, slots=True)
class Rates:
    """Of one round, inferences a second; None where a block came to nothing."""

    together: float | None
    best: float | None
    ideal: float | None


def draw_rounds(rounds: Sequence[Rates], last: int, width: int, height: int) -> list[Line]:
    """The newest of `rounds` that find room, numbered so that the newest is round `last`; two lines are the axis."""
    known = [rate for each in rounds for rate in (each.together, each.best, each.ideal) if rate is not None]
    columns, plot = width - GUTTER, height - 2
    if not known or columns < 1 or plot < 1:
        return []
    cells = next((each for each in WIDTHS if each * len(rounds) <= columns), 1)
    shown = rounds[-(columns // cells) :]
    top = nice_ceiling(max(known) * HEADROOM)
    labels = {row: _short(text) for row, text in row_labels(top, plot, max(1, plot // LABEL_EVERY)).items()}
    rows = []
    for row in range(plot):
        joint = glyphs.AXIS_TICK if row in labels else glyphs.AXIS_UP
        drawn = [cell for each in shown for cell in _cells(each, row, plot, top, cells)]
        head = f"{labels.get(row, ''):>{GUTTER - 2}} {joint}"
        rows.append(fit(line((head, "muted"), *runs([c for c, _ in drawn], [ink for _, ink in drawn])), width))
    return [*rows, *_axis(len(shown), cells, last, width)]


def _short(label: str) -> str:
    """A label that the gutter has room for."""
    return label if len(label) <= GUTTER - 2 else short_count(round(float(label)))


def _cells(rates: Rates, row: int, rows: int, top: float, cells: int) -> list[tuple[str, str]]:
    """One line of one round."""
    if rates.best is not None and row_of(rates.best, top, rows) == row:
        return [(BEST, "mid")] * cells
    if rates.ideal is not None and row_of(rates.ideal, top, rows) == row:
        return [(IDEAL, "strong")] * cells
    gap = [(" ", "text")] if cells > 1 else []
    return [_bar(rates, row, rows, top)] * (cells - len(gap)) + gap


def _bar(rates: Rates, row: int, rows: int, top: float) -> tuple[str, str]:
    if rates.together is None:
        return (glyphs.DOT if row == rows - 1 else " "), "muted"
    level = round(rates.together / top * rows * LEVELS) - (rows - 1 - row) * LEVELS
    better = rates.best is None or rates.together >= rates.best
    return glyphs.EIGHTHS[min(max(level, 0), LEVELS)], "good" if better else "low"


def _axis(n: int, cells: int, last: int, width: int) -> list[Line]:
    drawn = n * cells
    first, newest = str(last - n + 1), str(last)
    gap = drawn - len(first) - len(newest) - (cells > 1)
    words = f"{first}{' ' * gap}{newest}" if n > 1 and gap > 0 else newest
    head = f"{'0':>{GUTTER - 2}} {glyphs.AXIS_CORNER}"
    return [
        fit(line((head + glyphs.AXIS * drawn, "muted")), width),
        fit(line((f"{'round':>{GUTTER - 2}}  ", "muted"), (words, "muted")), width),
    ]
