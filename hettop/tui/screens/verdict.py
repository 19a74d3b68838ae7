"""The room of the verdict: which unit to use by what was measured so far, and what that rests on."""

from __future__ import annotations

from typing import ClassVar

from hettop.format import clock
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, fit, line, wrapped
from hettop.tui.feed import VerdictPage
from hettop.tui.frame_state import FrameState
from hettop.tui.screens.page_screen import PageScreen

_PURPOSE = 13
_INKS = {"avoid": "error"}
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
            return _sentences([_JUDGING], width, "muted")
        if not page.advice and not page.failures:
            return _sentences([_NOTHING], width, "text")
        return verdict_lines(page, width)


def verdict_lines(page: VerdictPage, width: int) -> list[Line]:
    """The whole page in lines of `width` cells; the table is as wide as it was laid out."""
    parts = (
        _sentences([page.conditions], width, "muted"),
        _advice(page, width),
        [row for text in page.warnings for row in _marked("!", text, width, "warning")],
        _table(page.table, width),
        _sentences(page.budget, width, "text"),
        _sentences(page.evidence, width, "text"),
        [row for text in page.failures for row in _marked(glyphs.FAILED, text, width, "error")],
        [fit(line((text, "accent")), width) for text in page.code],
        _sentences(page.notes, width, "muted"),
    )
    rows: list[Line] = []
    for part in filter(None, parts):
        rows += [*([()] if rows else []), *part]
    return rows


def _advice(page: VerdictPage, width: int) -> list[Line]:
    named = max((len(unit) for _, unit, _ in page.advice), default=0)
    rows: list[Line] = []
    for purpose, unit, why in page.advice:
        ink = _INKS.get(purpose, "active")
        head: Line = ((f"{purpose:<{_PURPOSE}}", "strong"), (f"{unit:<{named}}  ", ink))
        margin = _PURPOSE + named + 2
        if width - margin < 20:
            rows += [fit(head, width), *_sentences([why], width, "text")]
            continue
        first, *more = wrapped(why, width - margin)
        rows.append(fit((*head, (first, "text")), width))
        rows += [fit(line((" " * margin, "text"), (text, "text")), width) for text in more]
    return rows


def _table(table: tuple[str, ...], width: int) -> list[Line]:
    return [fit(line((text, "muted" if i == 0 else "text")), width) for i, text in enumerate(table)]


def _marked(mark: str, text: str, width: int, ink: str) -> list[Line]:
    """A sentence behind a mark, so that what it means does not hang on colour."""
    margin: Span = ("  ", "text")
    rows = wrapped(text, width - 2)
    return [fit(((f"{mark} ", ink) if i == 0 else margin, (row, ink)), width) for i, row in enumerate(rows)]


def _sentences(texts: tuple[str, ...] | list[str], width: int, ink: str) -> list[Line]:
    return [fit(line((row, ink)), width) for text in texts for row in wrapped(text, width)]
