"""Theme files: the shipped ones are complete, and a fault names its file and key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from textual.color import Color
from textual.theme import Theme

from hettop.errors import HettopError
from hettop.resources import themes_folder
from hettop.tui.chart import Chart
from hettop.tui.themes import COLORS, DEFAULT, load_themes, read_theme


def test_the_shipped_themes_load_and_set_every_colour() -> None:
    themes, faults = load_themes([themes_folder()])
    assert not faults
    assert {theme.name for theme in themes} >= {DEFAULT, "hettop-okabe-ito", "hettop-light"}
    for theme in themes:
        assert all(getattr(theme, key) for key in COLORS), theme.name


def luminance(color: Color) -> float:
    """Relative luminance as WCAG 2.1 defines it."""
    channels = [part / 255 for part in color.rgb]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(color: str, ground: str, share: float = 1.0) -> float:
    """The ratio of the two, WCAG 2.1; `color` lies on `ground` with this opacity."""
    under = Color.parse(ground)
    lights = sorted((luminance(under.blend(Color.parse(color), share)), luminance(under)), reverse=True)
    return (lights[0] + 0.05) / (lights[1] + 0.05)


def test_contrast_is_computed_as_wcag_does() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)
    assert contrast("#000000", "#ffffff", 0.5) == pytest.approx(contrast("#7f7f7f", "#ffffff"))


def opacity(ink: str) -> float:
    """The share of the foreground that an ink has in the charts' style sheet."""
    found = re.search(rf"\.chart--{ink} {{{{ color: \$foreground (\d+)%", Chart.DEFAULT_CSS.replace("{", "{{"))
    assert found is not None
    return int(found[1]) / 100


@pytest.mark.parametrize("theme", load_themes([themes_folder()])[0], ids=lambda theme: theme.name)
@pytest.mark.parametrize("ground", ["background", "surface"])
def test_everything_can_be_read_in_every_shipped_theme(theme: Theme, ground: str) -> None:
    under = getattr(theme, ground)
    assert contrast(theme.foreground or "", under) >= 7
    assert contrast(theme.foreground or "", under, opacity("title")) >= 4.5
    assert contrast(theme.foreground or "", under, opacity("muted")) >= 3
    for role in ("primary", "accent", "warning", "error", "success"):
        assert contrast(getattr(theme, role), under) >= (4.5 if ground == "background" else 3), role


@pytest.mark.parametrize("theme", load_themes([themes_folder()])[0], ids=lambda theme: theme.name)
@pytest.mark.parametrize("role", ["primary", "warning", "accent"])
def test_what_stands_in_reverse_can_be_read(theme: Theme, role: str) -> None:
    assert contrast(theme.background or "", getattr(theme, role)) >= 4.5


def test_high_contrast_is_that() -> None:
    theme = next(theme for theme in load_themes([themes_folder()])[0] if theme.name == "hettop-high-contrast")
    for role in ("foreground", "primary", "accent", "warning", "error", "success"):
        assert contrast(getattr(theme, role), theme.background or "") >= 7, role
    assert contrast(theme.foreground or "", theme.background or "", opacity("muted")) >= 7


def test_monochrome_has_no_hue_and_its_bands_differ_in_brightness() -> None:
    theme = next(theme for theme in load_themes([themes_folder()])[0] if theme.name == "hettop-mono")
    colors = [Color.parse(getattr(theme, role)) for role in COLORS]
    assert all(len(set(color.rgb)) == 1 for color in colors)
    low, mid, high = (luminance(Color.parse(getattr(theme, role))) for role in ("primary", "warning", "error"))
    assert low * 1.3 < mid < high / 1.3


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("name = ", "line 1: not TOML"),
        ("[colors]\nprimary = '#fff'\n", "'name'"),
        ("name = 'x'\n", "'colors'"),
        ("name = 'x'\n[colors]\nerror = '#fff'\n", "'colors.primary'"),
        ("name = 'x'\n[colors]\nprimary = 'bluish'\n", "line 3: key 'colors.primary'"),
        ("name = 'x'\n[colors]\nprimary = 3\n", "'colors.primary'"),
        ("name = 'x'\n[colors]\nprimary = '#fff'\npurple = '#fff'\n", "line 4: unknown key 'colors.purple'"),
        ("name = 'x'\ndrak = true\n[colors]\nprimary = '#fff'\n", "line 2: unknown key 'drak'"),
        ('name = "x\\u001b"\n[colors]\nprimary = "#fff"\n', "'name'"),
        ("name = 'x'\ndark = 'yes'\n[colors]\nprimary = '#fff'\n", "'dark'"),
    ],
)
def test_a_fault_names_the_file_and_the_key(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(HettopError) as caught:
        read_theme(path)
    assert caught.value.kind == "format"
    assert re.match(r"theme mine\.toml(, line \d)?: ", caught.value.message)
    assert named in caught.value.message


def test_bytes_that_are_no_text_are_refused_in_words(tmp_path: Path) -> None:
    (tmp_path / "raw.toml").write_bytes(b"\xff\xfe\x00")
    themes, faults = load_themes([tmp_path])
    assert not themes
    assert "raw.toml" in faults[0].message


def test_a_missing_folder_has_no_themes(tmp_path: Path) -> None:
    assert load_themes([tmp_path / "nowhere"]) == ([], [])


def test_a_later_folder_goes_before_an_earlier_one(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text("name = 'hettop-dark'\n[colors]\nprimary = '#010203'\n")
    themes, faults = load_themes([themes_folder(), tmp_path])
    assert not faults
    assert [theme.primary for theme in themes if theme.name == "hettop-dark"] == ["#010203"]
