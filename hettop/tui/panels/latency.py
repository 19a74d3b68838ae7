"""Panel 1: the latency distribution of one unit over the trailing window."""

from __future__ import annotations

from hettop.format import seconds
from hettop.text import clean
from hettop.tui.charts.histogram import draw_histogram, plot_columns
from hettop.tui.charts.lines import Line, line, wrapped
from hettop.tui.panels.panel import Panel, inner_size
from hettop.tui.picture import Picture


class LatencyPanel(Panel):
    """Histogram with percentiles."""

    NUMBER = 1

    @property
    def columns(self) -> int:
        """How many histogram columns there is room for."""
        return plot_columns(inner_size(self.size.width, self.size.height)[0])

    def title(self, picture: Picture) -> Line:
        view = picture.session.latency
        unit = clean(view.unit) if view.unit else "no unit yet"
        load = clean(picture.session.header.load)
        under = "" if load == "none" else f" · under {load}"
        return line(
            ("latency ms", "title"),
            (f" · last {seconds(view.window_ns)} · ", "muted"),
            (unit, "active"),
            (under, "muted"),
        )

    def body(self, picture: Picture, width: int, height: int) -> list[Line]:
        study = picture.session.header.study
        if study is not None and picture.session.header.paused and not picture.session.latency.n:
            told = f"Inference rests while the study {clean(study, 20)} runs: y shows it."
            return [line((text, "muted")) for text in wrapped(told, width)]
        return draw_histogram(picture.session.latency, width, height)
