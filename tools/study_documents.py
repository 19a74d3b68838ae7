"""Write the documents that a study's command prints for fixed inputs: `python tools/study_documents.py NAME`.

They are made by `tests/studies/NAME/documents.py` and kept in `tests/golden/studies/`; a test compares them with what
this version prints: fields may be added, none may go or change.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from hettop.report.document import to_json

GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "golden" / "studies"


def documents(name: str) -> dict[str, Any]:
    """By the names of their files, without `hettop`, the version that printed them."""
    made: dict[str, Any] = json.loads(to_json(import_module(f"tests.studies.{name}.documents").documents()))
    return {file: {key: value for key, value in each.items() if key != "hettop"} for file, each in made.items()}


def lost(name: str) -> list[str]:
    """Fields of the kept documents that this version does not print, or prints otherwise."""
    made = documents(name)
    return [
        f"{file}: {field}"
        for file in made
        for field in _lost(json.loads((GOLDEN / f"{file}.json").read_text("utf-8")), made[file])
    ]


def _lost(kept: Any, made: Any, field: str = "") -> Iterator[str]:
    if isinstance(kept, dict) and isinstance(made, dict):
        for key, value in kept.items():
            if key not in made:
                yield f"{field}.{key} is gone"
            else:
                yield from _lost(value, made[key], f"{field}.{key}")
    elif isinstance(kept, list) and isinstance(made, list) and len(kept) == len(made):
        for place, (old, new) in enumerate(zip(kept, made, strict=True)):
            yield from _lost(old, new, f"{field}[{place}]")
    elif kept != made or type(kept) is not type(made):
        yield f"{field} was {kept!r} and is {made!r}"


def main() -> None:
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for file, document in documents(sys.argv[1]).items():
        (GOLDEN / f"{file}.json").write_text(f"{json.dumps(document, indent=1, ensure_ascii=False)}\n", "utf-8")


if __name__ == "__main__":
    main()
