"""The scrub bar of a replay: position, marks and changes, an overview of the recording, and the selection.

A click or a drag seeks to the moment under it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from textual.events import MouseDown, MouseMove, MouseUp
from textual.message import Message

from hettop.format import clock, count, milliseconds, percent, unit_name
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, fit, line, runs, width_of
from hettop.session.views.replay import Band, SelectedUnit, Selection
from hettop.text import clean
from hettop.tui.chart import Chart
from hettop.tui.feed import ReplayStatus
from hettop.tui.frame_state import FrameState

OVERVIEW_LINES = 3
_CHANGES = {"control": glyphs.CONTROL, "load": glyphs.LOAD}


class ScrubBar(Chart):
    """One line across the screen; on tall screens three above it with an overview of the recording.

    A selection has its own line below.
    """

    ALLOW_SELECT = False  # a drag moves through time

    @dataclass
    class Sought(Message):
        """The user clicked a moment of the recording."""

        position_ns: int

    def __init__(self, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(id="scrub", ascii=ascii)
        self.status: ReplayStatus | None = None
        self.bands: tuple[Band | None, ...] = ()
        self._dragging = False

    @property
    def columns(self) -> int:
        """How many columns of the overview fit; 0 where only one line fits."""
        if self.status is None or self.size.height <= OVERVIEW_LINES:
            return 0
        return max(0, track_width(self.status, self.size.width))

    def show(self, frame_state: FrameState) -> None:
        self.status, self.bands = frame_state.replay, frame_state.bands
        self.set_class(self.status is not None and self.status.selection is not None, "-selecting")
        self.redraw()

    def lines(self, width: int, height: int) -> list[Line]:
        return scrub_lines(self.status, self.bands, width, height) if self.status is not None and height else []

    def on_mouse_down(self, event: MouseDown) -> None:
        self._dragging = True
        self.capture_mouse()
        self._seek(event.x)

    def on_mouse_move(self, event: MouseMove) -> None:
        if self._dragging:
            self._seek(event.x)

    def on_mouse_up(self, _: MouseUp) -> None:
        self._dragging = False
        self.release_mouse()

    def _seek(self, x: int) -> None:
        if self.status is not None and (position := moment_at(self.status, x, self.size.width)) is not None:
            self.post_message(self.Sought(position))


def scrub_lines(status: ReplayStatus, bands: tuple[Band | None, ...], width: int, height: int) -> list[Line]:
    """The bar in `height` lines: the overview from four lines on, the track, and the selection if there is one."""
    below = [] if status.selection is None or height < 2 else [selection_line(status.selection, width)]
    above: list[Line] = []
    if height - len(below) > OVERVIEW_LINES and track_width(status, width) > 0:
        head, tail = _ends(status)
        above = draw_bands(bands, width_of(head), track_width(status, width), width_of(tail))
    return [*above, scrub_line(status, width), *below]


def scrub_line(status: ReplayStatus, width: int) -> Line:
    """` ▶ 00:27.5 ━━▸━╸──◆──── 01:00.0  1x `: the position of the replay, in `width` cells."""
    head, tail = _ends(status)
    track = track_width(status, width)
    if track < 1:
        return fit(head, width)
    characters = [glyphs.TRACK] * track
    inks = ["edge"] * track
    here = _column(status.position_ns, status.duration_ns, track)
    characters[:here] = glyphs.TRACK_DONE * here
    inks[:here] = ["low"] * here
    for moment, kind in status.changes:
        if moment > 0:  # the state at the beginning is not a change
            column = _column(moment, status.duration_ns, track)
            characters[column], inks[column] = _CHANGES.get(kind, glyphs.CONTROL), "muted"
    for moment in status.marks_ns:
        column = _column(moment, status.duration_ns, track)
        characters[column], inks[column] = glyphs.NOTE, "accent"
    _draw_selection(status, characters, inks)
    characters[here], inks[here] = glyphs.KNOB, "strong"
    return fit((*head, *runs(characters, inks), *tail), width)


def _draw_selection(status: ReplayStatus, characters: list[str], inks: list[str]) -> None:
    if status.selection is None:
        return
    ends = [
        None if moment is None else _column(moment, status.duration_ns, len(characters))
        for moment in (status.selection.start_ns, status.selection.end_ns)
    ]
    first, last = ends
    if first is not None and last is not None:
        inks[first : last + 1] = ["warning"] * (last + 1 - first)
    for column, glyph in zip(ends, "()", strict=True):
        if column is not None:
            characters[column], inks[column] = glyph, "warning"


def moment_at(status: ReplayStatus, x: int, width: int) -> int | None:
    """The moment drawn at cell `x`; beyond an end of the track, that end."""
    track = track_width(status, width)
    if track < 2:
        return None
    head, _ = _ends(status)
    column = min(track - 1, max(0, x - width_of(head)))
    return round(column / (track - 1) * status.duration_ns)


def track_width(status: ReplayStatus, width: int) -> int:
    """The cells between the texts before and after the track; may be below 1."""
    head, tail = _ends(status)
    return width - width_of((*head, *tail))


def _ends(status: ReplayStatus) -> tuple[Line, Line]:
    state = f"{glyphs.PLAY} " if status.playing else glyphs.PAUSE
    head = line((f" {state} ", "accent"), (f"{clock(status.position_ns, 1)} ", "strong"))
    return head, line((f" {clock(status.duration_ns, 1)}", "text"), (f"  {status.speed:g}x ", "muted"))


def _column(moment_ns: int, duration_ns: int, track: int) -> int:
    share = moment_ns / duration_ns if duration_ns > 0 else 0.0
    return min(track - 1, max(0, round(share * (track - 1))))


_LEVELS = len(glyphs.EIGHTHS) - 1
# One spike of 100 times the usual latency would flatten the rest: higher ones are cut and marked.
_CLIP = 6.0


def draw_bands(bands: Sequence[Band | None], head: int, track: int, tail: int) -> list[Line]:
    """Three lines of `head` + `track` + `tail` cells; a part that has not been read is empty."""
    shown = [*bands, *[None] * track][:track]
    return [
        _row("max", [None if band is None else band.max_ms for band in shown], "high", head, tail),
        _row("P90", [None if band is None else band.p90_ms for band in shown], "mid", head, tail),
        _row("P50", [None if band is None else band.p50_ms for band in shown], "low", head, tail),
    ]


def _row(name: str, values: Sequence[float | None], ink: str, head: int, tail: int) -> Line:
    known = [value for value in values if value is not None]
    top = min(max(known), _CLIP * median(known)) if known else 0.0
    characters = [" " if value is None else _glyph(value, top) for value in values]
    label = line((f"{name} ".rjust(head), ink))
    highest = line((f" {glyphs.UP}{milliseconds(max(known))} ms" if known else "", "muted"))
    return (*fit(label, head), *runs(characters, [ink] * len(characters)), *fit(highest, tail))


def _glyph(value: float, top: float) -> str:
    if value > top:
        return glyphs.OFF_SCALE
    return glyphs.EIGHTHS[max(1, min(_LEVELS, math.ceil(value / top * _LEVELS)))] if top > 0 else glyphs.EIGHTHS[1]


_WIDE = 110  # cells; below, units have short names


def selection_line(selection: Selection, width: int) -> Line:
    """`( 00:10.0 – 00:20.0 ) loop  CPU_AND_NE n 4,210 P50 2.19 P90 2.37 max 6.54 2 spikes`: as many units as fit.

    The first is always shown, and those that do not fit are counted.
    """
    short = width < _WIDE
    shown = _heading(selection, short=short)
    left = len(selection.units)
    for unit in selection.units:
        longer = (*shown, *_unit(unit, short=short))
        if left < len(selection.units) and width_of((*longer, *_more(left - 1))) > width:
            break
        shown, left = longer, left - 1
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
    # From many samples on, quantiles come from the histogram and are approximate.
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
