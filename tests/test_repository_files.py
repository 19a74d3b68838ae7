"""The files by which a site that hosts the repository asks for reports and shows how to cite it are valid."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from hettop.cli.commands import parser_of
from hettop.version import __version__

REPOSITORY = Path(__file__).parents[1]
TEMPLATES = REPOSITORY / ".github/ISSUE_TEMPLATE"
CITATION = REPOSITORY / "CITATION.cff"
KINDS = {
    "markdown": {"value"},
    "textarea": {"label"},
    "dropdown": {"label", "options"},
    "checkboxes": {"label", "options"},
}
"""Kinds of fields of an issue form, with the attributes that each requires."""


def loaded(path: Path) -> Any:
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["bug", "wrong-number", "feature"])
def test_an_issue_form_is_valid_and_asks_for_the_report(name: str) -> None:
    form = loaded(TEMPLATES / f"{name}.yml")
    assert {"name", "description", "body"} <= set(form) <= {"name", "description", "labels", "body"}
    fields = {field["id"]: field for field in form["body"] if field["type"] != "markdown"}
    assert len(fields) == sum(field["type"] != "markdown" for field in form["body"])
    for field in form["body"]:
        assert KINDS[field["type"]] <= set(field["attributes"])
    assert any(field.get("validations", {}).get("required") for field in fields.values())
    words = fields["report"]["attributes"]["description"]
    (command, *_) = re.findall(r"`hettop doctor ([^`]+)`", words)
    assert parser_of("doctor").parse_args(command.split()).report == "hettop-report.zip"
    assert "hettop-report.zip" in words


def test_the_citation_has_what_its_format_requires_and_the_five_papers() -> None:
    """Required by https://github.com/citation-file-format; a check of all of it: `cffconvert --validate`."""
    found = loaded(CITATION)
    assert {"cff-version", "message", "title", "authors"} <= set(found)
    assert (found["cff-version"], found["version"], found["license"]) == ("1.2.0", __version__, "MIT")
    titles = {re.sub(r"\s+", " ", reference["title"]) for reference in found["references"]}
    pages = [page for page in (REPOSITORY / "docs/papers").glob("*.md") if page.name != "README.md"]
    assert len(titles) == len(pages) == 5
    for page in pages:
        text = re.sub(r"\s+", " ", page.read_text(encoding="utf-8"))
        assert any(title in text for title in titles), page.name
    assert all(reference["authors"] for reference in found["references"])


def test_the_security_page_supports_the_version_that_it_comes_with() -> None:
    page = (REPOSITORY / "SECURITY.md").read_text(encoding="utf-8")
    minor = ".".join(__version__.split(".")[:2])
    assert f"| {minor} | yes |" in page
    assert not re.search(r"https?://|@", page.replace("`hettop bench http://…`", "")), (
        "a host or address that may not exist"
    )
