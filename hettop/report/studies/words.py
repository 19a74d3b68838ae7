"""What studies found, in a few lines of text and as a document: for results that are printed without a screen.

Pure; what was found comes with the folded session.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from hettop.events import FoundSweep, Study
from hettop.format import clock
from hettop.session.coexec_findings import verdict
from hettop.session.granularity_findings import granularity_sentences
from hettop.session.layer_findings import layers_headline, roofline_headline
from hettop.session.load_findings import loads_headline
from hettop.session.plan_findings import plan_sentences
from hettop.session.session import Session
from hettop.session.sweep_findings import sweep_headline, under_loads
from hettop.session.variant_findings import variants_headline
from hettop.text import clean

LONGEST = 600


def _swept(found: FoundSweep) -> list[str]:
    told = loads_headline(found.points) if under_loads(found) else sweep_headline(found)
    return [sentence for sentence, _ in told]


HEADLINES: dict[str, Callable[[Any], list[str]]] = {
    "coexec": lambda found: [verdict(found)],
    "granularities": lambda found: list(granularity_sentences(found)),
    "layers": layers_headline,
    "plan": lambda found: [sentence.text for sentence in plan_sentences(found)],
    "roofline": roofline_headline,
    "sweep": _swept,
    "variants": lambda found: [sentence for sentence, _ in variants_headline(found)],
}
"""The sentences that matter most, by the studies' names."""


def study_lines(session: Session) -> list[str]:
    """A paragraph for each study: how it ended, and the sentences that matter most."""
    return [clean(" ".join([_ended(study), *_found(study)]), LONGEST) for study in session.studies.all]


def studies_document(session: Session) -> list[dict[str, Any]]:
    """Each study as recorded: name, state, what it took, its arguments, and what it found or why it failed."""
    return [
        {
            "name": study.name,
            "state": study.state,
            "elapsed_ms": study.elapsed_ns / 1e6,
            "arguments": list(study.arguments),
            "found": _named(study.found),
            "error": _named(study.error),
        }
        for study in session.studies.all
    ]


def _named(value: Any) -> Any:
    """As plain data with the name of every field: in recordings rows are bare lists."""
    if isinstance(value, msgspec.Struct):
        return {field: _named(getattr(value, field)) for field in value.__struct_fields__}
    if isinstance(value, (list, tuple)):
        return [_named(each) for each in value]
    return value


def _ended(study: Study) -> str:
    state = study.state if study.state != "running" else "not ended"
    return f"{study.name}: {state}, {clock(study.elapsed_ns)}."


def _found(study: Study) -> list[str]:
    if study.error is not None and study.state == "failed":
        return [f"{study.error.message}."]
    if study.found is None or study.name not in HEADLINES:
        return []
    return HEADLINES[study.name](study.found)
