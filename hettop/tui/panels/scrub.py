"""The scrub bar of a replay: position, marks and changes, the whole recording at a glance, and what is selected.

A click or a drag goes to the moment under it.
"""

from __future__ import annotations

from dataclasses import dataclass

from textual.events import MouseDown, MouseMove, MouseUp
from textual.message import Message

from hettop.format import clock
from hettop.session.replay_views import Band
from hettop.tui.charts import glyphs
from hettop.tui.charts.bands import draw_bands
from hettop.tui.charts.base import Chart
from hettop.tui.charts.lines import Line, fit, line, runs, width_of
from hettop.tui.feed import ReplayStatus
from hettop.tui.panels.selection import selection_line
from hettop.tui.picture import Picture

OVERVIEW_LINES = 3
_CHANGES = {"control": glyphs.CONTROL, "load": glyphs.LOAD}


class ScrubBar(Chart):
    """One line across the screen; where there is room, three above it that show the whole recording.

    A selection has a line of its own below.
    """

    ALLOW_SELECT = False  # a drag moves through time

    @dataclass
    class Sought(Message):
        """The user pointed at a moment of the recording."""

        position_ns: int

    def __init__(self, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(id="scrub", ascii=ascii)
        self.status: ReplayStatus | None = None
        self.bands: tuple[Band | None, ...] = ()
        self._dragging = False

    @property
    def columns(self) -> int:
        """How many columns of an overview there is room for; 0 where there is room for one line only."""
        if self.status is None or self.size.height <= OVERVIEW_LINES:
            return 0
        return max(0, track_width(self.status, self.size.width))

    def show(self, picture: Picture) -> None:
        self.status, self.bands = picture.replay, picture.bands
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
    """` ▶ 00:27.5 ━━▸━╸──◆──── 01:00.0  1x `: where the replay stands, in `width` cells."""
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
        if moment > 0:  # what was in force at the beginning has changed nothing
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
    """The cells between what is said before and after the track; may be below 1."""
    head, tail = _ends(status)
    return width - width_of((*head, *tail))


def _ends(status: ReplayStatus) -> tuple[Line, Line]:
    state = f"{glyphs.PLAY} " if status.playing else glyphs.PAUSE
    head = line((f" {state} ", "accent"), (f"{clock(status.position_ns, 1)} ", "strong"))
    return head, line((f" {clock(status.duration_ns, 1)}", "text"), (f"  {status.speed:g}x ", "muted"))


def _column(moment_ns: int, duration_ns: int, track: int) -> int:
    share = moment_ns / duration_ns if duration_ns > 0 else 0.0
    return min(track - 1, max(0, round(share * (track - 1))))
