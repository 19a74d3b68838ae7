"""A slicing plan: what it gains, which device runs which layer, predicted and measured by slice, and what else costs.

Pure: what was found and a size in, lines out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hettop.format import UNKNOWN, count, milliseconds, percent, significant
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, line, width_of
from hettop.report.terminal.plane import Axis, Plane
from hettop.session.plan_findings import BAD, GOOD, NOTHING, against, plan_sentences
from hettop.text import clean
from hettop.report.terminal.tables import bar, beside, table
from hettop.report.terminal.rows import cut_middle, notes, sentences
from hettop.tui.studies.strip import letters, look, strip

if TYPE_CHECKING:
    from hettop.events import FoundPlan

INKS = {GOOD: "good", BAD: "warning"}
_LONGEST_NAME, _UNIT = 40, 8
_DOUBTFUL = 0.8  # of R²: a line that explains less leaves a fifth of what moving costs unexplained
_FAR_OFF = 0.2
_WIDE = 108  # cells, from which on there is room for two drawings beside each other
_TALL = (0, 28, 28, 44, 44, 44)  # lines in sight, from which on columns of cost are one more line high
_NAME, _WIDE_NAME = 18, 30
_NARROWEST_BAR = 6
_PLAN = "this plan"
_OTHER_CELLS = 20  # of the columns beside a name and its bar
_PLANE, _LOWEST_PLANE, _HIGHEST_PLANE = 0.42, 9, 24


def drawn(found: FoundPlan, width: int, height: int) -> list[Line]:
    """What it comes to, the layers as a strip, slices, what the plan is compared with, communication, notes."""
    parts = [
        [*_told(found, width, first=True), *_notation(found, width)],
        strip(found, width, rows=sum(height >= each for each in _TALL)),
    ]
    if width >= _WIDE:
        room = round(width * _PLANE)
        left = [*_slices(found, width - room - 2), (), *_costs(found, width - room - 2)]
        parts += [_told(found, width, first=False), _with_plane(found, left, width, room, height)]
    else:
        parts += [[*_slices(found, width), *_told(found, width, first=False)], _costs(found, width)]
    parts += [_moving(found, width), notes(_explained(found), width)]
    return [row for i, part in enumerate(filter(None, parts)) for row in ([(), *part] if i else part)]


def _told(found: FoundPlan, width: int, *, first: bool) -> list[Line]:
    """The sentences that come first, or the others."""
    shown: list[Line] = []
    for place, sentence in enumerate(plan_sentences(found)):
        if sentence.first == first:
            shown += sentences([sentence.text], width, INKS.get(sentence.means, "text" if place else "strong"))
    return shown


def _notation(found: FoundPlan, width: int) -> list[Line]:
    """`N_1, G_9, N_18`, each slice in its device's colour."""
    looks = dict(zip(found.devices, letters(found.devices), strict=True))
    rows: list[Line] = []
    row: Line = ()
    parts = [each.strip() for each in found.plan.split(",")] if found.plan else []
    for place, part in enumerate(parts):
        device = found.slices[place].device if place < len(found.slices) else ""
        last = place == len(parts) - 1
        span: Span = (clean(part, width) + ("" if last else ", "), look(found.devices, device) if looks else "text")
        if row and width_of((*row, span)) > width:
            rows.append(row)
            row = ()
        row = (*row, span)
    return [*rows, row] if row else rows


def _slices(found: FoundPlan, width: int) -> list[Line]:
    """A row for each slice: predicted, measured, and how far off."""
    ran = any(each.measured_ms is not None for each in found.slices)
    unit = clean(found.cost_unit, _UNIT)
    heading = ("", "slice", "layers", "begins with", f"predicted {unit}", "measured ms", "error", "adjusted")
    marks = dict(zip(found.devices, letters(found.devices), strict=True))
    name = _WIDE_NAME if width >= _WIDE else _NAME
    rows = [
        (
            (marks.get(each.device, "?"), look(found.devices, each.device)),
            cut_middle(each.device, name),
            count(each.first) if each.first == each.last else f"{count(each.first)}–{count(each.last)}",
            (cut_middle(each.begins or "", name), "muted"),
            significant(each.cost),
            (milliseconds(each.measured_ms), "strong") if ran else "",
            _off(each.error, ran=ran),
            _off(each.adjusted_error, ran=ran),
        )
        for each in found.slices
    ]
    more = found.slices_n - len(found.slices)
    rest = [line((f"and {count(more)} slices more", "muted"))] if more > 0 else []
    left = ("", "slice", "begins with")
    drop = ("begins with", "layers", "error")
    return [*table(heading, rows, width, left=left, drop=drop), *rest] if rows else []


def _off(error: float | None, *, ran: bool) -> Span:
    """Predicted against measured; far off is said by the ink, too."""
    if not ran:
        return "", "text"
    return percent(error, signed=True), "muted" if error is None else "warning" if abs(error) > _FAR_OFF else "text"


def _costs(found: FoundPlan, width: int) -> list[Line]:
    """The plan beside what it is compared with, and as measured beside each device alone, as bars of one scale each."""
    shown = _bars(f"predicted, {clean(found.cost_unit, _UNIT)}", found.cost, list(found.baselines.items()), width)
    if found.run is not None:
        alone = sorted(found.run.alone_ms.items(), key=lambda item: item[1])
        others = [(f"{device} alone", ms) for device, ms in alone]
        shown += [(), *_bars("measured in turns, ms", found.run.measured_ms, others, width)]
    return shown


def _bars(title: str, plan: float, others: Sequence[tuple[str, float | None]], width: int) -> list[Line]:
    """Name, cost and bar of the plan and of others, and what the plan costs against them."""
    names = [_PLAN, *(cut_middle(name, _WIDE_NAME) for name, _ in others)]
    costs = [plan, *(cost for _, cost in others)]
    widest = max(len(title), *map(len, names))
    known = [cost for cost in costs if cost is not None]
    longest, cells = max(known) or 1.0, max(_NARROWEST_BAR, width - widest - _OTHER_CELLS)
    best = "good" if plan <= min(known) * (1 + NOTHING) else "warning"
    shown = [line((title, "muted"))]
    for place, (name, cost) in enumerate(zip(names, costs, strict=True)):
        ink = "text" if place else "strong"
        if cost is None:
            shown.append(line((f"{name:<{widest}}  ", ink), ("it cannot run", "muted")))
            continue
        beside_it = f" {against(plan, cost)}" if place and cost else ""
        length, _ = bar(cost / longest, cells)
        shown.append(
            line(
                (f"{name:<{widest}}  {significant(cost):>7}  ", ink),
                (length, "low" if place else best),
                (beside_it, "muted"),
            )
        )
    return shown


def _with_plane(found: FoundPlan, left: list[Line], width: int, room: int, height: int) -> list[Line]:
    """Cuts that were tried and their line, at the right of the rest."""
    points = [(mb, ms) for each in found.moving for mb, ms in each.tried]
    if len(points) < 2:
        return left
    high = min(_HIGHEST_PLANE, max(_LOWEST_PLANE, len(left), height // 2))
    across = Axis.around([mb for mb, _ in points], "MB across a cut", log=False, from_zero=True)
    plane = Plane(room, high, across, Axis.around([ms for _, ms in points], "moving, ms", log=False))
    for each, (mark, ink) in zip(found.moving, _looks(found), strict=True):
        last = max(mb for mb, _ in points)
        plane.line([(mb, each.ms_per_mb * mb + each.offset_ms) for mb in (across.low, last)], ink=ink)
        for mb, ms in each.tried:
            plane.point(mb, ms, mark, ink)
        plane.legend(mark, cut_middle(each.device, _NAME), ink)
    right = plane.lines()
    longest = max(len(left), len(right))
    filled = [[*part, *[()] * (longest - len(part))] for part in (left, right)]
    return beside(filled[0], filled[1], width - room - 2)


def _looks(found: FoundPlan) -> list[Span]:
    """Letter and ink of each device of which cuts were tried, as the strip has them."""
    marks = dict(zip(found.devices, letters(found.devices), strict=True))
    return [(marks.get(each.device, glyphs.DOT), look(found.devices, each.device)) for each in found.moving]


def _moving(found: FoundPlan, width: int) -> list[Line]:
    """The line of communication of each device, and how well it explains what was measured."""
    rows = [
        (
            mark,
            cut_middle(each.device, _WIDE_NAME),
            f"{significant(each.ms_per_mb)} ms per MB {'-' if each.offset_ms < 0 else '+'} "
            f"{significant(abs(each.offset_ms))} ms",
            (f"R² {UNKNOWN if each.r2 is None else f'{each.r2:.3f}'}", _fit_ink(each.r2)),
            (count(len(each.tried)), "muted"),
        )
        for each, mark in zip(found.moving, _looks(found), strict=True)
    ]
    heading, left = ("", "moving on", "costs", "fit", "cuts tried"), ("", "moving on", "costs")
    return table(heading, rows, width, left=left, drop=("cuts tried",)) if rows else []


def _fit_ink(r2: float | None) -> str:
    return "warning" if r2 is not None and r2 < _DOUBTFUL else "text"


def _explained(found: FoundPlan) -> Sequence[str]:
    took = "" if found.planner_ms is None else f"planned in {significant(found.planner_ms)} ms"
    size = f"{count(found.layers)} layers, {count(len(found.devices))} devices"
    scale = "a slice pays for moving at both of its ends; percents beside bars: what the plan costs against it"
    described = ", ".join(clean(name, _LONGEST_NAME) for name in found.described)
    more = [f"described, not measured: {described}"] if described else []
    if any(each.error is not None for each in found.slices):
        more.insert(0, "error: below 0 too little was predicted, above 0 too much; adjusted: to devices as fast as now")
    told = [each for each in found.notes if not each.startswith("described, not measured")]
    return [" · ".join(filter(None, [took, size])), scale, *more, *told]
