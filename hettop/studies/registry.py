"""The only list of studies: by what name each is asked for, its title, and where it stands.

A study is a folder beside this module; its modules are imported when they are first needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from hettop.events import Study
    from hettop.report.page import Block


@dataclass(frozen=True, slots=True)
class StudyKind:
    """A study: the name in commands and recordings, and the title above its page."""

    name: str
    title: str

    def page(self, found: object) -> list[Block]:
        """What was found as blocks, which every renderer draws."""
        return list(cast("Sequence[Block]", import_module(f"hettop.studies.{self.name}.page").blocks(found)))


STUDIES = {
    kind.name: kind
    for kind in (
        StudyKind("layers", "Layers"),
        StudyKind("roofline", "Roofline"),
        StudyKind("sweep", "Sweep"),
        StudyKind("variants", "Precision variants"),
        StudyKind("plan", "Slicing plan"),
        StudyKind("coexec", "Co-execution"),
        StudyKind("granularities", "Granularities"),
    )
}


def page_of(study: Study) -> list[Block]:
    """What the study has found by now; empty while it has found nothing, or where this version does not know it."""
    kind = STUDIES.get(study.name)
    return [] if study.found is None or kind is None else kind.page(study.found)


class StudyPages:
    """Pages of the latest of each study, made anew when it has got further: a screen asks several times a second."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[Study, list[Block]]] = {}

    def of(self, study: Study) -> list[Block]:
        before = self._made.get(study.name)
        if before is None or before[0] is not study:
            before = self._made[study.name] = study, page_of(study)
        return before[1]
