"""The pictures of the docs: each is what its recording shows now, and each is shown somewhere."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

from tools import demo
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
    made = {picture.path for picture in PICTURES} | {str(demo.DEMO.relative_to(DOCS))}
    assert {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.svg")} == made
    pages = [REPOSITORY / "README.md", *DOCS.rglob("*.md")]
    shown = {link for page in pages for link in re.findall(r"[\w./-]+\.svg", page.read_text(encoding="utf-8"))}
    assert {path.rpartition("/")[2] for path in made} <= {link.rpartition("/")[2] for link in shown}


def test_the_demo_shows_what_its_recording_shows_now() -> None:
    """The last frame of each scene; the frames before it come from the same code."""
    there = set(said(demo.DEMO.read_text(encoding="utf-8")))
    last = [replace(scene, begins_s=scene.ends_s, frames=1) for scene in demo.SCENES]
    dark, light = (asyncio.run(demo.screens(theme, last)) for theme in demo.THEMES)
    for scene, *screens in zip(last, dark, light, strict=True):
        texts = {piece.text for piece in demo.pieces(*screens) if piece.text}
        assert {scene.caption, *texts} <= there, "make it again: python tools/demo.py"


def test_the_demo_is_small_and_loads_nothing() -> None:
    svg = demo.DEMO.read_text(encoding="utf-8")
    assert len(svg.encode()) < 2_000_000
    assert re.findall(r"https?://[^\"<]*", svg) == ["http://www.w3.org/2000/svg"]
    assert 10 <= sum(scene.lasts_s for scene in demo.SCENES) <= 15
