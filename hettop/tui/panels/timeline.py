"""Panel 2: latency over time: a lane for each unit, with P50, P90 and maximum per slot of the time window."""

from __future__ import annotations

import math
from collections.abc import Sequence, Set
from string import ascii_lowercase

from hettop.format import UNKNOWN, count, duration, milliseconds, unit_name
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, fit, line, runs, text_of
from hettop.session.views.structs import TimelineLane, TimelineLoad, TimelineView
from hettop.stats.axes import inside_labels, nice_ceiling, nice_step, row_of
from hettop.text import clean
from hettop.tui.canvas import Canvas
from hettop.tui.frame_state import FrameState
from hettop.tui.panels.panel import Panel, inner_size
from hettop.units import NS_PER_S

GUTTER = 12
_NARROWEST_WITH_GUTTER = 34
_LABEL = 5  # cells of the gutter for a label of the scale
_LABEL_EVERY = 2  # lines
_TICK_EVERY = 12  # columns
_STEPS = (0.5, 1, 2, 5, 10, 15, 20, 30)  # s, min or h
_LONGEST_NAME = 16
# One spike of 100 times the usual latency would flatten the rest: what is above the P90s so many times is cut and
# marked. Lanes are low, and show the spikes by marks anyway; but what most slots reach is on the scale of any.
_CLIP, _CLIP_LANES, _CLIP_FREQUENT = 3.0, 1.5, 2.0
_RAREST = 20
"""One of so many slots, and one of fewer, may be off the scale whatever it holds."""

_MARK_GLYPHS = {"mark": glyphs.NOTE, "control": glyphs.CONTROL, "drift": glyphs.DRIFT}

Cells = list[list[Span]]
"""A span of one character for each cell, by rows from above."""


class TimelinePanel(Panel):
    """Latency over time."""

    NUMBER = 2
    _drawn: Set[str] = frozenset()
    """The characters of the last drawing."""

    @property
    def columns(self) -> int:
        """How many columns fit."""
        return plot_columns(inner_size(self.size.width, self.size.height)[0])

    def title(self, frame_state: FrameState) -> Line:
        view = frame_state.session.timeline
        spikes = f"{count(view.spikes)} spike{'' if view.spikes == 1 else 's'}"
        if view.spikes is None:
            spikes = "too few samples for spikes"
        words = line(
            ("timeline ms", "title"),
            (f" · {window_text(view)} · ", "muted"),
            (f"{glyphs.SPIKE} {spikes}" if glyphs.SPIKE in self._drawn else spikes, "high" if view.spikes else "muted"),
        )
        slots: Span = (f" · slots of {cells_text(view)}", "muted")
        return (*words, slots) if self.title_has_room((*words, slots)) else words

    def foot(self, frame_state: FrameState) -> Line:
        """What the glyphs of the drawing mean: of levels and marks, those that are in it."""
        view = frame_state.session.timeline
        own = view.lanes[0].threshold_ms if len(view.lanes) == 1 else None
        meanings = {
            glyphs.FENCE: "spike threshold" + ("" if own is None else f" {milliseconds(own)} ms"),
            glyphs.OFF_SCALE: "off scale",
            glyphs.BUDGET_LEVEL: f"budget {milliseconds(view.budget_ms)} ms",
        }
        fills = "⢕ P50 ⣿ P90 ⠁ max" if frame_state.braille else f"{glyphs.FULL} P90 {glyphs.HIGH_STROKE} max"
        named = [f"{glyph} {meaning}" for glyph, meaning in meanings.items() if glyph in self._drawn]
        return line((" · ".join([fills, *named]), "muted"))

    def body(self, frame_state: FrameState, width: int, height: int) -> list[Line]:
        session = frame_state.session
        if frame_state.waiting is not None:
            return [fit(line((frame_state.waiting, "muted")), width)]
        rows = draw_timeline(
            session.timeline, width, height, braille=frame_state.braille, viewed=session.latency.unit or ""
        )
        self._drawn = {character for row in rows for character in text_of(row)}
        return rows


def window_text(view: TimelineView) -> str:
    """`last 30 s`; `whole session, 40 min`."""
    return f"whole session, {duration(view.window_ns)}" if view.whole else f"last {duration(view.window_ns)}"


def cells_text(view: TimelineView) -> str:
    """How long a time each column of dots is of."""
    if view.cells_ns is None:
        return duration(view.slot_ns)
    narrowest, widest = map(duration, view.cells_ns)
    return narrowest if narrowest == widest else f"{narrowest} to {widest}"


def _gutter(width: int) -> int:
    return GUTTER if width >= _NARROWEST_WITH_GUTTER else 0


def plot_columns(width: int) -> int:
    """How many cells a timeline of this width has for its slots."""
    return max(1, width - _gutter(width))


def draw_timeline(view: TimelineView, width: int, height: int, *, braille: bool = True, viewed: str = "") -> list[Line]:
    """The timeline as exactly `height` lines of `width` cells. `viewed` is the unit whose name stands out."""
    if height < 1 or width < 1:
        return []
    lanes = [lane for lane in view.lanes if any(slot is not None for slot in lane.slots)]
    if not lanes:
        rows = [fit((), width)] * height
        words = "no samples in this window"
        rows[height // 2] = fit(line((" " * max(0, (width - len(words)) // 2), "text"), (words, "muted")), width)
        return rows
    foot = _foot_lines(height, len(lanes))
    plot = _Plot(view, lanes, width, height - foot, braille=braille, viewed=viewed)
    rows = [*plot.rows(), *plot.foot(legend=height - foot < len(lanes))[:foot]]
    return [fit(row, width) for row in rows]


def _foot_lines(height: int, lanes: int) -> int:
    """One line for the axis, or for the letters of units that have no lanes; none where the lanes need it."""
    return 0 if height < 3 or height == lanes else 1


class _Plot:
    """A drawing of the lanes, of which `height` lines are for the plot."""

    def __init__(
        self, view: TimelineView, lanes: list[TimelineLane], width: int, height: int, *, braille: bool, viewed: str
    ) -> None:
        self.view, self.lanes, self.viewed, self.braille = view, lanes, viewed, braille
        self.gutter, self.columns = _gutter(width), plot_columns(width)
        self.height = height
        self.per_cell = 2 if braille else 1
        # For a view that was made for another width: the newest slots, up to the right edge.
        self.shift = self.columns * self.per_cell - max(len(lane.slots) for lane in lanes)
        self.top = _ceiling(lanes, view.budget_ms)

    def cell(self, slot: int) -> int:
        """The column of a slot, which may be outside of the plot."""
        return (slot + self.shift) // self.per_cell

    def rows(self) -> list[Line]:
        if self.height < len(self.lanes):
            return self._overlaid()
        each, left = divmod(self.height, len(self.lanes))
        between = left // max(1, len(self.lanes) - 1)
        rows: list[Line] = []
        for at, lane in enumerate(self.lanes):
            heads = self._heads(lane, each)
            rows += [line(*head, *_joined(cells)) for head, cells in zip(heads, self._lane(lane, each), strict=True)]
            if at < len(self.lanes) - 1:
                rows += [self._blank()] * between
        return [*rows, *[self._blank()] * (self.height - len(rows))]

    def _blank(self) -> Line:
        head: Span = (" " * (self.gutter - 1) + glyphs.AXIS_UP, "muted") if self.gutter else ("", "muted")
        return line(head, *_joined(self._edges([[(" ", "text")] * self.columns])[0]))

    def _lane(self, lane: TimelineLane, height: int) -> Cells:
        """One unit's slots: sparse dots up to P50, all up to P90, one at the maximum, a mark at the top for spikes."""
        canvas = Canvas(self.columns, height, braille=self.braille)
        scale = canvas.high / self.top
        inks = [["low"] * self.columns for _ in range(height)]
        marks: dict[int, Span] = {}
        for at, slot in enumerate(lane.slots, self.shift):
            if slot is None or at < 0:
                continue
            p50, p90, highest = (math.ceil(value * scale - 1e-9) for value in (slot.p50_ms, slot.p90_ms, slot.max_ms))
            if self.braille:
                canvas.sparse_column(at, p50)
                canvas.column(at, p90, min(p50, p90 - 1))
            else:
                canvas.column(at, p90)
            cell = at // self.per_cell
            if height == 1:  # a mark would hide P90
                highest = min(highest, canvas.high)
            elif slot.spike:
                marks[cell] = (glyphs.SPIKE, "high")
            elif highest > canvas.high:
                marks.setdefault(cell, (glyphs.OFF_SCALE, "mid"))
            if p90 < highest <= canvas.high:
                canvas.dot(at, highest - 1)
                row = height - 1 - (highest - 1) // canvas.dots_y
                if slot.spike or (p90 - 1) // canvas.dots_y < (highest - 1) // canvas.dots_y:
                    inks[row][cell] = "high" if slot.spike else inks[row][cell] if inks[row][cell] == "high" else "mid"
        cells = [
            [(character, ink if character != " " else "text") for character, ink in zip(*row, strict=True)]
            for row in zip(canvas.lines(), inks, strict=True)
        ]
        for cell, mark in marks.items():
            cells[0][cell] = mark
        return self._levels(lane, self._edges(cells))

    def _edges(self, cells: Cells) -> Cells:
        """Dotted lines where a load begins and ends, and at the moment that the user selected."""
        places = [(self.cell(slot), "muted") for load in self.view.loads for slot in _edges_of(load)]
        if self.view.pointed is not None:
            places.append((self.cell(self.view.pointed), "accent"))
        for column, ink in places:
            for row in cells if 0 <= column < self.columns else ():
                if row[column][0] == " ":
                    row[column] = (glyphs.GUIDE, ink)
        return cells

    def _levels(self, lane: TimelineLane, cells: Cells) -> Cells:
        """Lines at the budget, and at the spike threshold where the unit has samples of the active load: it is of that
        load alone."""
        since = max((edge for load in self.view.loads for edge in _edges_of(load)), default=0)
        there = {self.cell(at) for at, slot in enumerate(lane.slots) if slot is not None and at >= since}
        for value, glyph, ink, columns in (
            (self.view.budget_ms, glyphs.BUDGET_LEVEL, "accent", range(self.columns)),
            (lane.threshold_ms, glyphs.FENCE, "muted", there),
        ):
            if value is not None and value <= self.top:
                row = cells[row_of(value, self.top, len(cells))]
                for column in columns:
                    if 0 <= column < self.columns and row[column][0] == " ":
                        row[column] = (glyph, ink)
        return cells

    def _heads(self, lane: TimelineLane, height: int) -> list[tuple[Span, ...]]:
        """Name, P90 and scale of a lane, one line each. A threshold or a budget is named instead of a scale's value."""
        if not self.gutter:
            return [()] * height
        labels = inside_labels(self.top, height, max(1, height // _LABEL_EVERY)) if height > 1 else {}
        for value in (lane.threshold_ms, self.view.budget_ms):
            if value is not None and value <= self.top and height > 1:
                labels[row_of(value, self.top, height)] = milliseconds(value)
        ink = "active" if lane.unit == self.viewed else "text"
        room = self.gutter - 1
        p90 = milliseconds(lane.p90_ms) if lane.p90_ms is not None else ""
        if height == 1:
            name = _name(lane.unit, room - len(p90) - 1)
            return [((f"{name:<{room - len(p90)}}", ink), (p90, "muted"), (glyphs.AXIS_UP, "muted"))]
        # P90 is named on the first line without a label of the scale, which leaves room for both.
        named = f"P90 {p90}"
        at = next((row for row in range(1, height) if row not in labels and p90 and len(named) <= room), None)
        heads: list[tuple[Span, ...]] = []
        for row in range(height):
            if row == at:
                heads.append(((f"{named:<{room}}", "muted"), (glyphs.AXIS_UP, "muted")))
                continue
            label = labels.get(row, "")
            joint = glyphs.AXIS_TICK if label else glyphs.AXIS_UP
            left, own = (
                (_name(lane.unit, room - _LABEL), ink)
                if row == 0
                else (p90, "muted")
                if row == 1 and at is None
                else ("", ink)
            )
            heads.append(((f"{left:<{room - _LABEL}}", own), (f"{label:>{_LABEL}}{joint}", "muted")))
        return heads

    def _overlaid(self) -> list[Line]:
        """Fewer lines than units: the letter of each at its P90; of two in one place, the first one's."""
        cells: Cells = [[(" ", "text")] * self.columns for _ in range(self.height)]
        for letter, lane in reversed(list(zip(ascii_lowercase, self.lanes, strict=False))):
            ink = "active" if lane.unit == self.viewed else "low"
            for at, slot in enumerate(lane.slots, self.shift):
                if slot is not None and at >= 0:
                    row = row_of(min(slot.p90_ms, self.top), self.top, self.height)
                    cells[row][at // self.per_cell] = (letter, "high" if slot.spike else ink)
        labels = inside_labels(self.top, self.height, max(1, self.height // _LABEL_EVERY)) if self.gutter else {}
        rows = []
        for at, drawn in enumerate(self._edges(cells)):
            label = labels.get(at, "")
            head = f"{label:>{self.gutter - 1}}{glyphs.AXIS_TICK if label else glyphs.AXIS_UP}" if self.gutter else ""
            rows.append(line((head, "muted"), *_joined(drawn)))
        return rows

    def foot(self, *, legend: bool) -> list[Line]:
        """The axis with loads, marks and the time ago on it; or the letters of the units."""
        if legend:
            return [self._legend()]
        axis: list[Span] = [(glyphs.AXIS, "muted")] * self.columns
        for load in self.view.loads:
            first, last = max(0, self.cell(load.first)), min(self.columns - 1, self.cell(load.last))
            name = clean(load.load, last - first - 1) if last - first > 1 else ""
            for column in range(first, last + 1):
                axis[column] = (glyphs.SHADE, "accent")
            start = first + max(0, (last + 1 - first - len(name)) // 2)
            axis[start : start + len(name)] = [(character, "accent") for character in name]
        marks = [
            (self.cell(mark.slot), _MARK_GLYPHS.get(mark.kind, glyphs.NOTE), mark.text) for mark in self.view.marks
        ]
        if self.view.pointed is not None:
            marks.append((self.cell(self.view.pointed), glyphs.POINTED, ""))
        for column, glyph, _ in marks:
            if 0 <= column < self.columns:
                axis[column] = (glyph, "accent")
        for column, _, text in marks:
            if text and column >= 0:
                _write(axis, column + 1, clean(unit_name(text, short=True), _LONGEST_NAME), "accent")
        for column, age in self._ticks():
            if axis[column][0] == glyphs.AXIS:
                axis[column] = (glyphs.AXIS_DOWN, "muted")
                _write(axis, column + 1, age, "muted")
        head = f"{'0':>{self.gutter - 1}}{glyphs.AXIS_CORNER}" if self.gutter else ""
        return [line((head, "muted"), *_joined(axis))]

    def _ticks(self) -> list[tuple[int, str]]:
        """Columns of round times ago, and what they are."""
        span_s = self.columns * self.per_cell * self.view.slot_ns / NS_PER_S
        unit_s, unit = next((s, name) for s, name in ((3600, "h"), (60, "min"), (1, "s")) if span_s > 2 * s or s == 1)
        span = span_s / unit_s
        most = max(1, self.columns // _TICK_EVERY)
        step = next((each for each in _STEPS if span <= each * most), None) or nice_step(span, most)
        times = range(1, int(span / step + 1e-9) + 1)
        return [(self.columns - round(i * step / span * self.columns), f"-{i * step:g} {unit}") for i in times]

    def _legend(self) -> Line:
        spans: list[Span] = []
        for letter, lane in zip(ascii_lowercase, self.lanes, strict=False):
            ink = "active" if lane.unit == self.viewed else "text"
            p90 = UNKNOWN if lane.p90_ms is None else milliseconds(lane.p90_ms)
            spans += [(f"{letter} ", "low"), (_name(lane.unit, _LONGEST_NAME), ink), (f" {p90}   ", "muted")]
        return line(*spans)


def _name(unit: str, room: int) -> str:
    return clean(unit_name(unit, short=True), max(1, room))


def _write(axis: list[Span], column: int, text: str, ink: str) -> None:
    """Text on the axis, if there is room for it and a cell after it."""
    free = axis[column : column + len(text) + 1]
    if len(free) > len(text) and all(character == glyphs.AXIS for character, _ in free):
        axis[column : column + len(text)] = [(character, ink) for character in text]


def _edges_of(load: TimelineLoad) -> list[int]:
    return [slot for slot, there in ((load.first, load.begins), (load.last, load.ends)) if there]


def _joined(cells: Sequence[Span]) -> Line:
    return runs([character for character, _ in cells], [ink for _, ink in cells])


def _ceiling(lanes: list[TimelineLane], budget_ms: float | None) -> float:
    """A round top of the scale: above the P90s and most maxima of every unit, so that only rare ones are off it."""
    drawn = [[slot for slot in lane.slots if slot is not None] for lane in lanes]
    usual = max(_without_rarest([slot.p90_ms for slot in slots]) for slots in drawn)
    frequent = max(_without_rarest([slot.max_ms for slot in slots]) for slots in drawn)
    highest = max(slot.max_ms for slots in drawn for slot in slots)
    most = max(usual * (_CLIP if len(lanes) == 1 else _CLIP_LANES), min(frequent, usual * _CLIP_FREQUENT))
    levels = [lane.threshold_ms for lane in lanes] + [budget_ms]
    return nice_ceiling(max(min(highest, most), *(level for level in levels if level is not None and level <= most), 0))


def _without_rarest(values: list[float]) -> float:
    """The highest, without the rarest of them."""
    return sorted(values)[-1 - max(1, len(values) // _RAREST) if len(values) > 1 else -1]
