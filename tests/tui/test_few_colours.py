"""Every ink of every shipped theme with 16 million, 256 and 16 colours: it can be read, and does not become another.

`HETTOP_UPDATE_GOLDENS=1 pytest tests/tui/test_few_colours.py` writes the table of all inks anew.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.color import Color as Sent
from rich.color import ColorSystem
from rich.color_triplet import ColorTriplet
from textual.color import Color
from textual.theme import Theme

from hettop.errors import HettopError
from hettop.report.terminal import lines
from hettop.resources import themes_folder
from hettop.tui.chart import Chart
from hettop.tui.themes import COLORS, NAMES, WITHOUT_COLOR, load_themes, read_theme
from tests.tui.screens import golden
from tests.tui.test_themes import luminance

FULL, FEWER, SIXTEEN = ColorSystem.TRUECOLOR, ColorSystem.EIGHT_BIT, ColorSystem.STANDARD
SYSTEMS = {"16 million": FULL, "256": FEWER, "16": SIXTEEN}
# What terminals show for the sixteen numbers differs: these two are the commonest, and far apart.
VGA = tuple(NAMES.values())
XTERM = (
    *("#000000", "#cd0000", "#00cd00", "#cdcd00", "#0000ee", "#cd00cd", "#00cdcd", "#e5e5e5"),
    *("#7f7f7f", "#ff0000", "#00ff00", "#ffff00", "#5c5cff", "#ff00ff", "#00ffff", "#ffffff"),
)
STYLE = re.compile(r"\.chart--([\w-]+) {([^}]*)}")
TEXTS = ("text", "strong", "title", "muted", "low", "mid", "high", "accent", "good", "warning", "error", "active")
REVERSED = ("banner", "badge", "simulated")
LEAST: dict[ColorSystem, dict[str, float]] = {
    FULL: {"text": 7, "strong": 7, "title": 4.5, "muted": 3},
    FEWER: {"text": 7, "strong": 7, "title": 4.5, "muted": 3},
    SIXTEEN: {"text": 7, "strong": 7, "title": 7, "muted": 3},
}
# Of sixteen there are few: bright red on black and magenta on white have just over 4 on some terminals.
OTHERWISE = {FULL: 4.5, FEWER: 4.5, SIXTEEN: 4}


@dataclass(frozen=True, slots=True)
class Ink:
    """A role of a theme at a share of opacity on another role."""

    role: str
    share: float
    ground: str


def read_inks() -> dict[str, Ink]:
    """The inks as the charts' style sheet has them."""
    found = {}
    for name, style in STYLE.findall(Chart.DEFAULT_CSS):
        color = re.search(r"(?<!-)color: \$(\w+)(?: (\d+)%)?", style)
        ground = re.search(r"background: \$(\w+)", style)
        assert color is not None, name
        found[name] = Ink(color[1], int(color[2] or 100) / 100, ground[1] if ground else "background")
    return found


INKS = read_inks()


def test_every_ink_has_a_style_and_no_other_has() -> None:
    assert set(INKS) == set(lines.INKS)


def sent(theme: Theme, ink: Ink, system: ColorSystem) -> tuple[Sent, Sent]:
    """What goes to the terminal: ink and ground."""
    under = Color.parse(getattr(theme, ink.ground))
    over = under.blend(Color.parse(getattr(theme, ink.role)), ink.share)
    fore, back = (Sent.from_triplet(ColorTriplet(*color.rgb)).downgrade(system) for color in (over, under))
    return fore, back


def seen(color: Sent, sixteen: Sequence[str]) -> Color:
    """What a terminal with these sixteen shows for it."""
    if color.number is not None and color.number < len(sixteen):
        return Color.parse(sixteen[color.number])
    triplet = color.get_truecolor()
    return Color(triplet.red, triplet.green, triplet.blue)


def contrast(theme: Theme, ink: Ink, system: ColorSystem) -> float:
    """The lower one of two terminals', by WCAG 2.1."""
    ratios = []
    for sixteen in (VGA, XTERM):
        dark, light = sorted(luminance(seen(color, sixteen)) for color in sent(theme, ink, system))
        ratios.append((light + 0.05) / (dark + 0.05))
    return min(ratios)


def themes(system: ColorSystem) -> list[Theme]:
    return load_themes([themes_folder()], sixteen=system is SIXTEEN)[0]


CASES = [
    pytest.param(theme, system, id=f"{theme.name}-{name}")
    for name, system in SYSTEMS.items()
    for theme in themes(system)
]


@pytest.mark.parametrize(("theme", "system"), CASES)
def test_every_ink_can_be_read(theme: Theme, system: ColorSystem) -> None:
    for name in (*TEXTS, *REVERSED):
        least = LEAST[system].get(name, OTHERWISE[system])
        assert contrast(theme, INKS[name], system) >= least, name


@pytest.mark.parametrize(("theme", "system"), CASES)
def test_what_is_slow_never_looks_like_what_is_usual(theme: Theme, system: ColorSystem) -> None:
    """Up to P90, up to P99 and beyond; of 16 colours three are greys, and lines and glyphs distinguish two."""
    low, mid, high = (sent(theme, INKS[name], system)[0] for name in ("low", "mid", "high"))
    assert high != low
    assert high != mid
    assert low != mid or (theme.name == "hettop-mono" and system is SIXTEEN)


@pytest.mark.parametrize(("theme", "system"), CASES)
def test_muted_words_are_fainter_than_words(theme: Theme, system: ColorSystem) -> None:
    assert contrast(theme, INKS["muted"], system) < contrast(theme, INKS["text"], system)


def test_the_table_of_all_inks() -> None:
    """What each ink becomes, and its contrast: read it when a theme has changed."""
    lines = []
    for number, theme in enumerate(themes(FULL)):
        lines.append(f"{theme.name}{'':<10}".ljust(26) + "".join(f"{name:<26}" for name in SYSTEMS).rstrip())
        for name, ink in INKS.items():
            row = f"  {name:<24}"
            for system in SYSTEMS.values():
                shown = themes(system)[number]
                fore, back = sent(shown, ink, system)
                row += f"{_said(fore)} on {_said(back)} {contrast(shown, ink, system):.1f}".ljust(26)
            lines.append(row.rstrip())
        lines.append("")
    text = "\n".join(lines)
    assert text == golden("inks.txt", text)


def _said(color: Sent) -> str:
    return color.get_truecolor().hex if color.number is None else str(color.number)


def test_in_sixteen_colours_a_theme_uses_none_but_those() -> None:
    for theme in themes(SIXTEEN):
        assert {getattr(theme, role) for role in COLORS} <= set(NAMES.values()), theme.name


def test_a_theme_of_ones_own_may_name_its_sixteen_and_has_usual_ones_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("name = 'x'\ndark = false\n[colors]\nprimary = '#123456'\n[sixteen]\nprimary = 'cyan'\n")
    assert read_theme(path).primary == "#123456"
    few = read_theme(path, sixteen=True)
    assert (few.primary, few.background, few.error) == ("#00aaaa", "#ffffff", "#aa0000")


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("primary = 'azure'", "line 5: key 'sixteen.primary': invalid colour 'azure': not one of the 16"),
        ("primary = 3", "key 'sixteen.primary'"),
        ("purple = 'red'", "line 5: unknown key 'sixteen.purple'"),
    ],
)
def test_a_fault_in_the_sixteen_names_file_line_and_key(tmp_path: Path, line: str, named: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(f"name = 'x'\n[colors]\nprimary = '#123456'\n[sixteen]\n{line}\n")
    with pytest.raises(HettopError, match="mine") as caught:
        read_theme(path)
    assert named in caught.value.message


def test_the_theme_for_no_colour_is_there_and_has_none() -> None:
    (theme,) = (theme for theme in themes(FULL) if theme.name == WITHOUT_COLOR)
    assert all(len(set(Color.parse(getattr(theme, role)).rgb)) == 1 for role in COLORS)
