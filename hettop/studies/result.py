"""What every study's result has in common: it is JSON for `--json`, and in a shorter form a line of a recording."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Self

import msgspec

from hettop.events import TEXT_LIMIT
from hettop.events.base import Text
from hettop.text import clean

ROWS_LIMIT = 64
"""Rows of one table in a line of a recording."""

NAME_LIMIT = 80
"""Characters of a name in a line of a recording."""

SENTENCES = frozenset(
    {
        "notes",
        "note",
        "error",
        "contradiction",
        "gain_why",
        "energy_why",
        "cache_why",
        "no_knee",
        "source",
        "plan",
        "death",
    }
)
"""Fields that hold sentences, or the notation of a plan, which may be longer than names."""

MOST_NOTES = 16
DIGITS = 6
"""That a number is kept with in a line: a keyframe repeats all of them every few seconds."""

ROWS = msgspec.Meta(max_length=ROWS_LIMIT)
Signed = Annotated[float, msgspec.Meta(ge=-1e12, le=1e12)]
Notes = Annotated[list[Text], msgspec.Meta(max_length=16)]


class StudyResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a study found.

    A subclass names itself by `OF`, in `ROW_TYPES` the type of the rows of its tables, and in `DETAILS` the fields,
    of its own and of its rows, that `--json` has and a line leaves out, where names have `LONGEST` characters.
    """

    OF: ClassVar[str] = ""
    ROW_TYPES: ClassVar[Mapping[str, type[msgspec.Struct]]] = {}
    DETAILS: ClassVar[frozenset[str]] = frozenset()
    LONGEST: ClassVar[int] = NAME_LIMIT

    def line(self) -> dict[str, Any]:
        """As a line of a recording holds it: short texts, numbers with six digits, no details."""
        summary = self.summary()
        plain = _short(summary, self)
        if "notes" in plain:
            plain["notes"] = [clean(note, TEXT_LIMIT) for note in getattr(summary, "notes", ())][:MOST_NOTES]
        return {"of": self.OF, **plain}

    def document(self) -> dict[str, Any]:
        """As `--json` prints it: every field by its name, unknown is null."""
        plain: dict[str, Any] = named(self)
        return plain

    def summary(self) -> Self:
        """The same with as many rows in each table as a line holds."""
        return self

    def failures(self) -> dict[str, str]:
        """Parts of it that failed while the rest goes on, by name, and why."""
        return {}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """Reverse of `document`, which may have more fields. Raises ValueError, KeyError or TypeError for another."""
        return msgspec.convert(document, cls)

    @classmethod
    def from_line(cls, found: Mapping[str, Any]) -> Self:
        """Reverse of `line`. Raises ValueError (msgspec.ValidationError) for what is not a result of this study.

        Recordings of version [1, 0] have bare lists in the order of the fields for some rows.
        """
        if found.get("of", cls.OF) != cls.OF:
            raise ValueError(f"a result of {found['of']}, not of {cls.OF}")
        known = {name: _by_name(value, cls.ROW_TYPES.get(name)) for name, value in found.items() if name != "of"}
        return msgspec.convert(known, cls)


def named(value: Any) -> Any:
    """As plain data with the name of every field."""
    if isinstance(value, msgspec.Struct):
        return {field: named(getattr(value, field)) for field in value.__struct_fields__}
    if isinstance(value, (list, tuple)):
        return [named(each) for each in value]
    return value


def _by_name(value: Any, row: type[msgspec.Struct] | None) -> Any:
    if row is None or not isinstance(value, list):
        return value
    if value and not isinstance(value[0], list | dict):  # one row
        return dict(zip(row.__struct_fields__, value, strict=False))
    return [_by_name(each, row) if isinstance(each, list) else each for each in value]


def _short(value: Any, kind: StudyResult) -> Any:
    match value:
        case msgspec.Struct():
            fields = zip(value.__struct_fields__, _defaults(value), strict=True)
            known = {name: getattr(value, name) for name, default in fields if getattr(value, name) != default}
            return {name: _field(name, each, kind) for name, each in known.items() if name not in kind.DETAILS}
        case str():
            return clean(value, kind.LONGEST)
        case float():
            return float(f"{value:.{DIGITS}g}")
        case dict():
            return {clean(str(name), kind.LONGEST): _short(each, kind) for name, each in value.items()}
        case list() | tuple():
            return [_short(each, kind) for each in value]
    return value


def _field(name: str, value: Any, kind: StudyResult) -> Any:
    return clean(value, TEXT_LIMIT) if name in SENTENCES and isinstance(value, str) else _short(value, kind)


_NO_DEFAULT = object()


def _defaults(value: msgspec.Struct) -> Sequence[Any]:
    """One for each field, in order; where a field has none, nothing that a value could equal."""
    given = [_of_factory(default) for default in value.__struct_defaults__]
    return [*[_NO_DEFAULT] * (len(value.__struct_fields__) - len(given)), *given]


def _of_factory(default: Any) -> Any:
    """msgspec keeps an empty list or dict as a factory of one."""
    factory = getattr(default, "factory", None)
    return factory() if factory is not None else default
