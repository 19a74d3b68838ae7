"""The only list of studies: by what name each is asked for, its title, and where it stands.

A study is a folder beside this module; its modules are imported when they are first needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from hettop.errors import HettopError

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from hettop.events import Study
    from hettop.report.page import Block
    from hettop.studies.result import StudyResult


@dataclass(frozen=True, slots=True)
class LiveOffer:
    """How the live view offers a study: what it finds out, and its command, where `{unit}` is the unit looked at.

    `{pair}`: the first two units. units: so many it takes. default_only: it can do nothing on other backends.
    """

    words: str
    arguments: tuple[str, ...]
    units: int = 1
    default_only: bool = False


@dataclass(frozen=True, slots=True)
class StudyKind:
    """A study: the name in commands and recordings, the title above its page, and what its command does, in short.

    summary: empty where it is not a command, but an option of another study's. live: None: not offered, or, as
    co-execution, steered by the live view itself. of_model: whether it is of one model, and not of many networks.
    """

    name: str
    title: str
    summary: str = ""
    live: LiveOffer | None = None
    of_model: bool = True

    @property
    def question(self) -> str:
        """What it finds out, in a few words."""
        return self.summary if self.live is None else self.live.words

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Give the parser the options of its command."""
        import_module(f"hettop.studies.{self.name}.options").add_arguments(parser)

    def type(self) -> type[StudyResult]:
        """Of what it finds."""
        kind: type[StudyResult] = import_module(f"hettop.studies.{self.name}.result").RESULT
        return kind

    def result(self, found: Mapping[str, Any]) -> StudyResult | None:
        """What a line of a recording holds; None where it is not a result of this study."""
        try:
            return self.type().from_line(found)
        except ValueError:  # msgspec's are ValueErrors
            return None

    def page(self, result: StudyResult) -> list[Block]:
        """The result as blocks, which every renderer draws."""
        return list(import_module(f"hettop.studies.{self.name}.page").blocks(result))


STUDIES = {
    kind.name: kind
    for kind in (
        StudyKind(
            "layers",
            "Layers",
            "Profile a model layer by layer",
            LiveOffer("time by layer, and the share of each type of operation", ("layers", "--units", "{unit}")),
        ),
        StudyKind(
            "roofline",
            "Roofline",
            "Measure the roofline and place each layer on it",
            LiveOffer("peak rates of this machine, and how close each layer comes", ("roofline", "--units", "{unit}")),
        ),
        StudyKind(
            "sweep",
            "Sweep",
            "Measure across batch sizes, image sizes or competing loads",
            LiveOffer(
                "items per second and latency by batch, 1 to 16",
                ("sweep", "--units", "{unit}", "--batch", "1,2,4,8,16"),
            ),
        ),
        StudyKind(
            "variants",
            "Precision variants",
            "Build and compare precision variants",
            LiveOffer("fp32, fp16, int8: speed, size, output difference", ("variants", "--units", "{unit}")),
        ),
        StudyKind(
            "cold",
            "Start-up",
            "Measure start-up cost and break-even",
            LiveOffer("start-up on two units, and the number of calls to break even", ("cold", "--units", "{pair}")),
        ),
        StudyKind("embench", "EmBench", "Measure the networks of EmBench on this machine", of_model=False),
        StudyKind(
            "predict",
            "Predictors",
            "Test latency predictors against measurement, idle and under load",
            of_model=False,
        ),
        StudyKind("coexec", "Co-execution", "Run several units concurrently and measure the speedup"),
        StudyKind(
            "plan",
            "Slicing plan",
            "Partition a model across units (MOSAIC)",
            LiveOffer(
                "which layers on which of two units, and what that gains",
                ("plan", "--units", "{pair}", "--run"),
                units=2,
            ),
        ),
        StudyKind(
            "granularities",
            "Granularities",
            live=LiveOffer(
                "parallel within operators, between them, by sub-graph, by task",
                ("coexec", "--granularities"),
                default_only=True,
            ),
        ),
    )
}


def read_document(name: str, document: Mapping[str, Any]) -> StudyResult:
    """The result that the command of study `name` printed. Raises HettopError (`study`) if it is invalid."""
    if name not in STUDIES:
        raise HettopError("study", f"unknown study {name}", f"known studies: {', '.join(STUDIES)}")
    try:
        return STUDIES[name].type().from_document(document)
    except (KeyError, TypeError, ValueError) as error:  # msgspec's are ValueErrors
        raise HettopError("study", f"{name} returned an invalid result: {type(error).__name__} {error}") from None


def result_of(study: Study) -> StudyResult | None:
    """What the study has found by now; None while it has found nothing, or where this version does not know it."""
    kind = STUDIES.get(study.name)
    return None if study.found is None or kind is None else kind.result(study.found)


def page_of(study: Study) -> list[Block]:
    """The same as a page; empty without a result."""
    result = result_of(study)
    return [] if result is None else STUDIES[study.name].page(result)


class StudyPages:
    """Pages of the latest of each study, made anew when it has got further: a screen asks several times a second."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[Study, list[Block]]] = {}

    def of(self, study: Study) -> list[Block]:
        before = self._made.get(study.name)
        if before is None or before[0] is not study:
            before = self._made[study.name] = study, page_of(study)
        return before[1]
