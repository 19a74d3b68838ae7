"""Keeps phrases that a reader has to decode out of what hettop prints, out of its docstrings and out of its pages.

The rules are those of plain technical English; these patterns catch only what a pattern can. A sentence that must
stay goes to ALLOWED, with the reason.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes.waiting import PACKAGE

TOP = Path(__file__).resolve().parents[1]

PACKAGES = tuple(
    sorted(path.name for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists())
)
"""Below hettop/: packages and modules whose strings and docstrings are checked."""

PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/index.md", "docs/guide", "docs/method", "docs/reference")
"""Pages and folders of pages that are checked, from the top of the repository."""

EXEMPT = "docs/papers/"

PHRASES = {
    "spike threshold, not fence": r"\bfences?\b",
    "active, not in force": r"\bin force\b",
    "repair or fix, not mend": r"\bmend(s|ed|ing)?\b",
    "show, report or print, not tell": r"\b(tells?|told|telling)\b",
    "random, not made-up": r"\bmade[- ]up\b",
    "warning:, not careful:": r"\bcareful:",
    "not significant, not no more than chance": r"\bno more than chance\b|\bmore often than chance\b",
    "per inference, not an inference": r"(?i)\b(m?J|ms|millijoules?|joules?|energy|tokens?|calls?) an inference\b"
    r"|\binferences a second\b|\b(MACs?|items|tokens) a (byte|call|second)\b",
    "Pareto front, not what nothing else beats": r"\bnothing else beats\b",
    "not a valid X or invalid X, not is no X": r"(?<!there )\bis no (?!longer\b|more\b)\w+",
    "view, screen or dialog, not room": r"\b(a|the|this|each|every|any|open|in) rooms?\b(?! for)|\brooms\b",
}
"""Regular expressions by what to write instead."""

ALLOWED: tuple[str, ...] = (
    "tell: called with",  # the name of a parameter
    "`tell` is called with",
    "See `fence`;",  # the name of a function
)
"""Sentences, or parts of them, in which such a phrase is right."""


def _of_code(path: Path) -> Iterator[tuple[int, str]]:
    """Strings and docstrings of a module with their lines; identifiers are not strings of words."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value.strip():
            yield node.lineno, node.value


def _of_page(path: Path) -> Iterator[tuple[int, str]]:
    """Paragraphs of a Markdown page, without code in backticks."""
    line = 1
    for paragraph in re.split(r"(\n\s*\n)", path.read_text(encoding="utf-8")):
        if not paragraph.isspace() and not paragraph.startswith(("    ", ">")):
            yield line, re.sub(r"`[^`]*`", "`code`", paragraph)
        line += paragraph.count("\n")


def phrases_in(text: str) -> list[str]:
    """What to write instead, for each phrase that is in the text."""
    plain = " ".join(text.split())
    for sentence in ALLOWED:
        plain = plain.replace(sentence, "")
    return [
        f"{instead}: … {plain[max(0, found.start() - 40) : found.end() + 40]} …"
        for instead, pattern in PHRASES.items()
        if (found := re.search(pattern, plain))
    ]


def _files(names: tuple[str, ...], folder: Path, suffix: str) -> list[Path]:
    places = [folder / name for name in names]
    found = [file for place in places for file in (sorted(place.rglob(suffix)) if place.is_dir() else [place])]
    return [file for file in found if not _name(file).startswith(EXEMPT)]


def _name(path: Path) -> str:
    return str(path.relative_to(PACKAGE.parent if PACKAGE in path.parents else TOP))


def _problems(path: Path, texts: Iterator[tuple[int, str]]) -> list[str]:
    return [f"{_name(path)}:{line}: {each}" for line, text in texts for each in phrases_in(text)]


@pytest.mark.parametrize("name", PACKAGES)
def test_strings_and_docstrings_are_plain_technical_english(name: str) -> None:
    problems = [each for file in _files((name,), PACKAGE, "*.py") for each in _problems(file, _of_code(file))]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("name", PAGES)
def test_pages_are_plain_technical_english(name: str) -> None:
    problems = [each for file in _files((name,), TOP, "*.md") for each in _problems(file, _of_page(file))]
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize(
    "text",
    [
        "above the fence",
        "the options in force",
        "to mend it: hettop repair",
        "it tells which\nunit runs",
        "made-up inputs",
        "careful: few samples",
        "no more than chance",
        "1.45 mJ an inference",
        "inferences a second",
        "what nothing else\nbeats",
        "'x' is no unit",
        "the room of spikes",
    ],
)
def test_each_phrase_is_found(text: str) -> None:
    assert len(phrases_in(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "`fence_ms` is the spike threshold in ms",
        "there is no file",
        "the file is no longer there",
        "room for 4 numbers",
        "the energy of an inference",
        "recommended",
    ],
)
def test_plain_text_is_left_alone(text: str) -> None:
    assert phrases_in(text) == []
