"""The pictures of the docs: each is what its recording shows now, and each is shown somewhere."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest

from tools.pictures import PICTURES, Picture

REPOSITORY = Path(__file__).parents[1]
DOCS = REPOSITORY / "docs"


def said(svg: str) -> list[str]:
    """The texts of a picture, in their order; colours and ids are not compared."""
    return [unescape(text).replace("\xa0", " ") for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: picture.path)
def test_a_picture_shows_what_the_recording_shows_now(picture: Picture) -> None:
    there = (DOCS / picture.path).read_text(encoding="utf-8")
    assert said(picture.draw()) == said(there), "make them again: python tools/pictures.py"


def test_every_picture_is_made_by_the_command_and_is_shown_somewhere() -> None:
    made = {picture.path for picture in PICTURES}
    assert {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.svg")} == made
    pages = [REPOSITORY / "README.md", *DOCS.rglob("*.md")]
    shown = {link for page in pages for link in re.findall(r"[\w./-]+\.svg", page.read_text(encoding="utf-8"))}
    assert {path.rpartition("/")[2] for path in made} <= {link.rpartition("/")[2] for link in shown}
