"""Panel 1: the latency distributions of the time window: of one unit as a histogram, or of all units on one axis."""

from __future__ import annotations

from hettop.format import seconds
from hettop.report.terminal.lines import Line, Span, line, wrapped
from hettop.session.views.structs import RidgeView, Scale
from hettop.text import clean
from hettop.tui.frame_state import FrameState
from hettop.tui.panels.histogram import budget_words, centred, draw_histogram, plot_columns, scale_words
from hettop.tui.panels.panel import Panel, inner_size
from hettop.tui.panels.ridge import draw_ridge, has_room, missing_words, ridge_columns, ridge_legend


class LatencyPanel(Panel):
    """Distributions with percentiles."""

    NUMBER = 1

    @property
    def columns(self) -> int:
        """How many histogram columns fit: two in a cell."""
        return 2 * plot_columns(self._width)

    @property
    def ridge_columns(self) -> int:
        """How many columns of each unit's density fit: two in a cell."""
        return 2 * ridge_columns(self._width)

    @property
    def _width(self) -> int:
        return inner_size(self.size.width, self.size.height)[0]

    def _ridge(self, frame_state: FrameState) -> RidgeView | None:
        """All units' distributions, if they are to be drawn and have room."""
        there = has_room(*inner_size(self.size.width, self.size.height))
        return frame_state.session.ridge if there else None

    def title(self, frame_state: FrameState) -> Line:
        session, ridge = frame_state.session, self._ridge(frame_state)
        view = session.latency
        unit = "all units" if ridge is not None else clean(view.unit) if view.unit else "no unit yet"
        load = clean(session.header.load)
        under = "" if load == "none" else f" · under {load}"
        # Of a young session the timeline's window is as long as there was time for; samples older than either are none.
        window_ns = min(view.window_ns, session.timeline.window_ns)
        places = view.axis if ridge is None else ridge.axis
        start = line(("latency ms", "title"), (f" · last {seconds(window_ns)}", "muted"))
        condition: Span = (under + scale_words(view.scale, places), "muted")
        whole = line(*start, (" · ", "muted"), (unit, "active"), condition)
        # All units are named in the panel.
        return whole if ridge is None or self.title_has_room(whole) else line(*start, condition)

    def foot(self, frame_state: FrameState) -> Line:
        session = frame_state.session
        if (ridge := self._ridge(frame_state)) is not None:
            return ridge_legend(ridge)
        view = session.latency
        if not view.n or view.needs:
            return ()
        return budget_words(view.budget, view.axis, cdf=view.scale is Scale.CDF)

    def body(self, frame_state: FrameState, width: int, height: int) -> list[Line]:
        session = frame_state.session
        study = session.header.study
        if study is not None and session.header.paused and not session.latency.n:
            note = f"Inference is paused while the study {clean(study, 20)} runs: y shows it."
            return [line((text, "muted")) for text in wrapped(note, width)]
        if frame_state.waiting is not None:
            return [line((text, "muted")) for text in wrapped(frame_state.waiting, width)]
        if session.ridge is not None and has_room(width, height):
            return draw_ridge(session, width, height, braille=frame_state.braille)
        if not session.latency.n or session.latency.needs:
            return centred(missing_words(session.latency, session), width, height)
        return draw_histogram(session.latency, width, height, braille=frame_state.braille)
