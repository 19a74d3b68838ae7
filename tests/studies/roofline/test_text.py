"""The roofline's page, and its plot: roofs and points lie where their numbers put them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hettop.studies.layers.rows import Kernel, LayerRow, Roofs
from hettop.studies.roofline.plot import LAYER, LAYERS, MARGIN, MODEL, ROWS, Axis, plot
from hettop.studies.roofline.text import roofline_text
from tests.report.sessions import widest
from tests.studies.layers.measured import CACHED, CONV, DEPTHWISE, ROOFS, UNKNOWN, measured


def grid_of(lines: list[str]) -> list[str]:
    """The cells between the axes, by line from above."""
    return [line[MARGIN:] for line in lines[1 : 1 + ROWS]]


def place(lines: list[str], glyph: str) -> tuple[int, int]:
    return next((row, line.index(glyph)) for row, line in enumerate(grid_of(lines)) if glyph in line)


def test_an_axis_is_logarithmic() -> None:
    axis = Axis(0.1, 100.0, 30)
    assert [round(axis.at(value), 9) for value in (0.1, 1, 10, 100)] == [0, 10, 20, 30]
    assert axis.value(15) == pytest.approx(10**0.5)
    assert axis.powers() == [0.1, 1, 10, 100]


def test_points_lie_above_and_to_the_right_of_lesser_ones() -> None:
    lines = plot(ROOFS, [CONV], replace(DEPTHWISE, name="model"), 80)
    (conv_row, conv_column), (model_row, model_column) = place(lines, LAYER), place(lines, MODEL)
    assert conv_row < model_row  # 50 GFLOP/s against 2
    assert conv_column > model_column  # 25 MACs a byte against 1


def test_points_in_one_cell_are_drawn_as_several() -> None:
    text = "\n".join(grid_of(plot(ROOFS, [CONV, CONV], UNKNOWN, 80)))
    assert LAYERS in text
    assert LAYER not in text


def test_the_roof_rises_to_the_ridge_and_is_flat_from_there() -> None:
    lines = grid_of(plot(ROOFS, [CONV, DEPTHWISE], UNKNOWN, 80))
    tops = [
        next(
            (row for row, line in enumerate(lines) if column < len(line) and 0x2800 < ord(line[column]) < 0x2900), None
        )
        for column in range(70)
    ]
    drawn = [top for top in tops if top is not None]
    assert drawn == sorted(drawn, reverse=True)
    assert drawn.count(min(drawn)) > 20, "flat beyond the ridge"
    assert max(drawn) > min(drawn), "rising before it"


def test_a_layer_on_its_roof_is_drawn_on_the_line() -> None:
    """1 MAC a byte under 20 GB/s: 40 GFLOP/s; the point takes the place of the line's dots."""
    on = LayerRow("on", "Conv", 0.1, 1.0, 2_000_000, 2_000_000)
    row, column = place(plot(ROOFS, [on], UNKNOWN, 80), LAYER)
    lines = grid_of(plot(ROOFS, [on], UNKNOWN, 80))
    around = [lines[r][c] for r in (row - 1, row, row + 1) for c in (column - 1, column + 1) if c < len(lines[r])]
    assert any(0x2800 < ord(cell) < 0x2900 for cell in around)


@pytest.mark.parametrize("width", [40, 60, 100, 200])
def test_the_plot_fits(width: int) -> None:
    for layers in ([CONV, DEPTHWISE, CACHED], [], [CONV]):
        lines = plot(ROOFS, layers, UNKNOWN, width)
        assert widest(lines) <= width
        assert len(lines) == ROWS + 4


def test_a_machine_that_is_the_same_everywhere_still_has_a_plot() -> None:
    roofs = Roofs(1, (Kernel("", 1.0, 1.0),), (Kernel("", 1.0, 1.0),), 1)
    assert len(plot(roofs, [], UNKNOWN, 60)) == ROWS + 4


def test_the_page_has_kernels_rows_and_the_model() -> None:
    lines = roofline_text("net", measured(), ROOFS, 120).splitlines()
    rows = {line.split()[0]: line.split() for line in lines if line}
    assert ["compute", "convolution", "(GFLOP/s)", "100", "90.0"] in [line.split() for line in lines]
    assert rows["depthwise"] == ["depthwise", "Conv", "2.00", "1.00", "2.00", "40.0", "5.0%", "memory"]
    assert rows["pool"] == ["pool", "GlobalAveragePool", "1.00", "0", "memory", "fits"]
    assert rows["model"][:4] == ["model", "10.0", "16.3", "24.4"]


def test_layers_above_the_roof_of_memory_are_explained_by_the_cache_or_not_at_all() -> None:
    fast = replace(DEPTHWISE, ms=0.05)  # 80 GFLOP/s where 40 are attainable, and 2 MB that do not fit
    assert "1 layer is above the roofs by over 10 %, and no cache explains it" in _told(roofs=ROOFS, rows=(fast,))
    cached = replace(ROOFS, cache_bytes=8_000_000)
    assert "2 layers are above the roof of memory by over 10 %: what moves comes" in _told(
        roofs=cached, rows=(fast, fast)
    )
    assert "above the roof" not in _told(roofs=ROOFS, rows=(CONV,))


def _told(*, roofs: Roofs, rows: tuple[LayerRow, ...]) -> str:
    return roofline_text("net", measured(rows=rows, roofs=roofs), roofs, 200)
