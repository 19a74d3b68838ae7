"""The verdict as blocks of a page: for the terminal, the screen, a report, and as Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hettop.analysis.verdict import Verdict
from hettop.report import verdict_words as words
from hettop.report.markdown_page import markdown_blocks
from hettop.report.page import Block, Code, Facts, Items, Paragraph, Section, Table, Tone, Toned
from hettop.report.terminal.blocks import block_text
from hettop.session.session import Session

NOTHING = "nothing was measured: no verdict"
TITLE = "Verdict"
TONES: dict[str, Tone] = {"avoid": "error"}
PURPOSE = 11
"""Characters of the longest purpose of advice."""


def verdict_blocks(verdict: Verdict, session: Session, notes: Sequence[str] = ()) -> Iterator[Block]:
    """Conditions, advice and warnings, then what they rest on; `notes` on the method stand at the end."""
    yield Paragraph(words.conditions_line(verdict), "muted")
    advice = [
        (Toned(f"{purpose:<{PURPOSE}}  {unit}", TONES.get(purpose, "strong")), why)
        for purpose, unit, why in words.advice(verdict)
    ]
    yield Facts(advice) if advice else Paragraph(NOTHING, "warning")
    for text in words.warnings(verdict):
        yield Paragraph(text, "warning")
    if verdict.units or verdict.failed:
        yield Table(words.HEADING, words.table_rows(verdict), words.LEFT, words.DISPENSABLE)
    for budget, answers in words.budgets(verdict):
        yield Paragraph(budget)
        yield Items(answers)
    if verdict.units:
        yield Items([*words.order_lines(verdict), *words.flip_lines(verdict)])
    for text in words.failure_lines(verdict):
        yield Paragraph(text, "error")
    yield from _code(words.code(verdict, session))
    yield Items([*words.fact_lines(verdict, session), *notes, words.method_line()])


def verdict_text(verdict: Verdict, session: Session, width: int) -> str:
    """With its provenance, for a terminal so wide; ends with a line feed."""
    return block_text([_provenance(session), *verdict_blocks(verdict, session)], width)


def verdict_markdown(verdict: Verdict, session: Session) -> str:
    """The same for a pull request."""
    blocks = [_provenance(session), *verdict_blocks(verdict, session)]
    return "\n".join(["### hettop verdict", "", *markdown_blocks(blocks)]).rstrip("\n") + "\n"


def verdict_section(verdict: Verdict, session: Session) -> Section:
    """The same in a report, which tells the provenance elsewhere."""
    return Section(TITLE, list(verdict_blocks(verdict, session)))


def _provenance(session: Session) -> Paragraph:
    return Paragraph(" · ".join(words.provenance(session)), "muted")


def _code(code: words.Code | None) -> Iterator[Block]:
    if code is not None:
        yield Paragraph(f"{code.unit} in Swift, and with coremltools:")
        yield Code(code.swift, "swift")
        yield Code(code.python, "python")
