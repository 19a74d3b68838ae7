"""Studies that a session holds: as sections of a report, as sentences for a table, and as a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from hettop.events import Study
from hettop.format import clock
from hettop.report.notes import interruption_counts, interruption_words
from hettop.report.page import Block, Paragraph, Section
from hettop.session.session import Session
from hettop.studies.registry import STUDIES, page_of, result_of
from hettop.studies.result import named
from hettop.text import clean, safe

LEFT_OUT = "what was measured meanwhile is left out"

_ENDS = {
    "ended": "Ended by the user; results after",
    "failed": "Results after",
    "running": "Still running at the end of the recording; results after",
}


def study_sections(session: Session, level: int = 2, *, beside: bool = True) -> Iterator[Section]:
    """None for studies that found nothing and failed without a word. `beside` an inference, which rested meanwhile."""
    for study in session.studies.all:
        blocks = list(_blocks(study, beside=beside))
        if blocks:
            title = STUDIES[study.name].title if study.name in STUDIES else clean(study.name, 20)
            yield Section(title, blocks, level)


def _blocks(study: Study, *, beside: bool) -> Iterator[Block]:
    if study.state == "failed" and study.error is not None:
        hint = f" ({study.error.hint})" if study.error.hint else ""
        yield Paragraph(f"It failed: {study.error.message}{hint}", tone="warning")
    page = page_of(study)
    if page:
        rested = ", with inference paused" if beside else ""
        yield Paragraph(f"{_ENDS.get(study.state, 'Measured in')} {clock(study.elapsed_ns)}{rested}.")
        for words in interruption_words(study, "hettop"):
            yield Paragraph(f"{words[0].upper()}{words[1:]}; {LEFT_OUT}.", tone="warning")
        yield from page


def study_lines(session: Session) -> list[str]:
    """A paragraph for each study: how it ended, and the sentences that its page begins with."""
    return [safe(" ".join([_ended(study), *_sentences(study)])) for study in session.studies.all]


def studies_document(session: Session) -> list[dict[str, Any]]:
    """Each study as recorded: name, state, what it took, its arguments, and what it found or why it failed."""
    return [
        {
            "name": study.name,
            "state": study.state,
            "elapsed_ms": study.elapsed_ns / 1e6,
            "arguments": list(study.arguments),
            "found": named(result_of(study)),
            "error": named(study.error),
            **({"interruptions": interruption_counts(study)} if study.stops or study.sleeps else {}),
        }
        for study in session.studies.all
    ]


def _ended(study: Study) -> str:
    state = study.state if study.state != "running" else "still running"
    interruptions = "".join(f" ({words}; {LEFT_OUT})" for words in interruption_words(study, "hettop"))
    return f"{study.name}: {state}, {clock(study.elapsed_ns)}{interruptions}."


def _sentences(study: Study) -> list[str]:
    if study.error is not None and study.state == "failed":
        return [f"{study.error.message}."]
    return first_sentences(page_of(study))


def first_sentences(blocks: Sequence[Block]) -> list[str]:
    """What a page begins with: the sentences that matter most."""
    return [block.text for block in takewhile(lambda each: isinstance(each, Paragraph), blocks)]  # type: ignore[union-attr]
