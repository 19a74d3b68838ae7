"""What is sent to the terminal for a partial update: the changed cells alone, and only what differs in their style.

Textual sends whole spans with all of their colours and a reset after each: four fifths of a frame's bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from rich.color import ColorSystem
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate, CompositorUpdate
from textual.strip import Strip

RESET = "\x1b[0m"


class SmallUpdate(CompositorUpdate):
    """A partial update of Textual's, rendered in fewer bytes."""

    def __init__(self, update: ChopsUpdate) -> None:
        self._update = update

    def render_segments(self, console: Console) -> str:
        """The text with its escape sequences; all attributes are reset before it and after it."""
        pen = _Pen(console._color_system or ColorSystem.TRUECOLOR)
        update = self._update
        for y, first, last in update.spans:
            for (x, strip), end in zip(update.chops[y].items(), update.chop_ends[y], strict=False):
                if strip is None or x >= last or end <= first:
                    continue
                begin = max(x, first)
                pen.move(begin, y)
                for text, style, _ in _part(strip, begin - x, min(end, last) - x):
                    pen.write(text, style)
        return pen.finished()


def _part(strip: Strip, first: int, last: int) -> Iterator[Segment]:
    """Same result as `Strip.crop`, without the seven caches that each new Strip allocates."""
    at = 0
    for segment in strip:
        begin, at = at, at + segment.cell_length
        if at <= first:
            continue
        if begin >= last:
            return
        part = segment if at <= last else segment.split_cells(last - begin)[0]
        yield part if begin >= first else part.split_cells(first - begin)[1]


class _Pen:
    """Writes text at places, and remembers the style that the terminal writes in."""

    def __init__(self, colors: ColorSystem) -> None:
        self._colors = colors
        self._parts: list[str] = []
        self._codes = ""

    def move(self, x: int, y: int) -> None:
        self._parts.append(f"\x1b[{y + 1};{x + 1}H")

    def write(self, text: str, style: Style | None) -> None:
        if style is not None and style._link:
            self._parts.append(self._change("") + style.render(text, color_system=self._colors))
            return
        codes = "" if style is None else style._make_ansi_codes(self._colors)
        self._parts.append(self._change(codes))
        self._parts.append(text)

    def finished(self) -> str:
        self._parts.append(self._change(""))
        return "".join(self._parts)

    def _change(self, codes: str) -> str:
        before, self._codes = self._codes, codes
        return style_change(before, codes)


class _SgrStyle(NamedTuple):
    """The parameters of SGR by what they set; empty where they do not set it."""

    attributes: tuple[str, ...]
    color: str
    ground: str


@lru_cache(maxsize=4096)
def style_change(before: str, after: str) -> str:
    """The shortest sequence from one style to another, both as the parameters of SGR (ECMA-48, 8.3.117)."""
    if before == after:
        return ""
    if not after:
        return RESET
    old, new = _sgr_style(before), _sgr_style(after)
    anew = f"\x1b[0;{after}m" if before else f"\x1b[{after}m"
    kept = set(old.attributes) <= set(new.attributes)
    if not kept or (old.color and not new.color) or (old.ground and not new.ground):
        return anew
    added = [each for each in new.attributes if each not in old.attributes]
    added += [now for was, now in zip(old[1:], new[1:], strict=True) if now != was]
    return f"\x1b[{';'.join(added)}m"


def _sgr_style(codes: str) -> _SgrStyle:
    """The parameters by what they set. 38 and 48 take further ones: `5;n`, or `2;r;g;b`."""
    attributes, color, ground = list[str](), "", ""
    left = codes.split(";") if codes else []
    while left:
        width = {"5": 3, "2": 5}[left[1]] if left[0] in ("38", "48") else 1
        code, left = ";".join(left[:width]), left[width:]
        number = int(code.partition(";")[0])
        if 30 <= number <= 39 or 90 <= number <= 97:
            color = code
        elif 40 <= number <= 49 or 100 <= number <= 107:
            ground = code
        else:
            attributes.append(code)
    return _SgrStyle(tuple(attributes), color, ground)
