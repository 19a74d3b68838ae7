"""Panel 3: a row per unit; a click on a row selects the unit, a second one (or Enter) shows its details."""

from __future__ import annotations

from dataclasses import dataclass

from textual.events import Click
from textual.geometry import Size
from textual.message import Message

from hettop.format import clock
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, line
from hettop.session.views.structs import UnitsView
from hettop.text import clean
from hettop.tui.frame_state import FrameState
from hettop.tui.listing import Order, filter_note, next_order, toggled_order
from hettop.tui.panels.panel import Panel, inner_size
from hettop.tui.panels.unit_blocks import large_units, violin_values
from hettop.tui.panels.unit_table import (
    Arrangement,
    Pointing,
    arrange,
    arranged_rows,
    column_at,
    details_of,
    draw_units,
    opened_lines,
    proven,
    reasons,
    row_text,
    sort_keys,
)

_ROOMY_SCREEN = 50  # lines from which on a row may take two


class UnitsPanel(Panel):
    """The table of units."""

    NUMBER = 3
    LISTS = "units"

    @dataclass
    class Chosen(Message):
        """The user clicked a unit's row."""

        unit: str

    def __init__(self, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(ascii=ascii)
        self._at: list[str | None] = []
        self._hidden = 0
        self._cursor: str | None = None
        self._opened: str | None = None
        self._order: Order | None = None

    @property
    def violin_columns(self) -> int:
        """How many values a violin can show."""
        if self.zoomed:
            return max(1, violin_values(inner_size(self.size.width, self.size.height)[0]))
        return max(1, self._arrangement.violin)

    @property
    def _arrangement(self) -> Arrangement:
        width, height = inner_size(self.size.width, self.size.height)
        if self.frame_state is None:
            return arrange(width, height, ())
        view = self._shown(self.frame_state)
        return arrange(width, height, view.rows, details=opened_lines(view, width, Pointing(opened=self._opened)))

    @property
    def _count(self) -> int:
        return len(self._shown(self.frame_state).rows) if self.frame_state else 0

    def _shown(self, frame_state: FrameState) -> UnitsView:
        """The rows that match the filter, in the order that was chosen."""
        return arranged_rows(frame_state.session.units, self._order, self.filter)

    def show(self, frame_state: FrameState) -> None:
        width, _ = inner_size(self.size.width, self.size.height)
        before = self._wanted_rows(self.frame_state, width)
        super().show(frame_state)
        if self._wanted_rows(frame_state, width) != before:
            self.refresh(layout=True)

    def _wanted_rows(self, frame_state: FrameState | None, width: int) -> tuple[int, int, int]:
        """Rows, lines beneath them, and lines of opened details, in a table of this width."""
        view = self._shown(frame_state) if frame_state else None
        if view is None:
            return 0, 0, 0
        opened = next((row for row in view.rows if row.unit == self._opened), None)
        lines = 0 if opened is None else len(details_of(opened, width, opened=True))
        beneath = len(reasons(view)) + len(proven(view, width)) + len(view.beside)
        return len(view.rows), beneath, lines

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's
        inside, _ = inner_size(width, viewport.height)
        rows, beneath, opened = self._wanted_rows(self.frame_state, inside)
        shown = self._shown(self.frame_state).rows if self.frame_state is not None else ()
        two_lines = viewport.height >= _ROOMY_SCREEN and arrange(inside, viewport.height, shown).own_line
        lines = 2 * rows + 1 if two_lines else rows
        return max(4, lines + beneath + opened + 3)

    def title(self, frame_state: FrameState) -> Line:
        note = filter_note(self.filter, len(self._shown(frame_state).rows), len(frame_state.session.units.rows))
        reset_ns = frame_state.session.header.reset_ns
        since = "since the start" if reset_ns is None else f"since the reset at {clock(reset_ns)}"
        return line(
            ("units", "title"), (f" · {since}{self._condition(frame_state)}", "muted"), (clean(note), "warning")
        )

    @staticmethod
    def _condition(frame_state: FrameState) -> str:
        load = clean(frame_state.session.header.load)
        return " · without load" if load == "none" else f" · under {load}"

    def foot(self, frame_state: FrameState) -> Line:  # noqa: ARG002 - of what was drawn
        lines = "line" if self._hidden == 1 else "lines"
        more = f" {glyphs.UP_DOWN} {self._hidden} more {lines}" if self._hidden else ""
        return line((more, "muted"))

    def body(self, frame_state: FrameState, width: int, height: int) -> list[Line]:
        pointing = Pointing(
            frame_state.session.latency.unit, self._pointed_at(frame_state) or None, self._opened, self._order
        )
        shown = self._shown(frame_state)
        if self.zoomed:
            drawn, self._at, self._hidden = large_units(shown, width, height, pointing, braille=frame_state.braille)
        else:
            drawn, self._at, self._hidden = draw_units(shown, width, height, pointing)
        return drawn

    def _pointed_at(self, frame_state: FrameState) -> str:
        """The unit under the cursor, which is shown while the panel has the focus; at first the viewed unit."""
        names = [row.unit for row in self._shown(frame_state).rows]
        if not self.has_focus or not names:
            return ""
        viewed = frame_state.session.latency.unit
        return next((name for name in (self._cursor, viewed) if name in names), names[0]) or ""

    def scroll(self, direction: int) -> None:
        """Move the cursor to the next or previous unit."""
        if self.frame_state is None or not (current := self._pointed_at(self.frame_state)):
            return
        names = [row.unit for row in self._shown(self.frame_state).rows]
        self._cursor = names[min(max(names.index(current) + direction, 0), len(names) - 1)]
        self.redraw()

    def to_edge(self, direction: int) -> None:
        self.scroll(direction * self._count)

    def set_filter(self, text: str) -> None:
        self.filter = text
        self.refresh(layout=True)
        self.redraw()

    def sort(self) -> None:
        self._order = next_order(self._order, sort_keys(self._arrangement.columns))
        self.redraw()

    def clipboard_text(self) -> tuple[str, str] | None:
        if self.frame_state is None:
            return None
        rows = {row.unit: row for row in self._shown(self.frame_state).rows}
        active = next((unit for unit, row in rows.items() if row.active), next(iter(rows), ""))
        chosen = rows.get(self._pointed_at(self.frame_state) or active)
        return None if chosen is None else (f"the row of {clean(chosen.unit)}", row_text(chosen))

    def toggle_details(self) -> None:
        """Open or close the details of the unit under the cursor."""
        if self.frame_state is not None:
            self._toggle(self._pointed_at(self.frame_state))

    def close_details(self) -> bool:
        was_open = self._opened is not None
        if self._opened is not None:
            self._toggle(self._opened)
        return was_open

    def _toggle(self, unit: str) -> None:
        self._opened = None if unit == self._opened else unit or None
        self.refresh(layout=True)
        self.redraw()

    def on_click(self, event: Click) -> None:
        """A click selects a unit, a second one at the same place opens its details; on a heading it sorts."""
        framed = inner_size(self.size.width, self.size.height) != (self.size.width, self.size.height)
        x, y = (event.x - 2, event.y - 1) if framed else (event.x, event.y)
        if not y and len(self._at) > 1 and not self.zoomed:
            title = column_at(self._arrangement, x)
            keys = {key.title: key for key in sort_keys(self._arrangement.columns)}
            self._order = self._order if title is None else toggled_order(self._order, keys[title])
            self.redraw()
            return
        if not (0 <= y < len(self._at)) or (unit := self._at[y]) is None:
            return
        self._cursor = unit
        if event.chain == 2:
            self._toggle(unit)
        elif event.chain == 1:
            self.post_message(self.Chosen(unit))
