"""The scrub bar of a replay: position, marks, speed; a click or a drag goes there."""

from __future__ import annotations

from dataclasses import dataclass

from textual.events import MouseDown, MouseMove, MouseUp
from textual.message import Message

from hettop.format import clock
from hettop.tui.charts import glyphs
from hettop.tui.charts.base import Chart
from hettop.tui.charts.lines import Line, fit, line, runs
from hettop.tui.feed import ReplayStatus
from hettop.tui.picture import Picture


class ScrubBar(Chart):
    """One line across the screen."""

    ALLOW_SELECT = False  # a drag moves through time

    @dataclass
    class Sought(Message):
        """The user pointed at a moment of the recording."""

        position_ns: int

    def __init__(self, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(id="scrub", ascii=ascii)
        self.status: ReplayStatus | None = None
        self._dragging = False

    def show(self, picture: Picture) -> None:
        self.status = picture.replay
        self.redraw()

    def lines(self, width: int, height: int) -> list[Line]:
        return [scrub_line(self.status, width)] if self.status is not None and height else []

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


def scrub_line(status: ReplayStatus, width: int) -> Line:
    """` ▶ 00:27.5 ━━━━╸──◆──── 01:00.0  1x `: where the replay stands, in `width` cells."""
    head, tail = _ends(status)
    track = _track_width(status, width)
    if track < 1:
        return fit(head, width)
    characters = [glyphs.TRACK] * track
    inks = ["edge"] * track
    here = _column(status.position_ns, status.duration_ns, track)
    characters[:here] = glyphs.TRACK_DONE * here
    inks[:here] = ["low"] * here
    for moment in status.marks_ns:
        column = _column(moment, status.duration_ns, track)
        characters[column], inks[column] = glyphs.NOTE, "accent"
    characters[here], inks[here] = glyphs.KNOB, "strong"
    return fit((*head, *runs(characters, inks), *tail), width)


def moment_at(status: ReplayStatus, x: int, width: int) -> int | None:
    """The moment drawn at cell `x`; beyond an end of the track, that end."""
    track = _track_width(status, width)
    if track < 2:
        return None
    head, _ = _ends(status)
    column = min(track - 1, max(0, x - sum(len(text) for text, _ in head)))
    return round(column / (track - 1) * status.duration_ns)


def _ends(status: ReplayStatus) -> tuple[Line, Line]:
    state = f"{glyphs.PLAY} " if status.playing else glyphs.PAUSE
    head = line((f" {state} ", "accent"), (f"{clock(status.position_ns, 1)} ", "strong"))
    return head, line((f" {clock(status.duration_ns, 1)}", "text"), (f"  {status.speed:g}x ", "muted"))


def _track_width(status: ReplayStatus, width: int) -> int:
    head, tail = _ends(status)
    return width - sum(len(text) for text, _ in (*head, *tail))


def _column(moment_ns: int, duration_ns: int, track: int) -> int:
    share = moment_ns / duration_ns if duration_ns > 0 else 0.0
    return min(track - 1, max(0, round(share * (track - 1))))
