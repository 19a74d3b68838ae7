"""The published JSON Schemas are what the code says, and documents that hettop prints are valid by them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hettop.report.document import head
from hettop.studies.registry import STUDIES
from hettop.studies.result import StudyResult, named
from tests.cli.running import called
from tests.studies import coexecuted, inside, planned, started, swept
from tests.studies.predict import found as predicted
from tools import json_schemas

jsonschema = pytest.importorskip("jsonschema")
RECORDINGS = Path(__file__).parents[2] / "recordings"


def problems(document: dict[str, Any]) -> list[str]:
    """Why a document is not valid by the schema that it names."""
    name = str(document["schema"]).removeprefix("hettop.").partition("/")[0]
    schema = json.loads((json_schemas.FOLDER / f"{name}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    found = jsonschema.Draft202012Validator(schema).iter_errors(document)
    return [f"{each.json_path}: {each.message[:200]}" for each in found]


@pytest.mark.parametrize("name", json_schemas.DOCUMENTS)
def test_the_published_schemas_are_current(name: str) -> None:
    published = (json_schemas.FOLDER / f"{name}.schema.json").read_text()
    assert published == json_schemas.schema_text(name), "python -m tools.json_schemas"


def test_there_is_no_schema_without_a_document() -> None:
    names = {path.name.removesuffix(".schema.json") for path in json_schemas.FOLDER.iterdir()}
    assert names == set(json_schemas.DOCUMENTS)


@pytest.mark.parametrize("file", sorted(RECORDINGS.glob("*.jsonl")), ids=lambda path: path.stem)
@pytest.mark.parametrize(
    "command", [("replay", "--headless"), ("decide",), ("verify",), ("decide", "--budget", "16ms")]
)
def test_what_is_printed_of_a_recording_is_valid(command: tuple[str, ...], file: Path) -> None:
    document = json.loads(called(command[0], str(file), *command[1:], "--json").stdout)
    assert document["schema"] == f"hettop.{'bench' if command[0] == 'replay' else command[0]}/1"
    assert problems(document) == []


def test_other_documents_are_valid(tmp_path: Path) -> None:
    file = str(RECORDINGS / "simulated-m2.jsonl")
    for command in (
        ("compare", file, file),
        ("repair", file, "-o", str(tmp_path / "repaired.jsonl")),
        ("pareto", file),
        ("inspect", "mobilenetv2"),
        ("config",),
    ):
        document = json.loads(called(*command, "--json").stdout)
        assert document["schema"] == f"hettop.{command[0]}/1"
        assert problems(document) == []


FOUND: list[tuple[str, StudyResult]] = [
    ("sweep", swept.PLANTED),
    ("sweep", swept.LOADS),
    ("variants", swept.VARIANTS),
    ("plan", planned.PLAN),
    ("granularities", planned.WAYS),
    ("layers", inside.LAYERS),
    ("roofline", inside.ROOFLINE),
    ("coexec", coexecuted.WELL),
    ("cold", started.WELL),
    ("predict", predicted.FOUND),
]


@pytest.mark.parametrize(("name", "found"), FOUND)
def test_results_of_studies_are_valid(name: str, found: StudyResult) -> None:
    document = json.loads(json.dumps({**head(name), "model": {"name": "m"}, **named(found)}))
    assert problems(document) == []


def test_each_study_has_a_schema() -> None:
    assert set(STUDIES) <= set(json_schemas.DOCUMENTS)


@pytest.mark.parametrize(
    ("field", "value"), [("schema", "hettop.verify/2"), ("ok", "yes"), ("defects", [{"byte": "x"}])]
)
def test_a_wrong_document_is_not_valid(field: str, value: object) -> None:
    document = json.loads(called("verify", str(RECORDINGS / "simulated-m2.jsonl"), "--json").stdout)
    document[field] = value
    assert problems(document)
