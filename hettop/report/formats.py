"""A result in the formats that commands print: table, JSON, CSV and Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from hettop.errors import HettopError
from hettop.report.document import to_json
from hettop.report.markdown_page import markdown_blocks
from hettop.report.page import Block
from hettop.report.terminal.blocks import block_text

TABLE = "table"
MAIN_TABLES = (
    "points",
    "variants",
    "layers",
    "slices",
    "choices",
    "rows",
    "units",
    "granularities",
    "conditions",
    "models",
)
"""Where a document has its table; the first that it has is the one that CSV holds."""


def result_text(form: str, document: Callable[[], Mapping[str, Any]], blocks: Iterable[Block], width: int) -> str:
    """The result as `table`, `json`, `csv` or `md`, ending with a line feed."""
    match form:
        case "json":
            return to_json(dict(document())) + "\n"
        case "csv":
            return csv_text(main_table(document()))
        case "md":
            return "\n".join(markdown_blocks(blocks)).rstrip("\n") + "\n"
    return block_text(list(blocks), width, "--json")


def main_table(document: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The rows of a document's main table. Raises HettopError (`format`) where it has none."""
    for name in MAIN_TABLES:
        rows = document.get(name)
        if isinstance(rows, list) and rows and all(isinstance(row, Mapping) for row in rows):
            return rows
    raise HettopError("format", "this result has no table for CSV", "use --format json")


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows with a heading; fields of objects are named `object.field`, bounds of intervals `.low` and `.high`."""
    flat = [dict(_flat(row)) for row in rows]
    names = list(dict.fromkeys(name for row in flat for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)
    return text.getvalue()


def _flat(row: Mapping[str, Any], before: str = "") -> Iterable[tuple[str, Any]]:
    for name, value in row.items():
        match value:
            case Mapping():
                yield from _flat(value, f"{before}{name}.")
            case [low, high] if name.endswith("ci_ms"):
                yield f"{before}{name}.low", _cell(low)
                yield f"{before}{name}.high", _cell(high)
            case list() | tuple():
                continue
            case _:
                yield f"{before}{name}", _cell(value)


def _cell(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else "" if value is None else value
