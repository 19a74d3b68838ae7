"""The room of the verdict: which unit to use by what was measured so far, and what that rests on."""

from __future__ import annotations

from typing import ClassVar

from hettop.format import clock
from hettop.report.page import Paragraph
from hettop.report.terminal.blocks import block_lines
from hettop.report.terminal.lines import Line, line
from hettop.report.terminal.tables import sentences
from hettop.tui.frame_state import FrameState
from hettop.tui.screens.page_screen import PageScreen

_JUDGING = "Judging what was measured so far …"
_NOTHING = "Nothing was measured under this load yet. i runs all units in turn: then they can be compared fairly."


class VerdictScreen(PageScreen):
    """Advice first, then warnings, the table, the ranks and budgets, and the code to copy."""

    NAME: ClassVar[str] = "verdict"

    def heading(self, frame_state: FrameState) -> Line:
        page = frame_state.verdict
        judged = f" · judged at {clock(page.judged_ns, 1)}" if page is not None else ""
        return line(("verdict", "title"), (judged, "muted"))

    def hints(self, frame_state: FrameState) -> list[tuple[str, str]]:
        return [("i", "all units in turn"), ("l", "load")] if frame_state.replay is None else [("l", "loads")]

    def rows(self, frame_state: FrameState, width: int, height: int) -> list[Line]:  # noqa: ARG002 - scrolled
        page = frame_state.verdict
        if page is None:
            return sentences([_JUDGING], width, "muted")
        return block_lines(page.blocks or [Paragraph(_NOTHING)], width)
