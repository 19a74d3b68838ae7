"""What is sent for changed cells looks on a terminal as what Textual would have sent, and is shorter."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import ChopsUpdate
from textual.strip import Strip

from hettop.tui.updates import SmallUpdate, style_change

COLUMNS, LINES = 20, 3
COLOURS = ("", "red", "bright_blue", "color(200)", "#102030", "#d0e0f0")
CONSOLE = Console(color_system="truecolor", force_terminal=True)

Cell = tuple[str, frozenset[str], str, str]
"""A character, and the attributes, the colour and the background that it is drawn in."""


class Terminal:
    """Draws what is sent to it, as ECMA-48 has it, as far as frames use that."""

    def __init__(self) -> None:
        self.cells: dict[tuple[int, int], Cell] = {}
        self.x = self.y = 0
        self.reset()

    def reset(self) -> None:
        self.attributes, self.colour, self.ground = frozenset[str](), "", ""

    def draw(self, data: str) -> None:
        for parameters, final, character in re.findall(r"\x1b\[([\d;]*)([A-Za-z])|([^\x1b])", data):
            if final == "H":
                self.y, self.x = (int(number) - 1 for number in parameters.split(";"))
            elif final == "m":
                self.style(parameters.split(";"))
            elif character == "\n":
                self.y += 1
            elif character:
                self.cells[self.y, self.x] = character, self.attributes, self.colour, self.ground
                self.x += 1

    def style(self, numbers: list[str]) -> None:
        while numbers:
            number = numbers.pop(0)
            if number in ("38", "48"):
                taken = 4 if numbers[0] == "2" else 2
                found, numbers = ";".join(numbers[:taken]), numbers[taken:]
                self.colour, self.ground = (found, self.ground) if number == "38" else (self.colour, found)
            elif number in ("", "0"):
                self.reset()
            elif len(number) == 1:
                self.attributes |= {number}
            elif number[-2] in "39":
                self.colour = number
            else:
                self.ground = number


styles = st.builds(
    lambda colour, ground, attributes: Style.parse(
        " ".join([*attributes, colour, f"on {ground}" if ground else ""]) or "none"
    ),
    st.sampled_from(COLOURS),
    st.sampled_from(COLOURS),
    st.sets(st.sampled_from(("bold", "dim", "italic", "underline", "reverse"))),
)
strips = st.lists(st.tuples(st.text("ab█ ", min_size=1, max_size=6), styles), min_size=1, max_size=6).map(
    lambda parts: Strip([Segment(text, style) for text, style in parts]).adjust_cell_length(COLUMNS)
)
spans = st.tuples(st.integers(0, LINES - 1), st.integers(0, COLUMNS - 1), st.integers(1, COLUMNS)).filter(
    lambda span: span[1] < span[2]
)


@given(st.lists(strips, min_size=LINES, max_size=LINES), st.lists(spans, min_size=1, max_size=4))
def test_the_changed_cells_look_the_same_in_fewer_bytes(
    lines: list[Strip], changed: list[tuple[int, int, int]]
) -> None:
    """Cells outside of the changed ones may be sent by Textual; here none is."""
    changed.sort()
    update = ChopsUpdate([{0: strip} for strip in lines], changed, [[COLUMNS] for _ in lines])
    theirs, ours = Terminal(), Terminal()
    long, short = update.render_segments(CONSOLE), SmallUpdate(update).render_segments(CONSOLE)
    theirs.draw(long)
    ours.draw(short)
    places = {(y, x) for y, first, last in changed for x in range(first, last)}
    assert ours.cells == {place: cell for place, cell in theirs.cells.items() if place in places}
    assert (ours.attributes, ours.colour, ours.ground) == (frozenset(), "", "")
    assert len(short) <= len(long) + len("\x1b[0m")


@pytest.mark.parametrize(
    ("before", "after", "sent"),
    [
        ("", "38;2;1;2;3", "\x1b[38;2;1;2;3m"),
        ("38;2;1;2;3;48;2;9;9;9", "38;2;4;5;6;48;2;9;9;9", "\x1b[38;2;4;5;6m"),
        ("31;48;5;7", "1;31;48;5;7", "\x1b[1m"),
        ("1;31;48;5;7", "31;48;5;7", "\x1b[0;31;48;5;7m"),  # what ends one attribute differs between terminals
        ("31;44", "31", "\x1b[0;31m"),
        ("31", "", "\x1b[0m"),
        ("31", "31", ""),
    ],
)
def test_only_what_differs_is_sent(before: str, after: str, sent: str) -> None:
    assert style_change(before, after) == sent


def test_a_link_keeps_its_sequences() -> None:
    strip = Strip([Segment("see ", Style.parse("red")), Segment("here", Style(link="file:///x", color="red"))])
    data = SmallUpdate(ChopsUpdate([{0: strip}], [(0, 0, 8)], [[8]])).render_segments(CONSOLE)
    assert ";file:///x\x1b\\" in data
    assert data.endswith("\x1b]8;;\x1b\\")
