"""The screen of the verdict: which unit to use by the measurements so far, with the evidence."""

from __future__ import annotations

from typing import ClassVar

from hettop.format import clock
from hettop.report.evidence import evidence_lines
from hettop.report.page import Code, Paragraph
from hettop.report.terminal.blocks import block_lines, block_text
from hettop.report.terminal.lines import Line, line
from hettop.report.terminal.tables import sentences
from hettop.tui.feed import VerdictPage
from hettop.tui.frame_state import FrameState
from hettop.tui.screens.load import NO_LOAD
from hettop.tui.screens.page_screen import PageScreen, RunControl

_JUDGING = "Evaluating the measurements so far …"
_NOTHING = "Nothing has been measured yet."
_NOTHING_UNDER_LOAD = "Nothing has been measured under this load yet."
_INTERLEAVE = " i interleaves all units, for a fair comparison."

_ALONE = " i interleaves it with others, to compare them."

_COPIED = 100
"""Cells of a line that is copied."""


class VerdictScreen(PageScreen):
    """One sentence and its evidence as a picture, then ranks, advice, warnings, the table, budgets and code to copy."""

    NAME: ClassVar[str] = "verdict"

    def __init__(self, run_control: RunControl, *, ascii: bool = False) -> None:  # noqa: A002 - the option's name
        super().__init__(run_control, ascii=ascii)
        self._copied = False

    def heading(self, frame_state: FrameState) -> Line:
        page = frame_state.verdict
        judged = f" · at {clock(page.judged_ns, 1)}" if page is not None else ""
        return line(("verdict", "title"), (judged, "muted"))

    def hints(self, frame_state: FrameState) -> list[tuple[str, str]]:
        word = "stop interleaving" if frame_state.session.header.mode == "interleave" else "interleave units"
        return [("Y", "copy"), *([("i", word)] if frame_state.replay is None else []), ("l", "load")]

    def rows(self, frame_state: FrameState, width: int, height: int) -> list[Line]:  # noqa: ARG002 - scrolled
        page = frame_state.verdict
        if page is None:
            return sentences([_JUDGING], width, "muted")
        rest = block_lines(page.blocks or [Paragraph(_nothing_yet(page, frame_state))], width)
        return [*_picture(page, width, frame_state), *rest]

    def clipboard_text(self) -> tuple[str, str] | None:
        """The verdict; the next time, the code that chooses the unit."""
        page = self.frame_state.verdict if self.frame_state is not None else None
        if page is None or not page.blocks:
            return None
        code = "\n".join(block.text.strip("\n") for block in page.blocks if isinstance(block, Code))
        self._copied = not self._copied or not code
        if not self._copied:
            return "the code", code
        again = "; Y again copies the code" if code else ""
        return f"the verdict{again}", block_text([each for each in page.blocks if not isinstance(each, Code)], _COPIED)


def _nothing_yet(page: VerdictPage, frame_state: FrameState) -> str:
    """What is said before the first samples, with what to do if it is not being done."""
    header = frame_state.session.header
    nothing = _NOTHING if header.load == NO_LOAD else _NOTHING_UNDER_LOAD
    offer = "" if header.mode == "interleave" or frame_state.replay is not None else _INTERLEAVE
    return _in_turns(page, frame_state) or nothing + offer


def _in_turns(page: VerdictPage, frame_state: FrameState) -> str:
    """How many of the units that take turns have samples; empty where all have some, or none are taking turns."""
    header = frame_state.session.header
    waiting = set(page.unmeasured) & set(header.units)
    if header.mode != "interleave" or frame_state.replay is not None or not waiting:
        return ""
    measured = len(page.evidence.rows) if page.evidence is not None else 0
    return f"{len(header.units)} units in turns, {measured or 'none'} measured so far."


def _picture(page: VerdictPage, width: int, frame_state: FrameState) -> list[Line]:
    """One sentence and the intervals of all units."""
    evidence = page.evidence
    if evidence is None or not evidence.sentence:
        return []
    alone = len(evidence.rows) == 1 and frame_state.replay is None and frame_state.session.header.mode != "interleave"
    turns = _in_turns(page, frame_state)
    text = f"{turns} {evidence.sentence}" if turns else evidence.sentence + (_ALONE if alone else "")
    drawn = evidence_lines(evidence, width)
    return [*sentences([text], width, "strong"), (), *drawn, *([()] if drawn else [])]
