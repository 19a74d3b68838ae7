"""What studies of the model found, as sections of a report: one for each study, with its figure, table and notes.

Pure; what was found comes with the folded session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hettop.events import Study
from hettop.format import clock
from hettop.report.page import Block, Paragraph, Section
from hettop.report.studies import coexec, granularities, layers, plan, roofline, sweep, variants
from hettop.session.session import Session
from hettop.text import clean

TITLES = {
    "layers": "Layers",
    "roofline": "Roofline",
    "sweep": "Sweep",
    "variants": "Precision variants",
    "plan": "Slicing plan",
    "coexec": "Co-execution",
    "granularities": "Granularities",
}
"""By the studies' names."""

BLOCKS: dict[str, Callable[[Any], Iterator[Block]]] = {
    "coexec": coexec.blocks,
    "granularities": granularities.blocks,
    "layers": layers.blocks,
    "plan": plan.blocks,
    "roofline": roofline.blocks,
    "sweep": sweep.blocks,
    "variants": variants.blocks,
}
"""Of what each study found, by the studies' names."""

_ENDS = {
    "ended": "Ended by the user: this was known after",
    "failed": "This was known after",
    "running": "Still running at the end of the recording: this was known after",
}


def study_sections(session: Session, level: int = 2, *, beside: bool = True) -> Iterator[Section]:
    """None for studies that found nothing and failed without a word. `beside` an inference, which rested meanwhile."""
    for study in session.studies.all:
        blocks = list(_blocks(study, beside=beside))
        if blocks:
            yield Section(TITLES.get(study.name, clean(study.name, 20)), blocks, level)


def _blocks(study: Study, *, beside: bool) -> Iterator[Block]:
    if study.state == "failed" and study.error is not None:
        hint = f" ({study.error.hint})" if study.error.hint else ""
        yield Paragraph(f"It failed: {study.error.message}{hint}", warning=True)
    if study.found is not None and study.name in BLOCKS:
        rested = ", while inference of the session itself rested" if beside else ""
        yield Paragraph(f"{_ENDS.get(study.state, 'Measured in')} {clock(study.elapsed_ns)}{rested}.")
        yield from BLOCKS[study.name](study.found)
