"""A co-execution round by round: what all together do against the best alone and the ideal, and each unit's part.

Pure: what was found and a size in, lines out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hettop.format import UNKNOWN, count, percent, significant
from hettop.session.coexec_findings import deaths, energy, further_notes, is_worth_it, of_alone, order, verdict
from hettop.tui.charts import glyphs
from hettop.tui.charts.lines import Line, Span, line
from hettop.tui.charts.rounds import BEST, IDEAL, Rates, draw_rounds
from hettop.tui.studies.columns import bar, table
from hettop.tui.studies.rows import cut_middle, notes, sentences

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
