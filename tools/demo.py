"""Makes the animated picture of the README from a recording: `python tools/demo.py`. Nothing in it is drawn by hand.

Every frame is the real screen at one moment of a replay, in the dark and in the light theme. A line of cells is
written once for as long as it stays the same; CSS shows it for that time. Readers get the theme of their system, and
a still picture if they ask for less motion.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree

from hettop.app.replay import ReplayFeed
from hettop.app.verdict_cache import VerdictCache
from hettop.tui.app import HettopApp

REPOSITORY = Path(__file__).resolve().parents[1]
RECORDING = REPOSITORY / "recordings/simulated-m2.jsonl"
DEMO = REPOSITORY / "docs/pictures/demo.svg"
S = 10**9

COLUMNS, ROWS = 110, 34
RICH_W, RICH_H, RICH_TOP = 12.2, 24.4, 1.5
"""A cell of the pictures that Textual makes, and where the first line begins."""
CELL_W, CELL_H, FONT_PX, BASELINE = 12, 23.5, 20, 18
MARGIN, BAR = 14, 44
THEMES = ("hettop-dark", "hettop-light")
WINDOW = ("#12161c", "#fafaf7")
TITLE = ("#8c939b", "#5c636b")
DESCRIPTION = "hettop on a simulated Apple M2: four units in turns, competing load, one unit alone, the verdict"
SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True, slots=True)
class Scene:
    """A stretch of the recording, evenly sampled, shown for `lasts_s` under a caption; the keys open a view."""

    caption: str
    begins_s: float
    ends_s: float
    frames: int
    lasts_s: float
    keys: tuple[str, ...] = ()

    def moments(self) -> Iterator[float]:
        step = (self.ends_s - self.begins_s) / max(1, self.frames - 1)
        return (self.begins_s + step * index for index in range(self.frames))


SCENES = (
    Scene("i · four compute units in turns", 10.0, 14.0, 9, 3.0),
    Scene("l · competing load: four CPU cores busy", 15.0, 20.8, 12, 4.0),
    Scene("c · switch to CPU_AND_GPU", 22.4, 24.9, 7, 2.2),
    Scene("c · switch to CPU_AND_NE", 25.4, 27.8, 6, 1.8),
    Scene("v · the verdict so far", 28.0, 28.0, 1, 4.0, ("v",)),
)
STILL = 12
"""The frame that is shown where nothing moves: some frames into the load."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A character, its colour and that of its ground ("": the ground of the window)."""

    glyph: str = " "
    ink: str = ""
    bold: bool = False
    ground: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """Neighbouring cells of one line in one style, in the colours of both themes; `text` is "" for a ground."""

    row: int
    column: int
    cells: int
    text: str
    colours: tuple[str, str]
    bold: bool


Screen = list[list[Cell]]


def cells(svg: str) -> Screen:
    """The screen in a picture that Textual made, cell by cell."""
    rules = dict(re.findall(r"\.[\w-]+-(r\d+) \{ ([^}]*) \}", svg))
    root = ElementTree.fromstring(svg)
    screen = [[Cell() for _ in range(COLUMNS)] for _ in range(ROWS)]
    for rect in root.iter(f"{SVG}rect"):
        if rect.get("shape-rendering") == "crispEdges":
            line = screen[round((float(rect.attrib["y"]) - RICH_TOP) / RICH_H)]
            left = round(float(rect.attrib["x"]) / RICH_W)
            for column in range(left, min(COLUMNS, left + round(float(rect.attrib["width"]) / RICH_W))):
                line[column] = Cell(ground=rect.attrib["fill"])
    for text in root.iter(f"{SVG}text"):
        place = re.search(r"line-(\d+)", text.get("clip-path", ""))
        if place is None:
            continue
        line, left = screen[int(place[1])], round(float(text.attrib["x"]) / RICH_W)
        rule = rules[text.attrib["class"].rpartition("-")[2]]
        ink = re.findall(r"fill: (#\w+)", rule)[0]
        for column, glyph in enumerate((text.text or "").replace("\xa0", " "), left):
            if column < COLUMNS and glyph.strip():
                line[column] = replace(line[column], glyph=glyph, ink=ink, bold="bold" in rule)
    return screen


def pieces(dark: Screen, light: Screen) -> Iterator[Piece]:
    """What a frame is made of. Both screens have the same characters and different colours."""
    for row, lines in enumerate(zip(dark, light, strict=True)):
        pairs = list(enumerate(zip(*lines, strict=True)))
        for grounds, run in groupby(pairs, key=lambda pair: (pair[1][0].ground, pair[1][1].ground)):
            columns = [column for column, _ in run]
            if any(grounds):
                yield Piece(row, columns[0], len(columns), "", grounds, bold=False)
        for (inks, bold), run in groupby(pairs, key=lambda pair: ((pair[1][0].ink, pair[1][1].ink), pair[1][0].bold)):
            found = list(run)
            if any(inks):
                text = "".join(cell.glyph for _, (cell, _) in found)
                yield Piece(row, found[0][0], len(text), text, inks, bold=bold)


async def screens(theme: str, scenes: Sequence[Scene] = SCENES) -> list[Screen]:
    """All frames of these scenes, in their order."""
    feed = ReplayFeed(RECORDING, verdicts=VerdictCache(lambda work: work()))
    drawn = []
    try:
        feed.look_at_all()
        app = HettopApp(lambda: feed, replaying=True, theme=theme)
        async with app.run_test(size=(COLUMNS, ROWS)) as pilot:
            await pilot.pause()
            for scene in scenes:
                for moment in scene.moments():
                    feed.to_end()
                    feed.seek(round(moment * S))
                    app.frame()
                    await pilot.press(*scene.keys)
                    for _ in range(3):  # layout, the frame that follows it, and its painting
                        await pilot.pause()
                    drawn.append(cells(app.export_screenshot()))
    finally:
        feed.close()
    return drawn


def short(number: float) -> str:
    return f"{number:.3f}".rstrip("0").rstrip(".")


class Painter:
    """Writes elements once for all frames that they are part of, and the CSS that shows them then."""

    def __init__(self, durations: Sequence[float]) -> None:
        self.ends = [sum(durations[: index + 1]) for index in range(len(durations))]
        self.total = self.ends[-1]
        self.colours: dict[tuple[str, str], str] = {}

    def colour(self, pair: tuple[str, str]) -> str:
        return self.colours.setdefault(pair, f"c{len(self.colours)}")

    def element(self, piece: Piece) -> str:
        x, y = short(MARGIN + piece.column * CELL_W), BAR + piece.row * CELL_H
        width, name = short(piece.cells * CELL_W), self.colour(piece.colours)
        if not piece.text:
            return f'<rect class="{name}" x="{x}" y="{short(y)}" width="{width}" height="{CELL_H}"/>'
        style = f"{name} b" if piece.bold else name
        place = f'x="{x}" y="{short(y + BASELINE)}" textLength="{width}" lengthAdjust="spacingAndGlyphs"'
        return f'<text class="{style}" {place}>{escape(piece.text, quote=False)}</text>'

    def keyframes(self, name: str, frames: frozenset[int]) -> str:
        """Steps from hidden to visible and back, at the moments at which these frames begin and end."""
        steps: list[str] = []
        before: bool | None = None
        for index in range(len(self.ends)):
            now = index in frames
            if now != before:
                begins = self.ends[index - 1] if index else 0.0
                steps.append(f"{short(100 * begins / self.total)}%{{visibility:{'visible' if now else 'hidden'}}}")
            before = now
        return f"@keyframes {name}{{{''.join(steps)}}}.{name}{{animation-name:{name}}}"


STYLE = """\
text{{font:{font}px ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",Consolas,monospace;white-space:pre}}
.b{{font-weight:bold}}
.f{{visibility:hidden;animation:{total}s step-end infinite}}
.still{{visibility:visible}}
{dark}
@media (prefers-color-scheme:light){{{light}}}
@media (prefers-reduced-motion:reduce){{.f{{animation:none}}}}
{keyframes}"""


def draw() -> str:
    """The animated picture. Raises HettopError (`recording`)."""
    dark, light = (asyncio.run(screens(theme)) for theme in THEMES)
    durations = [scene.lasts_s / scene.frames for scene in SCENES for _ in range(scene.frames)]
    captions = [scene.caption for scene in SCENES for _ in range(scene.frames)]
    painter = Painter(durations)
    shown: defaultdict[str, set[int]] = defaultdict(set)
    for index, pair in enumerate(zip(dark, light, strict=True)):
        for piece in pieces(*pair):
            shown[painter.element(piece)].add(index)
        title = f'<text class="{painter.colour(TITLE)} b" x="{MARGIN}" y="{BAR - 16}">{escape(captions[index])}</text>'
        shown[title].add(index)
    together: defaultdict[tuple[bool, frozenset[int]], list[str]] = defaultdict(list)
    for element, frames in shown.items():
        together[element.startswith("<text"), frozenset(frames)].append(element)
    groups, keyframes = [], []
    for number, ((_, seen), elements) in enumerate(sorted(together.items(), key=lambda entry: entry[0][0])):
        keyframes.append(painter.keyframes(f"k{number}", seen))
        still = " still" if STILL in seen else ""
        groups.append(f'<g class="f k{number}{still}">{"".join(elements)}</g>')
    width, height = COLUMNS * CELL_W + 2 * MARGIN, BAR + ROWS * CELL_H + MARGIN
    size = f'x="1" y="1" width="{short(width - 2)}" height="{short(height - 2)}" rx="10"'
    window = f'<rect class="{painter.colour(WINDOW)}" {size} stroke="#888" stroke-opacity="0.5"/>'
    by_theme = ["".join(f".{name}{{fill:{pair[theme]}}}" for pair, name in painter.colours.items()) for theme in (0, 1)]
    style = STYLE.format(
        font=FONT_PX, total=short(painter.total), dark=by_theme[0], light=by_theme[1], keyframes="\n".join(keyframes)
    )
    parts = "\n".join([f"<title>{escape(DESCRIPTION)}</title>", f"<style>{style}</style>", window, *groups])
    box = f'viewBox="0 0 {short(width)} {short(height)}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box} role="img">\n{parts}\n</svg>\n'


def main() -> None:
    DEMO.write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
