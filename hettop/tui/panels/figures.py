"""The large figures of a presentation: P50, P90 and rate of every unit, legible from far away."""

from __future__ import annotations

from textual.geometry import Size

from hettop.format import UNKNOWN, milliseconds, significant, unit_name
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, fit, line
from hettop.session.views.structs import UnitRow
from hettop.text import clean
from hettop.tui.chart import Chart
from hettop.tui.frame_state import FrameState
from hettop.tui.panels.panel import framed, inner_size

_DIGITS = {
    "0": ("###", "# #", "# #", "# #", "###"),
    "1": (" # ", "## ", " # ", " # ", "###"),
    "2": ("###", "  #", "###", "#  ", "###"),
    "3": ("###", "  #", "###", "  #", "###"),
    "4": ("# #", "# #", "###", "  #", "  #"),
    "5": ("###", "#  ", "###", "  #", "###"),
    "6": ("###", "#  ", "###", "# #", "###"),
    "7": ("###", "  #", "  #", "  #", "  #"),
    "8": ("###", "# #", "###", "# #", "###"),
    "9": ("###", "# #", "###", "  #", "###"),
    ".": (" ", " ", " ", " ", "#"),
    ",": ("  ", "  ", "  ", " #", "# "),
}
ROWS = 5
"""Lines of a large figure."""

_NAME_CELLS, _LABEL_CELLS = 12, 7
_DIGIT_CELLS = 18
"""Of the widest usual figure, `0.943` or `1,234`."""

_GAP = 1
_FRAME = 2
_LEAST_BELOW = 8
"""Lines of their column that the other panels keep."""


class Figures(Chart):
    """Large figures of all units where they fit, else of the viewed unit and a line for each other one."""

    def __init__(self, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(id="figures", ascii=ascii)
        self.frame_state: FrameState | None = None

    def show(self, frame_state: FrameState) -> None:
        before = self._units
        self.frame_state = frame_state
        if self._units != before:
            self.refresh(layout=True)
        self.redraw()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's
        every = self._units * (ROWS + 1) - 1
        return _FRAME + (every if every + _FRAME + _LEAST_BELOW <= container.height else ROWS + self._units)

    @property
    def _units(self) -> int:
        return 1 if self.frame_state is None else max(1, len(self.frame_state.session.units.rows))

    def lines(self, width: int, height: int) -> list[Line]:
        if self.frame_state is None:
            return []
        inside = inner_size(width, height)
        load = clean(self.frame_state.session.header.load, 24)
        heading = line(
            (" figures", "title"),
            (" · since the start · " + ("without load" if load == "none" else f"under {load}"), "muted"),
        )
        return framed(
            heading, figures_lines(self.frame_state, *inside), (), self.frame_state, (width, height), focus=False
        )


def figures_lines(frame_state: FrameState, width: int, height: int) -> list[Line]:
    """Each unit in large digits if all fit, else the viewed one alone."""
    rows, viewed = frame_state.session.units.rows, frame_state.session.latency.unit
    if rows and len(rows) * (ROWS + 1) - 1 <= height:
        return [each for row in rows for each in (*_large(row, width, viewed), ())][:-1]
    first = next((row for row in rows if row.unit == viewed), next(iter(rows), None))
    if first is None:
        return [fit(line(("no unit yet", "muted")), width)]
    others = [fit(_small(row), width) for row in rows if row is not first]
    return [*_large(first, width, viewed), (), *others][:height]


def _figures(row: UnitRow) -> tuple[tuple[str, str, str], ...]:
    """Name, text and ink of each figure."""
    return (
        ("P50 ms", milliseconds(row.p50_ms), "low"),
        ("P90 ms", milliseconds(row.p90_ms), "mid"),
        ("inf/s", significant(row.throughput_per_s), "strong"),
    )


def _large(row: UnitRow, width: int, viewed: str | None) -> list[Line]:
    """The name beside the figures, the name of each figure before it; beneath the name what is left without room.

    The figures share the width, and their digits are twice as wide where that fits.
    """
    marker = glyphs.ACTIVE if row.runs_now else glyphs.VIEWED if row.unit == viewed else " "
    name = f"{marker} {clean(unit_name(row.unit, short=True), _NAME_CELLS - 3)}"
    figures = _figures(row)
    room, least = max(0, width - _NAME_CELLS), _LABEL_CELLS + _DIGIT_CELLS + _GAP
    fitting = min(len(figures), room // least)
    cells = room // max(1, fitting)
    stretch = 2 if cells >= least + _DIGIT_CELLS else 1
    middle = ROWS // 2
    small = [f"  {label} {text}" for label, text, _ in figures[fitting:]]
    beneath = {middle + 1 + at: (text, "text") for at, text in enumerate(small)}
    beneath[middle] = (name, "active" if row.active else "strong")
    shown = []
    for at in range(ROWS):
        text, ink = beneath.get(at, ("", "text"))
        spans: list[Span] = [(f"{text:<{_NAME_CELLS}}", ink)]
        for label, figure, ink in figures[:fitting]:
            head = f"{label if at == middle else '':<{_LABEL_CELLS}}"
            large = large_row(figure, at, stretch) if figure != UNKNOWN else (UNKNOWN if at == middle else "")
            spans += [(head, "muted"), (f"{large:<{cells - _LABEL_CELLS}}", ink if figure != UNKNOWN else "muted")]
        shown.append(fit(line(*spans), width))
    return shown


def _small(row: UnitRow) -> Line:
    texts = "  ".join(f"{label} {text}" for label, text, _ in _figures(row))
    return line((f"  {clean(unit_name(row.unit, short=True), 9):<10}", "strong"), (texts, "text"))


def large_row(text: str, at: int, stretch: int = 1) -> str:
    """Line `at` of five of a number in large digits, `stretch` times as wide; other characters are left out."""
    parts = [_DIGITS[character][at] for character in text if character in _DIGITS]
    drawn = " ".join(parts).replace("#", glyphs.FULL)
    return "".join(cell * stretch for cell in drawn)
