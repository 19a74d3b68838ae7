"""What every study's result has in common: it is JSON for `--json`, and in a shorter form a line of a recording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

import msgspec

from hettop.events.base import Text

ROWS_LIMIT = 64
"""Rows of one table in a line of a recording."""

ROWS = msgspec.Meta(max_length=ROWS_LIMIT)
Signed = Annotated[float, msgspec.Meta(ge=-1e12, le=1e12)]
Notes = Annotated[list[Text], msgspec.Meta(max_length=16)]


class StudyResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a study found. A subclass names itself by `OF`, and in `ROW_TYPES` the type of the rows of its tables."""

    OF: ClassVar[str] = ""
    ROW_TYPES: ClassVar[Mapping[str, type[msgspec.Struct]]] = {}

    def line(self) -> dict[str, Any]:
        """As a line of a recording holds it."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return {"of": self.OF, **plain}

    def failures(self) -> dict[str, str]:
        """Parts of it that failed while the rest goes on, by name, and why."""
        return {}

    @classmethod
    def from_line(cls, found: Mapping[str, Any]) -> Self:
        """Reverse of `line`. Raises ValueError (msgspec.ValidationError) for what is no result of this study.

        Recordings of version [1, 0] have bare lists in the order of the fields for some rows.
        """
        if found.get("of", cls.OF) != cls.OF:
            raise ValueError(f"a result of {found['of']}, not of {cls.OF}")
        known = {name: _named(value, cls.ROW_TYPES.get(name)) for name, value in found.items() if name != "of"}
        return msgspec.convert(known, cls)


def _named(value: Any, row: type[msgspec.Struct] | None) -> Any:
    if row is None or not isinstance(value, list):
        return value
    if value and not isinstance(value[0], list | dict):  # one row
        return dict(zip(row.__struct_fields__, value, strict=False))
    return [_named(each, row) if isinstance(each, list) else each for each in value]
