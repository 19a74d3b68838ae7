"""What a study found, read from the JSON document that its command prints, in the few thousand bytes a line may have.

Knows names of studies; each document is read by a module of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from hettop.errors import HettopError
from hettop.studies.coexec.result import CoexecResult
from hettop.studies.granularities.result import GranularitiesResult
from hettop.studies.layers.result import LayersResult
from hettop.studies.plan.result import PlanResult
from hettop.studies.result import StudyResult
from hettop.studies.sweep.result import SweepResult
from hettop.studies.variants.result import VariantsResult

Document = Mapping[str, Any]


def _coexecution(document: Document) -> CoexecResult:
    """There the error of a unit is the whole fault."""
    units = [{**unit, "error": unit["error"] and unit["error"]["message"]} for unit in document["units"]]
    return msgspec.convert({**document, "units": units}, CoexecResult)


READERS: dict[str, Callable[[Document], StudyResult]] = {
    "coexec": _coexecution,
    "granularities": partial(msgspec.convert, type=GranularitiesResult),
    "layers": partial(msgspec.convert, type=LayersResult),
    "plan": partial(msgspec.convert, type=PlanResult),
    "roofline": partial(msgspec.convert, type=LayersResult),
    "sweep": partial(msgspec.convert, type=SweepResult),
    "variants": partial(msgspec.convert, type=VariantsResult),
}
"""By the studies' names."""


def found_of(name: str, document: Document) -> StudyResult:
    """The summary of a document that the command of the study called `name` printed.

    Raises HettopError (`study`) for one that is not such a document.
    """
    reader = READERS.get(name)
    if reader is None:
        raise HettopError("study", f"no study is called {name}", f"there are {', '.join(READERS)}")
    try:
        return reader(document)
    except (KeyError, TypeError, ValueError, AttributeError, msgspec.ValidationError) as error:
        raise HettopError("study", f"{name} told what cannot be read: {type(error).__name__} {error}") from None
