"""The JSON Schema of a recording's lines, made from the code that reads them."""

from __future__ import annotations

from inspect import cleandoc
from typing import Any

import msgspec
import numpy as np

from hettop.events import KINDS, LARGEST_EXACT, PHASES, VERSION, WINDOW_LIMIT, AnyEvent

DIALECT = "https://json-schema.org/draft/2020-12/schema"
LOWEST = {"lat_ns": 0, "native_ns": 0}  # of the numbers in a window's columns; the others may be negative


def recording_schema() -> dict[str, Any]:
    """The schema of one line: one of the kinds of this version, or one that a newer minor version has added."""
    (union,), components = msgspec.json.schema_components(
        [AnyEvent], schema_hook=_column, ref_template="#/$defs/{name}"
    )
    known = {"anyOf": union["anyOf"]} if "anyOf" in union else union
    samples = components["Samples"]["properties"]
    samples["phase"] = {"enum": list(PHASES)}
    for name in ("gap_ns", "lat_ns", "native_ns", "late_ns"):
        samples[name] = _with_lowest(samples[name], LOWEST.get(name, -LARGEST_EXACT))
    newer = {
        "description": "A kind of a newer minor version: counted and skipped.",
        "type": "object",
        "properties": {"k": {"type": "string", "not": {"enum": sorted(KINDS)}}},
        "required": ["k"],
    }
    return {
        "$schema": DIALECT,
        "title": f"A line of a hettop recording, version {VERSION[0]}.{VERSION[1]}",
        "description": "Unknown fields are ignored. docs/reference/format.md has the rules that a schema cannot "
        "express.",
        "anyOf": [*known["anyOf"], newer],
        "$defs": {name: _described(component) for name, component in components.items()},
    }


def schema_text() -> str:
    """As it is published."""
    return msgspec.json.format(msgspec.json.encode(recording_schema(), order="sorted"), indent=1).decode() + "\n"


def _described(component: dict[str, Any]) -> dict[str, Any]:
    """With its description without the indent of the docstring, which some versions of msgspec keep."""
    return {**component, "description": cleandoc(component["description"])} if "description" in component else component


def _column(kind: type) -> dict[str, Any]:
    if getattr(kind, "__origin__", kind) is np.ndarray:
        items = {"type": "integer", "maximum": LARGEST_EXACT}
        return {"type": "array", "items": items, "minItems": 1, "maxItems": WINDOW_LIMIT}
    raise NotImplementedError(str(kind))


def _with_lowest(column: dict[str, Any], lowest: int) -> dict[str, Any]:
    """The column's schema, or that of a column that may be null, with the least number it may hold."""
    if "anyOf" in column:
        return {**column, "anyOf": [_with_lowest(each, lowest) for each in column["anyOf"]]}
    return {**column, "items": {**column["items"], "minimum": lowest}} if "items" in column else column


if __name__ == "__main__":
    print(schema_text(), end="")  # noqa: T201 - to be written to docs/reference/recording.schema.json
