"""The top line: the model, the units, and the state of measurement, replay and recording."""

from __future__ import annotations

from dataclasses import dataclass

from hettop.format import UNKNOWN, clock, count, per_second, size, unit_name
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, fit, line, width_of
from hettop.session.views.machine import PowerView
from hettop.session.views.structs import HeaderView
from hettop.text import clean
from hettop.tui.chart import Chart
from hettop.tui.feed import RecordingStatus, ReplayStatus
from hettop.tui.frame_state import FrameState


@dataclass(frozen=True, slots=True)
class Item:
    """A part of the header. On a narrow screen parts of the highest `rank` are left out first; rank 0 stays."""

    rank: int
    spans: Line
    right: bool = False


class Header(Chart):
    """One line of items, as many as fit; in reverse while the numbers do not change."""

    def __init__(self, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(id="header", ascii=ascii)
        self.frame_state: FrameState | None = None

    def show(self, frame_state: FrameState) -> None:
        self.frame_state = frame_state
        self.redraw()

    def lines(self, width: int, height: int) -> list[Line]:
        if not height:
            return []
        return [header_line(self.frame_state, width) if self.frame_state else fit(_OPENING, width)]


_OPENING: Line = ((" hettop", "strong"), ("  opening …", "muted"))


def header_line(frame_state: FrameState, width: int) -> Line:
    """The whole header in `width` cells."""
    items = _fitting(_items(frame_state, short=width < 100), width)
    left = _joined([item for item in items if not item.right])
    right = _joined([item for item in items if item.right])
    gap = width - width_of(left) - width_of(right) - 1
    spans = fit((*left, (" " * max(0, gap), "text"), *right), width)
    return _banner(spans) if frame_state.halted else spans


def _fitting(items: list[Item], width: int) -> list[Item]:
    """Those that fit, the most important first: one that is too long takes no room from shorter ones after it."""
    kept: set[int] = set()
    room = width
    for i in sorted(range(len(items)), key=lambda i: items[i].rank):
        cells = width_of(items[i].spans) + 2
        if items[i].rank == 0 or cells <= room:
            kept.add(i)
            room -= cells
    return [item for i, item in enumerate(items) if i in kept]


def _banner(spans: Line) -> Line:
    return tuple((text, "simulated" if ink == "simulated" else "banner") for text, ink in spans)


def _joined(items: list[Item]) -> Line:
    spans: list[Span] = []
    for item in items:
        spans += [(" " if not spans and not item.right else "  ", "text"), *item.spans]
    return tuple(spans)


def _items(frame_state: FrameState, *, short: bool) -> list[Item]:
    view = frame_state.session.header
    found = [
        Item(7, line(("hettop", "strong"))),
        Item(0, line((" SIMULATED ", "simulated"))) if view.simulated else None,
        Item(0, line((" POWER: CAPTURE ", "simulated"))) if frame_state.session.power.capture else None,
        Item(0, _state(frame_state)),
        Item(3, line((clean(view.model, 20 if short else 36), "strong"))) if view.model else None,
        Item(5, line((clean(view.model_note, 40), "muted"))) if view.model_note else None,
        Item(1, _units(view)) if view.units and not frame_state.co_executing else None,
        Item(2, line((_position(frame_state), "strong"))),
        Item(4, line((per_second(view.rate_per_s), "text"))) if view.rate_per_s is not None else None,
        Item(4, line((f"calls {count(view.samples)}", "text"))),  # with those of the warm-up, which no `n` has
        Item(3, line((f"dropped {count(view.dropped)}", "error"))) if view.dropped else None,
        Item(3, line((f"paced {per_second(view.rate_hz)}", "muted"))) if view.rate_hz else None,
        Item(6, line((clean(view.mode), "muted"))) if view.mode not in ("single", "paced", "coexec", "") else None,
        Item(8, line((clean(view.chip, 28), "muted"))) if view.chip else None,
        Item(2, _watts(frame_state.session.power)) if short and frame_state.session.power.rails else None,
        Item(2, line(("load ", "muted"), (clean(view.load, 28), "accent"))) if view.load != "none" else None,
        Item(2, _advised(view.advised)) if view.advised else None,
        _folded_by(frame_state.replay),
        _recording(frame_state.recording),
        Item(9, line((f"{frame_state.fps:g} fps", "muted")), right=True),
    ]
    return [item for item in found if item is not None]


def _watts(view: PowerView) -> Line:
    """Watts now, for screens without the power panel."""
    named = [(row.rail.upper(), UNKNOWN if row.now_w is None else f"{row.now_w:.1f}") for row in view.rails[:3]]
    return line(*(span for name, now in named for span in ((name, "muted"), (f"{now} ", "text"))), ("W", "muted"))


def _state(frame_state: FrameState) -> Line:
    """Whether this is live, a replay, paused or frozen; a replay of a pause is shown as both."""
    replayed = [(" REPLAY", "banner")] if frame_state.replay is not None else []
    if frame_state.co_executing and not frame_state.frozen:
        names = " + ".join(clean(unit_name(unit, short=True)) for unit in frame_state.session.header.units)
        return line((f"{glyphs.PLAY} {frame_state.halted} {names}", "banner"), *replayed)
    if frame_state.halted:
        return line((f"{glyphs.PAUSE} {frame_state.halted}", "banner"), *replayed)
    if frame_state.replay is not None:
        return _replay_state(frame_state.replay)
    return line((f"{glyphs.PLAY} LIVE", "good"))


def _replay_state(replay: ReplayStatus) -> Line:
    if replay.playing:
        return line((f"{glyphs.PLAY} REPLAY", "accent"))
    return line((f" {glyphs.PAUSE} REPLAY ", "badge"))


def _units(view: HeaderView) -> Line:
    """Interleaved units are separated by a slash: a plus would look like units that run at the same time."""
    names = " / ".join(clean(unit_name(unit, short=len(view.units) > 1)) for unit in view.units)
    return line((f"{glyphs.OF} ", "muted"), (names, "active"))


def _position(frame_state: FrameState) -> str:
    if frame_state.replay is not None:
        return f"{clock(frame_state.replay.position_ns, 1)}/{clock(frame_state.replay.duration_ns, 1)}"
    return clock(frame_state.session.header.elapsed_ns)


def _advised(unit: str) -> Line:
    return line(("advice ", "muted"), (clean(unit_name(unit, short=True), 12), "badge"), (" v", "muted"))


def _folded_by(replay: ReplayStatus | None) -> Item | None:
    """A mark on figures that another version computed, and this one might compute differently."""
    if replay is None or replay.folded_by is None:
        return None
    return Item(0, line((f"computed by {clean(replay.folded_by, 30)}", "warning")))


def _recording(status: RecordingStatus | None) -> Item | None:
    if status is None:
        return None
    if status.fault is not None:
        return Item(0, line((f"{glyphs.RECORD} REC FAILED: {clean(status.fault, 40)}", "error")), right=True)
    return Item(1, line((f"{glyphs.RECORD} REC", "error"), (f" {size(status.size_bytes)}", "text")), right=True)
