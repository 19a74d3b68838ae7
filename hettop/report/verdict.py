"""The verdict as a page for a terminal, as Markdown for a pull request, and as a section of a report.

Pure text, no colours; the words are those of `verdict_words`.
"""

from __future__ import annotations

from collections.abc import Iterable

from hettop.analysis.verdict import Verdict
from hettop.report import verdict_words as words
from hettop.report.grid import escaped, grid, markdown, wrapped
from hettop.report.page import Block, Items, Paragraph, Section, Table
from hettop.session.session import Session

NOTHING = "nothing was measured: no verdict"


def verdict_text(verdict: Verdict, session: Session, width: int) -> str:
    """Provenance, advice, warnings, table, ranks, budget and failures, ending with a line feed."""
    lines = wrapped(" · ".join([*words.provenance(session), words.conditions_line(verdict)]), width)
    lines += ["", *_advice(verdict, width), *_listed("careful: ", words.warnings(verdict), width)]
    lines += _code(words.code(verdict, session))
    if verdict.units or verdict.failed:
        rows = words.table_rows(verdict)
        lines += ["", *grid(words.HEADING, rows, left=words.LEFT, width=width, drop=words.DISPENSABLE)]
    if verdict.units:
        lines += ["", *_listed("", words.order_lines(verdict), width)]
        lines += _listed("", words.flip_lines(verdict), width)
    budget = list(words.budget_lines(verdict))
    if budget:
        lines += ["", *(line for text in budget for line in _kept_indent(text, width))]
    lines += ["", *_listed("", words.failure_lines(verdict), width)]
    lines += [*_listed("", words.fact_lines(verdict, session), width), *wrapped(words.method_line(), width)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def verdict_markdown(verdict: Verdict, session: Session) -> str:
    """The same for a pull request."""
    lines = ["### hettop verdict", "", escaped(" · ".join(words.provenance(session))) + "  "]
    lines += [escaped(words.conditions_line(verdict)), ""]
    lines += [f"- **{purpose}: {escaped(unit)}** · {escaped(why)}" for purpose, unit, why in words.advice(verdict)]
    lines += [] if verdict.units else [f"**{NOTHING}**"]
    lines += [f"- ⚠️ {escaped(text)}" for text in words.warnings(verdict)]
    if verdict.units or verdict.failed:
        lines += ["", *markdown(words.HEADING, words.table_rows(verdict), left=words.LEFT)]
    more = [*words.order_lines(verdict), *words.flip_lines(verdict)] if verdict.units else []
    more += [text.strip() for text in words.budget_lines(verdict)]
    more += [*words.failure_lines(verdict), *words.fact_lines(verdict, session), words.method_line()]
    lines += ["", *(f"- {escaped(text)}" for text in more)]
    if code := words.code(verdict, session):
        lines += ["", "```swift", code.swift.strip("\n"), "```", "", "```python", code.python.strip("\n"), "```"]
    return "\n".join(lines) + "\n"


def _advice(verdict: Verdict, width: int) -> list[str]:
    given = words.advice(verdict)
    if not given:
        return [NOTHING]
    named = max(len(unit) for _, unit, _ in given)
    return [
        line
        for purpose, unit, why in given
        for line in wrapped(f"{purpose:<11}  {unit:<{named}}  {why}", width, indent=" " * 13)
    ]


def _code(code: words.Code | None) -> list[str]:
    """Never wrapped: it is there to be copied."""
    if code is None:
        return []
    swift, python = (
        (f"  {line}" for line in code.swift.splitlines()),
        (f"  {line}" for line in code.python.splitlines()),
    )
    return ["", f"{code.unit} in Swift:", *swift, "with coremltools:", *python]


def _listed(before: str, texts: Iterable[str], width: int) -> list[str]:
    return [line for text in texts for line in wrapped(before + text, width)]


def _kept_indent(text: str, width: int) -> list[str]:
    indent = " " * (len(text) - len(text.lstrip()))
    return [indent + line for line in wrapped(text.strip(), width - len(indent))]


TITLE = "Verdict"


def verdict_section(verdict: Verdict) -> Section:
    """Advice first, then what it rests on."""
    blocks: list[Block] = [Paragraph(words.conditions_line(verdict))]
    advice = [f"{purpose}: {unit} · {why}" for purpose, unit, why in words.advice(verdict)]
    blocks.append(Items(advice) if advice else Paragraph("Nothing was measured: no verdict.", tone="warning"))
    blocks += [Paragraph(text, tone="warning") for text in words.warnings(verdict)]
    if verdict.units or verdict.failed:
        blocks.append(Table(words.HEADING, words.table_rows(verdict), words.LEFT))
    evidence = [*words.order_lines(verdict), *words.flip_lines(verdict)] if verdict.units else []
    evidence += [*(text.strip() for text in words.budget_lines(verdict)), *words.failure_lines(verdict)]
    blocks.append(Items([*evidence, words.method_line()]))
    return Section(TITLE, blocks)
