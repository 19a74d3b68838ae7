"""The canvas of dots, with the characters that the Unicode chart of braille patterns gives."""

from __future__ import annotations

import pytest

from hettop.report.terminal.glyphs import to_ascii
from hettop.tui.canvas import Canvas
from hettop.tui.constants import uses_braille


def drawn(canvas: Canvas) -> list[str]:
    return ["".join(row) for row in canvas.lines()]


def test_each_dot_is_the_one_of_the_unicode_chart() -> None:
    # Dots 1, 2, 3, 7 are the left column from the top; 4, 5, 6, 8 the right one.
    expected = {(0, 3): "⠁", (0, 2): "⠂", (0, 1): "⠄", (0, 0): "⡀", (1, 3): "⠈", (1, 2): "⠐", (1, 1): "⠠", (1, 0): "⢀"}
    for (x, y), character in expected.items():
        canvas = Canvas(1, 1)
        canvas.dot(x, y)
        assert drawn(canvas) == [character]


def test_a_column_reaches_over_cells() -> None:
    canvas = Canvas(2, 2)
    canvas.column(0, 5)
    canvas.column(3, 8, 6)
    assert drawn(canvas) == ["⡀⠘", "⡇ "]


def test_a_line_has_no_gaps() -> None:
    steep = Canvas(1, 2)
    steep.line(0, 0, 1, 7)
    assert drawn(steep) == ["⢸", "⣸"]  # left: height 0; right: 0 to 7
    upright, falling = Canvas(1, 1), Canvas(2, 1)
    upright.line(0, 3, 0, 0)
    falling.line(3, 0, 0, 3)
    assert (drawn(upright), drawn(falling)) == (["⡇"], ["⠑⢄"])


def test_what_lies_outside_is_not_drawn() -> None:
    canvas = Canvas(1, 1)
    canvas.dot(-1, 0)
    canvas.dot(2, 0)
    canvas.dot(0, 4)
    canvas.column(0, 0, -3)
    canvas.line(-5, -9, -1, -9)
    assert drawn(canvas) == [" "]
    canvas.column(1, 99, -99)
    assert drawn(canvas) == ["⢸"]
    assert Canvas(0, 0).lines() == []


def test_blocks_have_eight_heights_a_cell_and_strokes_for_lines() -> None:
    canvas = Canvas(5, 2, braille=False)
    assert (canvas.wide, canvas.high) == (5, 16)
    canvas.column(0, 3)
    canvas.column(1, 12)
    canvas.dot(2, 1)
    canvas.dot(3, 4)
    canvas.dot(4, 15)
    assert drawn(canvas) == [" ▄  ▔", "▃█▁─ "]


def test_ascii_shows_how_many_dots_a_cell_has() -> None:
    canvas = Canvas(4, 1)
    for x, height in enumerate((0, 1, 2, 2, 4, 2, 4, 4)):
        canvas.column(x, height)
    assert to_ascii(drawn(canvas)[0]) == ".:=#"


@pytest.mark.parametrize(
    ("charts", "terminal", "braille"),
    [
        ("auto", "xterm-256color", True),
        ("auto", "linux", False),
        ("braille", "linux", True),
        ("blocks", "xterm-256color", False),
    ],
)
def test_braille_is_used_except_on_a_linux_console(charts: str, terminal: str, braille: bool) -> None:
    assert uses_braille(charts, terminal) is braille
