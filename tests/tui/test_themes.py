"""Theme files: the shipped ones are complete, and a fault names its file and key."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.color import Color

from hettop.errors import HettopError
from hettop.resources import themes_folder
from hettop.tui.themes import COLORS, DEFAULT, load_themes, read_theme


def test_the_shipped_themes_load_and_set_every_colour() -> None:
    themes, faults = load_themes([themes_folder()])
    assert not faults
    assert {theme.name for theme in themes} >= {DEFAULT, "hettop-okabe-ito", "hettop-light"}
    for theme in themes:
        assert all(getattr(theme, key) for key in COLORS), theme.name


def luminance(color: str) -> float:
    """Relative luminance as WCAG 2.1 defines it."""
    channels = [part / 255 for part in Color.parse(color).rgb]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("role", ["foreground", "primary", "accent", "warning", "error", "success"])
def test_every_colour_of_a_shipped_theme_can_be_read_on_its_background(role: str) -> None:
    themes, _ = load_themes([themes_folder()])
    for theme in themes:
        lights = sorted((luminance(getattr(theme, role)), luminance(theme.background or "")), reverse=True)
        assert (lights[0] + 0.05) / (lights[1] + 0.05) >= 4.5, theme.name


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("name = ", "not TOML"),
        ("[colors]\nprimary = '#fff'\n", "'name'"),
        ("name = 'x'\n", "'colors'"),
        ("name = 'x'\n[colors]\nerror = '#fff'\n", "'colors.primary'"),
        ("name = 'x'\n[colors]\nprimary = 'bluish'\n", "'colors.primary'"),
        ("name = 'x'\n[colors]\nprimary = 3\n", "'colors.primary'"),
        ("name = 'x'\n[colors]\nprimary = '#fff'\npurple = '#fff'\n", "'colors.purple'"),
        ("name = 'x'\ndrak = true\n[colors]\nprimary = '#fff'\n", "'drak'"),
        ("name = 'x'\ndark = 'yes'\n[colors]\nprimary = '#fff'\n", "'dark'"),
    ],
)
def test_a_fault_names_the_file_and_the_key(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(HettopError) as caught:
        read_theme(path)
    assert caught.value.kind == "format"
    assert "mine.toml" in caught.value.message
    assert named in caught.value.message


def test_bytes_that_are_no_text_are_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "raw.toml").write_bytes(b"\xff\xfe\x00")
    themes, faults = load_themes([tmp_path])
    assert not themes
    assert "raw.toml" in faults[0].message


def test_a_missing_folder_has_no_themes(tmp_path: Path) -> None:
    assert load_themes([tmp_path / "nowhere"]) == ([], [])
