"""Every screen at every size as plain text, which is reviewed: one file a screen, all of its sizes one below the other.

`HETTOP_UPDATE_GOLDENS=1 pytest tests/tui/test_snapshots.py --snapshot-update` writes texts and pictures anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby

import pytest
from textual.pilot import Pilot

from hettop.report.terminal.glyphs import to_ascii
from hettop.resources import themes_folder
from hettop.tui.app import HettopApp
from hettop.tui.preferences import Preferences
from hettop.tui.themes import load_themes
from tests.tui.matrix import FPS, SCREENS, Shown, Size, showing
from tests.tui.screens import GOLDENS, app_on, golden, screen_text, settled

THEMES = [theme.name for theme in load_themes([themes_folder()])[0]]
FEWEST_FOLDED, MORE = 3, "    … "
DRAWN_BY_TEXTUAL = {"palette", "live-refused", *(name for name in SCREENS if name.startswith(("help", "introduction")))}
"""In part: their borders and scroll bars are others, or none, where characters are plain."""

# Five bands, marks, a badge and a banner: the inks that differ between themes.
COLOURED = ("live-power", "live-paused")


@pytest.mark.parametrize("name", SCREENS)
async def test_every_screen_at_every_size(name: str) -> None:
    shown = SCREENS[name]
    texts: dict[Size, str] = {}
    for sizes in [[size] for size in shown.sizes] if shown.by_size else [sorted(shown.sizes, reverse=True)]:
        texts |= await texts_of(shown, sizes)
    text = "".join([headed(size) + folded(texts[size]) for size in shown.sizes])
    assert text == golden(f"{name}.txt", text)


def headed(size: Size) -> str:
    return f"==== {size[0]}x{size[1]} ".ljust(size[0], "=") + "\n"


def folded(text: str) -> str:
    """The lines; of many that are the same, one, and how many more: large screens have room to spare."""
    lines: list[str] = []
    for line, same in groupby(text.split("\n")):
        more = sum(1 for _ in same) - 1
        lines += [line] * (1 + more) if more < FEWEST_FOLDED else [line, f"{MORE}{more} more lines like this one"]
    return "".join(f"{line}\n" for line in lines)


async def texts_of(shown: Shown, sizes: Sequence[Size]) -> dict[Size, str]:
    """What stands on it at each size: it is opened at the first, and the terminal then made the next."""
    texts = {}
    async with showing(shown, sizes[0]) as (app, pilot):
        for size in sizes:
            await pilot.resize_terminal(*size)
            await settled(pilot)
            app.frame()
            await settled(pilot)
            texts[size] = screen_text(app)
    return texts


async def text_of(shown: Shown, size: Size, *, ascii: bool = False, theme: str | None = None) -> str:  # noqa: A002
    async with showing(shown, size, ascii=ascii, theme=theme) as (app, _):
        return screen_text(app)


def test_every_golden_is_of_a_screen_that_there_is() -> None:
    assert {path.stem for path in GOLDENS.glob("*.txt")} == {*SCREENS, "inks"}


def reviewed(name: str) -> dict[Size, list[str]]:
    """What stands in a screen's golden, by size."""
    text = (GOLDENS / f"{name}.txt").read_text(encoding="utf-8")
    parts = re.split(r"^==== (\d+)x(\d+) =*\n", text, flags=re.M)[1:]
    sizes = [(int(width), int(height)) for width, height in zip(parts[::3], parts[1::3], strict=True)]
    return dict(zip(sizes, map(unfolded, parts[2::3]), strict=True))


def unfolded(text: str) -> list[str]:
    lines: list[str] = []
    for line in text.splitlines():
        lines += [lines[-1]] * int(line.removeprefix(MORE).split()[0]) if line.startswith(MORE) else [line]
    return lines


@pytest.mark.parametrize("name", SCREENS)
def test_every_line_of_a_golden_fits_its_screen(name: str) -> None:
    for (width, height), lines in reviewed(name).items():
        assert len(lines) == height
        assert max(map(len, lines)) <= width


@pytest.mark.parametrize("name", SCREENS)
async def test_with_plain_characters_it_is_the_same_screen(name: str) -> None:
    size = (80, 24)
    plain = await text_of(SCREENS[name], size, ascii=True)
    assert plain.isascii()
    if name not in DRAWN_BY_TEXTUAL:
        # Plain characters have no braille: curves are areas of blocks there, as with `charts = "blocks"`.
        preferences = replace(SCREENS[name].preferences or Preferences(), braille=False)
        blocks = await text_of(replace(SCREENS[name], preferences=preferences), size)
        assert plain.split("\n") == [to_ascii(line) for line in blocks.split("\n")]


@pytest.mark.parametrize("theme", THEMES)
async def test_a_theme_changes_colours_alone(theme: str) -> None:
    size = (80, 24)
    text = await text_of(SCREENS["live-paused"], size, theme=theme)
    assert text.split("\n") == reviewed("live-paused")[size]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", COLOURED)
def test_the_colours_of_every_theme(name: str, theme: str, snap_compare: Callable[..., bool]) -> None:
    assert same_picture(snap_compare, name, theme=theme)


@pytest.mark.parametrize("name", COLOURED)
def test_no_color(name: str, snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert same_picture(snap_compare, name)


@pytest.mark.parametrize("name", ["help", "screen-load", "screen-verdict", "live-failed", "themes"])
def test_the_colours_of_other_screens(name: str, snap_compare: Callable[..., bool]) -> None:
    assert same_picture(snap_compare, name)


def same_picture(snap_compare: Callable[..., bool], name: str, theme: str | None = None) -> bool:
    """Whether it looks as it did, in a terminal of 80x24."""
    shown = SCREENS[name]
    assert shown.feed is not None
    app: HettopApp = app_on(shown.feed(), fps=FPS, theme=theme)

    async def first_frame(pilot: Pilot[None]) -> None:
        await settled(pilot)
        await pilot.press(*shown.keys)
        await settled(pilot)

    same = snap_compare(app, terminal_size=(80, 24), run_before=first_frame)
    # A crashed app has a picture too, of its traceback.
    assert app._exception is None
    assert not app.return_code
    return same
