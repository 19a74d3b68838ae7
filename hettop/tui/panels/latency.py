"""Panel 1: the latency distribution of one unit over the time window, as a histogram."""

from __future__ import annotations

import math

from hettop.format import UNKNOWN, count, milliseconds, seconds, short_count
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, fit, line, runs, width_of, wrapped
from hettop.session.views.structs import LatencyView
from hettop.stats.axes import row_labels, ticks
from hettop.text import clean
from hettop.tui.frame_state import FrameState
from hettop.tui.panels.panel import Panel, inner_size


class LatencyPanel(Panel):
    """Histogram with percentiles."""

    NUMBER = 1

    @property
    def columns(self) -> int:
        """How many histogram columns fit."""
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
            note = f"Inference is paused while the study {clean(study, 20)} runs: y shows it."
            return [line((text, "muted")) for text in wrapped(note, width)]
        if frame_state.waiting is not None:
            return [line((text, "muted")) for text in wrapped(frame_state.waiting, width)]
        return draw_histogram(frame_state.session.latency, width, height)


GUTTER = 7
_NARROWEST_WITH_GUTTER = 30
_TICK_EVERY = 10  # columns: a label such as `12.50` and a blank on either side
_LABEL_EVERY = 3  # lines
_LEVELS = len(glyphs.EIGHTHS) - 1


def plot_columns(width: int) -> int:
    """How many columns a histogram of this width can show, to request from the view."""
    return max(1, width - _gutter(width))


def draw_histogram(view: LatencyView, width: int, height: int) -> list[Line]:
    """The histogram as exactly `height` lines of `width` cells."""
    if height < 1 or width < 1:
        return []
    numbers = fit(numbers_line(view, width), width)
    if height == 1 or not view.n:
        return [numbers, *_filler(view, width, height - 1)]
    rows = [numbers]
    plot = _Plot(view, width)
    foot = 0 if height < 5 else 2
    if height >= 4:
        rows.append(plot.marks())
    rows += plot.bars(height - len(rows) - foot)
    rows += [plot.axis(), plot.labels()][:foot]
    return rows


def numbers_line(view: LatencyView, width: int) -> Line:
    """`P50 2.13   P90 2.31   P99 3.62   max 6.54   n 4,210`, as much as fits."""
    for sizes in ((3, True, True), (2, True, True), (2, False, True), (1, False, False), (1, False, None)):
        drawn = _numbers(view, *sizes)
        if width_of(drawn) <= width:
            return drawn
    return drawn


def _numbers(view: LatencyView, blanks: int, needs: bool, rest: bool | None) -> Line:
    """`rest`: True for max and n too, False for max only, None for the percentiles only."""
    p99 = milliseconds(view.p99_ms)
    if view.p99_ms is None and view.n:
        p99 = f"{UNKNOWN}: needs {count(view.p99_needs)} more samples" if needs and view.p99_needs else UNKNOWN
    spans: list[Span] = []
    for name, value, ink in (
        ("P50", milliseconds(view.p50_ms), "low"),
        ("P90", milliseconds(view.p90_ms), "mid"),
        ("P99", p99, "high"),
        *((("max", milliseconds(view.max_ms), "high"),) if rest is not None else ()),
        *((("n", count(view.n), "muted"),) if rest else ()),
    ):
        spans += [(" " * blanks if spans else "", "text"), (name, ink), (" ", "text")]
        spans.append((value, "muted" if value.startswith(UNKNOWN) else "strong"))
    return line(*spans)


def _filler(view: LatencyView, width: int, height: int) -> list[Line]:
    rows = [fit((), width)] * height
    if not view.n and height > 0:
        words = "no samples in this window"
        rows[height // 2] = fit(line((" " * max(0, (width - len(words)) // 2), "text"), (words, "muted")), width)
    return rows


def _gutter(width: int) -> int:
    return GUTTER if width >= _NARROWEST_WITH_GUTTER else 0


def _rebinned(counts: tuple[int, ...], columns: int) -> list[int]:
    """The counts in at most `columns` columns; columns of a wider panel are added up."""
    if len(counts) <= columns:
        return list(counts)
    sums = [0] * columns
    for i, n in enumerate(counts):
        sums[i * columns // len(counts)] += n
    return sums


class _Plot:
    """A drawing of the histogram: columns, their bands and the marks above them."""

    def __init__(self, view: LatencyView, width: int) -> None:
        self.width = width
        self.gutter = _gutter(width)
        self.counts = _rebinned(view.counts, plot_columns(width))
        self.columns = len(self.counts)
        self.low, self.high = view.low_ms, view.high_ms
        self.above = view.above
        self.p90 = self._column(view.p90_ms)
        self.p99 = self._column(view.p99_ms)
        self.bands = [self._band(i) for i in range(self.columns)]
        self.marked = [
            (column, label, ink)
            for value, label, ink in (
                (view.p50_ms, "50", "low"),
                (view.p90_ms, "90", "mid"),
                (view.p99_ms, "99", "high"),
                (view.max_ms, "max", "high"),
            )
            if (column := self._column(value)) is not None
        ]

    def _column(self, value_ms: float | None) -> int | None:
        """The column of a latency; beyond an end it is drawn at that end."""
        if value_ms is None or not self.columns or self.high <= self.low or not math.isfinite(value_ms):
            return None
        share = (value_ms - self.low) / (self.high - self.low)
        return min(self.columns - 1, max(0, math.floor(share * self.columns)))

    def _band(self, column: int) -> str:
        if self.p90 is None or column <= self.p90:
            return "low"
        return "mid" if self.p99 is None or column <= self.p99 else "high"

    def _row(self, label: str, joint: str, body: Line) -> Line:
        head = f"{label:>{self.gutter - 2}} {joint}" if self.gutter else ""
        return fit(line((head, "muted"), *body), self.width)

    def marks(self) -> Line:
        """A mark above each percentile's column, with its name where it fits."""
        characters = [" "] * self.columns
        inks = ["text"] * self.columns
        for i, (column, label, ink) in enumerate(self.marked):
            following = self.marked[i + 1][0] if i + 1 < len(self.marked) else self.columns
            text = glyphs.MARK + label
            start = column
            if column + len(text) > following:
                text = glyphs.MARK
                free = label + glyphs.MARK
                # At the right edge the name goes to the left of its mark.
                if i + 1 == len(self.marked) and not "".join(characters[max(0, column - len(label)) : column]).strip():
                    start, text = max(0, column - len(label)), free[-column - 1 :]
            characters[start : start + len(text)] = text
            inks[start : start + len(text)] = [ink] * len(text)
        head = " " * self.gutter
        return fit(line((head, "text"), *runs(characters, inks)), self.width)

    def bars(self, height: int) -> list[Line]:
        """The bars, drawn in eighths of a cell; a column with any sample shows at least one eighth."""
        if height < 1:
            return []
        top = max(self.counts, default=0) or 1
        levels = [math.ceil(n * height * _LEVELS / top) for n in self.counts]
        labels = row_labels(top, height, max(1, height // _LABEL_EVERY))
        rows = []
        for row in range(height):
            base = (height - 1 - row) * _LEVELS
            characters = [glyphs.EIGHTHS[min(max(level - base, 0), _LEVELS)] for level in levels]
            inks = list(self.bands)
            self._guides(characters, inks)
            if row == height - 1 and self.above and characters:
                characters[-1], inks[-1] = glyphs.ABOVE, "high"
            label = short_count(round(float(labels[row]))) if row in labels else ""
            rows.append(self._row(label, glyphs.AXIS_TICK if label else glyphs.AXIS_UP, runs(characters, inks)))
        return rows

    def _guides(self, characters: list[str], inks: list[str]) -> None:
        """Dotted lines down from P90 and P99, which separate the bands without colour."""
        for column, ink in ((self.p90, "mid"), (self.p99, "high")):
            if column is not None and characters[column] == " ":
                characters[column], inks[column] = glyphs.GUIDE, ink

    def _ticks(self) -> list[tuple[int, str]]:
        found = []
        for value, label in ticks(self.low, self.high, max(1, self.columns // _TICK_EVERY)):
            column = self._column(value)
            if column is not None:
                found.append((column, label))
        return found

    def axis(self) -> Line:
        characters = [glyphs.AXIS] * self.columns
        for column, _ in self._ticks():
            characters[column] = glyphs.AXIS_DOWN
        head = f"{'0':>{self.gutter - 2}} {glyphs.AXIS_CORNER}" if self.gutter else ""
        return fit(line((head + "".join(characters), "muted")), self.width)

    def labels(self) -> Line:
        """Milliseconds under the ticks, and the number of samples beyond the right end."""
        room = [" "] * self.width
        beyond = f"{short_count(self.above)} {glyphs.ABOVE}" if self.above else ""
        end = self.gutter + self.columns - len(beyond)
        for column, label in self._ticks():
            start = max(0, self.gutter + column - len(label) // 2)
            if start + len(label) < end and not "".join(room[max(0, start - 1) : start]).strip():
                room[start : start + len(label)] = label
        return fit(line(("".join(room[:end]), "muted"), (beyond, "high")), self.width)
