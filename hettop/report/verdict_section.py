"""The verdict as a section of a written report, in the words of `verdict_words`.

Pure; who judged, and by which question, is decided elsewhere.
"""

from __future__ import annotations

from hettop.analysis.verdict import Verdict
from hettop.report import verdict_words as words
from hettop.report.page import Block, Items, Paragraph, Section, Table

TITLE = "Verdict"


def verdict_section(verdict: Verdict) -> Section:
    """Advice first, then what it rests on."""
    blocks: list[Block] = [Paragraph(words.conditions_line(verdict))]
    advice = [f"{purpose}: {unit} · {why}" for purpose, unit, why in words.advice(verdict)]
    blocks.append(Items(advice) if advice else Paragraph("Nothing was measured: no verdict.", warning=True))
    blocks += [Paragraph(text, warning=True) for text in words.warnings(verdict)]
    if verdict.units or verdict.failed:
        blocks.append(_table(words.HEADING, words.table_rows(verdict)))
    evidence = [*words.order_lines(verdict), *words.flip_lines(verdict)] if verdict.units else []
    evidence += [*(text.strip() for text in words.budget_lines(verdict)), *words.failure_lines(verdict)]
    blocks.append(Items([*evidence, words.method_line()]))
    return Section(TITLE, blocks)


def _table(heading: tuple[str, ...], rows: list[tuple[str, ...]]) -> Table:
    kept = [place for place in range(len(heading)) if any(row[place] for row in rows)]
    return Table([heading[place] for place in kept], [[row[place] for place in kept] for row in rows], left=words.LEFT)
