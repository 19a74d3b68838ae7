"""The published schema is what the code says, and recordings are valid by it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hettop.record.schema import schema_text
from hettop.resources import recordings_folder
from tests.record.stories import record, story

jsonschema = pytest.importorskip("jsonschema")
PUBLISHED = Path(__file__).parents[2] / "docs/reference/recording.schema.json"


@pytest.fixture(scope="module")
def validator() -> Any:
    schema = json.loads(PUBLISHED.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_published_schema_is_current() -> None:
    assert PUBLISHED.read_text() == schema_text(), (
        "python -m hettop.record.schema > docs/reference/recording.schema.json"
    )


@pytest.mark.parametrize("path", sorted(recordings_folder().glob("*.jsonl")), ids=lambda path: path.stem)
def test_the_sample_recordings_are_valid(validator: Any, path: Path) -> None:
    for line in path.read_text().splitlines():
        validator.validate(json.loads(line))


def test_what_the_writer_writes_is_valid(validator: Any, tmp_path: Path) -> None:
    record(tmp_path / "a.jsonl", story(5, 25))
    for line in (tmp_path / "a.jsonl").read_text().splitlines():
        validator.validate(json.loads(line))


SAMPLES: dict[str, Any] = {
    "k": "samples", "t": 9, "unit": "A", "condition": "none", "phase": "steady", "t0": 1, "n": 1, "gap_ns": [-1],
    "lat_ns": [3],
}  # fmt: skip


@pytest.mark.parametrize(
    ("line", "valid"),
    [
        (SAMPLES, True),
        ({**SAMPLES, "late_ns": [-5], "native_ns": [2], "colour": "red"}, True),
        ({"k": "martian", "t": 1, "legs": 3}, True),
        ({**SAMPLES, "lat_ns": [-3]}, False),
        ({**SAMPLES, "lat_ns": [1.5]}, False),
        ({**SAMPLES, "lat_ns": [2**53]}, False),
        ({**SAMPLES, "phase": "hot"}, False),
        ({**SAMPLES, "unit": "A" * 201}, False),
        ({"k": "power", "t": 1, "source": "x", "elapsed_ns": 1, "mw": {"cpu": -1}}, False),
        ({"k": "mark", "t": -1}, False),
        ({"t": 1}, False),
    ],
)
def test_it_distinguishes_sound_lines_from_others(validator: Any, line: dict[str, Any], valid: bool) -> None:
    assert validator.is_valid(line) is valid
