"""What docs/reference/promises.md promises is there: names, documents, recordings, exit codes, settings and keys."""

from __future__ import annotations

import json
import re
import tomllib

import hettop
from hettop.app.settings.schema import SETTINGS
from hettop.errors import HettopError
from hettop.events import VERSION
from hettop.exits import EXIT_CODES
from hettop.report.document import SCHEMA_VERSION
from hettop.tui.keys import KEYS
from tests.processes.waiting import PACKAGE, REPOSITORY

REFERENCE = REPOSITORY / "docs/reference"
PAGE = (REFERENCE / "promises.md").read_text(encoding="utf-8")
FORMAT = (REFERENCE / "format.md").read_text(encoding="utf-8")


def promised(what: str) -> str:
    """The row of the table of promises."""
    (row,) = re.findall(rf"^\| {what} \| (.*) \|$", PAGE, flags=re.M)
    return str(row)


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n", 1)[1].partition("\n## ")[0]


def test_python_names_are_those_that_the_package_exports() -> None:
    exported = promised("Python").partition(";")[0].partition("`hettop.__all__`")[2]
    assert set(re.findall(r"`(\w+)`", exported)) == set(hettop.__all__)
    error = HettopError("usage", "x", "y")
    assert (error.kind, error.message, error.hint) == ("usage", "x", "y")
    assert (PACKAGE / "py.typed").exists()


def test_every_document_is_listed_and_has_its_schema() -> None:
    listed = set(re.findall(r"`hettop\.([a-z-]+)/(\d+)`", FORMAT.split("| `schema` |")[1].partition("\n\n")[0]))
    published = {path.name.removesuffix(".schema.json") for path in (REFERENCE / "schemas").iterdir()}
    assert listed == {(name, str(SCHEMA_VERSION)) for name in published}
    for name in published:
        schema = json.loads((REFERENCE / f"schemas/{name}.schema.json").read_text())
        assert schema["properties"]["schema"]["const"] == f"hettop.{name}/{SCHEMA_VERSION}"


def test_a_recording_of_the_first_format_can_be_read() -> None:
    """Made by hettop 0.1.0; its inferences are counted here without hettop."""
    path = REPOSITORY / "recordings/simulated-m2.jsonl"
    first = json.loads(path.read_text(encoding="utf-8").partition("\n")[0])
    assert (first["version"], first["host"]["hettop"]) == ([1, 0], "0.1.0")
    counts: dict[str, int] = {}
    with path.open(encoding="utf-8") as file:
        for line in map(json.loads, file):
            if line["k"] == "samples":
                counts[line["unit"]] = counts.get(line["unit"], 0) + line["n"]
    recording = hettop.open_recording(path)
    found: dict[str, int] = {}
    for each in recording.samples:
        found[each.unit] = found.get(each.unit, 0) + len(each.latency_ns)
    assert found == counts
    assert not recording.report.skipped


def test_the_formats_that_are_named_go_up_to_the_one_that_is_written() -> None:
    named = [tuple(map(int, each)) for each in re.findall(r"\b(\d+)\.(\d+) \(hettop", promised("recordings"))]
    assert named == [(1, minor) for minor in range(VERSION[1] + 1)]
    assert VERSION[0] == 1


def test_exit_codes_are_those_of_the_program() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+) \|$", section("Exit codes"), flags=re.M)
    assert {int(code): words for code, words in rows} == EXIT_CODES


def test_config_keys_are_those_of_the_schema() -> None:
    names = re.findall(r"`([\w.]+)`", section("Config keys"))
    assert names == [setting.name for setting in SETTINGS]


def test_ids_of_keys_are_those_of_their_page() -> None:
    page = (REFERENCE / "keys.md").read_text(encoding="utf-8")
    assert {key.id for key in KEYS} <= set(re.findall(r"\| `([\w.]+)` \|$", page, flags=re.M))


def test_the_program_is_installed_under_its_name() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"]["hettop"] == "hettop.__main__:main"
