"""Panel 1: the latency distribution of one unit over the trailing window."""

from __future__ import annotations

from hettop.format import seconds
from hettop.report.terminal.lines import Line, line, wrapped
from hettop.text import clean
from hettop.tui.charts.histogram import draw_histogram, plot_columns
from hettop.tui.frame_state import FrameState
from hettop.tui.panels.panel import Panel, inner_size


class LatencyPanel(Panel):
    """Histogram with percentiles."""

    NUMBER = 1

    @property
    def columns(self) -> int:
        """How many histogram columns there is room for."""
        return plot_columns(inner_size(self.size.width, self.size.height)[0])

    def title(self, frame_state: FrameState) -> Line:
        view = frame_state.session.latency
        unit = clean(view.unit) if view.unit else "no unit yet"
        load = clean(frame_state.session.header.load)
        under = "" if load == "none" else f" · under {load}"
        return line(
            ("latency ms", "title"),
            (f" · last {seconds(view.window_ns)} · ", "muted"),
            (unit, "active"),
            (under, "muted"),
        )

    def body(self, frame_state: FrameState, width: int, height: int) -> list[Line]:
        study = frame_state.session.header.study
        if study is not None and frame_state.session.header.paused and not frame_state.session.latency.n:
            told = f"Inference rests while the study {clean(study, 20)} runs: y shows it."
            return [line((text, "muted")) for text in wrapped(told, width)]
        return draw_histogram(frame_state.session.latency, width, height)
