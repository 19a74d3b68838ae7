"""What is sent of a line that has changed: all that differs, and little else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from hettop.report.terminal.glyphs import GLYPHS
from hettop.report.terminal.lines import Line
from hettop.tui.chart import changed_cells


@pytest.mark.parametrize(
    ("old", "new", "cells"),
    [
        ((("P50 2.19 ms", "low"),), (("P50 2.28 ms", "low"),), (6, 8)),
        ((("│", "edge"), ("▅█▂", "low"), ("│", "edge")), (("│", "edge"), ("▅▇▂", "low"), ("│", "edge")), (2, 3)),
        ((("a", "text"), ("bc", "low")), (("a", "text"), ("bc", "high")), (1, 3)),  # only its colour
        ((("ab", "text"), ("c", "low")), (("a", "text"), ("bc", "low")), (1, 2)),
        ((("漢1", "text"),), (("漢2", "text"),), (0, 3)),  # two cells, which must not be cut
        ((("e\u0301", "text"), ("1", "text")), (("e1", "text"),), (0, 2)),
        ((), (("abc", "text"),), (0, 3)),
    ],
)
def test_cells_that_differ(old: Line, new: Line, cells: tuple[int, int]) -> None:
    assert changed_cells(old, new, cells[1] if cells[0] == 0 else sum(len(text) for text, _ in new)) == cells


spans = st.lists(st.tuples(st.text("ab█▅ ", min_size=1, max_size=4), st.sampled_from(("low", "high"))), max_size=5)


def padded(line: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Cells with their inks, 20 of them."""
    cells = [(character, ink) for text, ink in line for character in text][:20]
    return cells + [(" ", "text")] * (20 - len(cells))


@given(spans, spans)
def test_outside_of_them_nothing_differs_and_their_ends_do(
    one: list[tuple[str, str]], other: list[tuple[str, str]]
) -> None:
    old, new = padded(one), padded(other)
    if old == new:
        return
    start, end = changed_cells(tuple(old), tuple(new), 20)
    assert old[:start] == new[:start]
    assert old[end:] == new[end:]
    assert old[start] != new[start]
    assert old[end - 1] != new[end - 1]


def test_every_glyph_takes_one_cell() -> None:
    assert [glyph for glyph in GLYPHS if cell_len(glyph) != 1] == []
