"""Panel 2: latency over time: P90 and maximum per slot of the time window, spikes, marks."""

from __future__ import annotations

import math
from statistics import median

from hettop.format import count, milliseconds, seconds
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, fit, line, runs
from hettop.session.views.structs import TimelineSlot, TimelineView
from hettop.stats.axes import nice_ceiling, nice_step, row_labels, row_of
from hettop.tui.frame_state import FrameState
from hettop.tui.panels.histogram import GUTTER, plot_columns
from hettop.tui.panels.panel import Panel, inner_size
from hettop.units import NS_PER_S


class TimelinePanel(Panel):
    """Latency over time."""

    NUMBER = 2

    @property
    def columns(self) -> int:
        """How many slots fit."""
        return slot_columns(inner_size(self.size.width, self.size.height)[0])

    def title(self, frame_state: FrameState) -> Line:
        view = frame_state.session.timeline
        spikes = f"{count(view.spikes)} spike{'' if view.spikes == 1 else 's'} in this window"
        if view.spikes is None:
            spikes = "too few samples for spikes"
        threshold = (
            (f" · threshold {glyphs.FENCE} {milliseconds(view.threshold_ms)} ms", "muted")
            if view.threshold_ms is not None
            else ("", "muted")
        )
        return line(
            ("timeline", "title"),
            (" · ", "muted"),
            (spikes, "high" if view.spikes else "muted"),
            (f" · {glyphs.FULL} max ", "muted"),
            (glyphs.SHADE, "low"),
            (f" P90 per {seconds(view.slot_ns)}", "muted"),
            threshold,
        )

    def body(self, frame_state: FrameState, width: int, height: int) -> list[Line]:
        if frame_state.waiting is not None:
            return [fit(line((frame_state.waiting, "muted")), width)]
        return draw_timeline(frame_state.session.timeline, width, height)


_MARK_GLYPHS = {
    "mark": glyphs.NOTE,
    "load": glyphs.LOAD,
    "control": glyphs.CONTROL,
    "drift": glyphs.DRIFT,
    "pointed": glyphs.CLIPPED,
}
_LABEL_EVERY = 2  # lines
_LEVELS = len(glyphs.EIGHTHS) - 1
_TICK_EVERY = 12  # columns
# One spike of 100 times the usual latency would flatten the rest: higher ones are cut and marked.
_CLIP = 6.0


def slot_columns(width: int) -> int:
    """How many slots a timeline of this width can show, to request from the view."""
    return plot_columns(width)


def draw_timeline(view: TimelineView, width: int, height: int) -> list[Line]:
    """The timeline as exactly `height` lines of `width` cells."""
    if height < 1 or width < 1:
        return []
    # For a view that was made for another width: the newest slots.
    slots = view.slots[-slot_columns(width) :]
    gutter = width - slot_columns(width)
    known = [slot for slot in slots if slot is not None]
    if not known:
        rows = [fit((), width)] * height
        words = "no samples in this window"
        rows[height // 2] = fit(line((" " * max(0, (width - len(words)) // 2), "text"), (words, "muted")), width)
        return rows
    foot = 0 if height < 3 else 1 if height < 5 else 2
    top = _ceiling(known, view.threshold_ms)
    first = len(view.slots) - len(slots)
    pointed = None if view.pointed is None else view.pointed - first
    rows = _plot(slots, view.threshold_ms, top, height - foot, gutter=gutter, pointed=pointed)
    ages = [(len(view.slots) - first - i) * view.slot_ns for i in range(len(slots))]
    marks = [(slot - first, kind) for slot, kind in view.marks]
    rows += _foot(ages, marks if pointed is None else [*marks, (pointed, "pointed")], gutter)[:foot]
    return [fit(row, width) for row in rows]


def _ceiling(known: list[TimelineSlot], threshold_ms: float | None) -> float:
    """A round top of the scale: above all samples, except a few far above the usual P90."""
    usual = median(slot.p90_ms for slot in known)
    highest = max(slot.max_ms for slot in known)
    top = max(min(highest, _CLIP * usual), min(threshold_ms or 0.0, _CLIP * usual))
    return nice_ceiling(top)


def _plot(
    slots: tuple[TimelineSlot | None, ...],
    threshold_ms: float | None,
    top: float,
    height: int,
    *,
    gutter: int,
    pointed: int | None,
) -> list[Line]:
    scale = height * _LEVELS / top
    threshold_row = None if threshold_ms is None or threshold_ms > top else row_of(threshold_ms, top, height)
    levels = [
        (0, 0, False) if slot is None else (math.ceil(slot.p90_ms * scale), math.ceil(slot.max_ms * scale), slot.spike)
        for slot in slots
    ]
    labels = row_labels(top, height, max(1, height // _LABEL_EVERY)) if gutter else {}
    rows: list[Line] = []
    for row in range(height):
        base = (height - 1 - row) * _LEVELS
        cells = [_cell(level, base, row == 0, row == threshold_row) for level in levels]
        if pointed is not None and 0 <= pointed < len(cells) and cells[pointed][0] in (" ", glyphs.FENCE):
            cells[pointed] = (glyphs.GUIDE, "accent")
        head = _head(labels.get(row), threshold_ms if row == threshold_row else None) if gutter else ""
        rows.append(line((head, "muted"), *runs([c for c, _ in cells], [t for _, t in cells])))
    return rows


def _head(label: str | None, threshold_ms: float | None) -> str:
    """A line's label and the axis. A line is a range that ends at its label; a threshold within it is named instead."""
    if label is None:
        return f"{'':>{GUTTER - 2}} {glyphs.AXIS_UP}"
    if threshold_ms is None or float(label) == threshold_ms:
        return f"{label:>{GUTTER - 2}} {glyphs.AXIS_TICK}"
    own = milliseconds(threshold_ms)
    return f"{own if len(own) <= GUTTER - 2 else f'{threshold_ms:.2g}':>{GUTTER - 2}} {glyphs.AXIS_UP}"


def _cell(level: tuple[int, int, bool], base: int, uppermost: bool, threshold: bool) -> tuple[str, str]:
    """One cell of a slot: P90 shaded, above it up to the maximum solid; spikes in the colour of spikes."""
    p90, highest, spike = level
    ink = "high" if spike else "mid"
    if uppermost and highest > base + _LEVELS:
        return glyphs.CLIPPED, ink
    # The cell in which P90 ends belongs to the part that fills more of it.
    if p90 >= base + _LEVELS or (highest > base and p90 - base >= _LEVELS // 2):
        return glyphs.SHADE, "low"
    if highest > base:
        return glyphs.EIGHTHS[min(highest - base, _LEVELS)], ink
    return (glyphs.FENCE, "muted") if threshold else (" ", "text")


def _foot(ages_ns: list[int], marks: list[tuple[int, str]], gutter: int) -> list[Line]:
    """The axis with the user's marks on it, and the seconds ago."""
    columns = len(ages_ns)
    span = ages_ns[0] / NS_PER_S if ages_ns else 0.0
    step = nice_step(span, max(1, columns // _TICK_EVERY)) or 1.0
    axis = [glyphs.AXIS] * columns
    inks = ["muted"] * columns
    room = [" "] * (gutter + columns)
    for i in range(1, int(span / step + 1e-9) + 1):
        column = columns - round(i * step / span * columns)
        label = f"-{i * step:g} s"
        start = max(0, gutter + column - len(label) // 2)
        axis[column] = glyphs.AXIS_DOWN
        if "".join(room[max(0, start - 1) : start + len(label) + 1]).strip() == "":
            room[start : start + len(label)] = label
    room[-3:] = "now"
    for slot, kind in marks:
        if 0 <= slot < columns:
            axis[slot], inks[slot] = _MARK_GLYPHS.get(kind, glyphs.NOTE), "accent"
    head = f"{'0':>{GUTTER - 2}} {glyphs.AXIS_CORNER}" if gutter else ""
    return [line((head, "muted"), *runs(axis, inks)), line(("".join(room), "muted"))]
