"""The load string: `none`, or `what:level[@duty%]` joined by `+`, as users write it and as conditions name it.

Pure; starts nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from hettop.compute_units import OWN_UNIT
from hettop.errors import HettopError
from hettop.events import NO_LOAD
from hettop.text import clean

KINDS_OF_LOAD = ("ane", "cpu", "gpu", "memory")
UNITS: Mapping[str, str] = {str(kind): unit for kind, unit in OWN_UNIT.items()}
"""The permission with which the competing model is loaded, of the kinds of load that need one."""

HIGHEST_LEVEL = 256  # workers; more than any machine has cores, fewer than the processes a user may start
_PART = re.compile(r"(?P<what>[a-z]+):(?P<level>[0-9]{1,4})(?:@(?P<duty>[0-9]{1,3})%)?")
_EXAMPLE = "examples: cpu:2, memory:1@50%+cpu:2; kinds: " + ", ".join(KINDS_OF_LOAD)


@dataclass(frozen=True, slots=True, order=True)
class LoadPart:
    """`level` workers of one kind, each busy for the share `duty_percent` of the time."""

    what: str
    level: int
    duty_percent: int = 100

    def __str__(self) -> str:
        duty = "" if self.duty_percent == 100 else f"@{self.duty_percent}%"
        return f"{self.what}:{self.level}{duty}"

    @property
    def duty(self) -> float:
        return self.duty_percent / 100


def parse_load(text: str) -> tuple[LoadPart, ...]:
    """The parts of a load string, sorted; `none` has none. Raises HettopError (`usage`) for anything else."""
    if text == NO_LOAD:
        return ()
    parts = tuple(sorted(_parse_part(part) for part in text.split("+")))
    if len({part.what for part in parts}) < len(parts):
        raise HettopError("usage", f"invalid load {clean(text)!r}: a kind is given twice", _EXAMPLE)
    return parts


def condition_of(parts: tuple[LoadPart, ...]) -> str:
    """The condition string of these parts."""
    return "+".join(str(part) for part in sorted(parts)) or NO_LOAD


def _parse_part(text: str) -> LoadPart:
    found = _PART.fullmatch(text)
    if found is None or found["what"] not in KINDS_OF_LOAD:
        raise HettopError("usage", f"invalid load {clean(text)!r}", _EXAMPLE)
    level = int(found["level"])
    duty = int(found["duty"] or 100)
    if not 1 <= level <= HIGHEST_LEVEL:
        raise HettopError("usage", f"invalid load {text}: the level must be 1 to {HIGHEST_LEVEL}", _EXAMPLE)
    if not 1 <= duty <= 100:
        raise HettopError("usage", f"invalid load {text}: the duty must be 1% to 100%", _EXAMPLE)
    return LoadPart(found["what"], level, duty)
