"""What competing load does to each unit, as a section of a written report: the contention matrix and its lesson.

Pure; numbers come from `analysis.conditions`.
"""

from __future__ import annotations

from collections.abc import Sequence

from hettop.analysis.conditions import Cell, EstimationError, contention, estimation_errors
from hettop.events import NO_LOAD
from hettop.format import UNKNOWN, milliseconds, percent
from hettop.report.page import Block, Paragraph, Section, Table
from hettop.session.statistics import Statistics

TITLE = "Under load"


def loads_section(rows: Sequence[Statistics]) -> Section | None:
    """None unless something was measured under more than one load."""
    cells = contention(rows)
    loads = list(dict.fromkeys(cell.load for cell in cells))
    if len(loads) < 2:
        return None
    blocks: list[Block] = [
        Paragraph("P90 in ms of each unit under each competing load, with its change against no load."),
        Table(("unit", *loads), [_matrix_row(name, cells, loads) for name in _names(cells)], left=("unit",)),
    ]
    if NO_LOAD not in loads:
        blocks.append(Paragraph("Nothing was measured without load: no change can be told.", warning=True))
    if errors := estimation_errors(rows):
        blocks += [
            Paragraph(
                "What an estimate made without load is worth: the mean without load against the mean under it. "
                "Slower by is (runtime - offline) / offline; wrong by is |offline - runtime| / runtime."
            ),
            Table(
                ("unit", "load", "offline, ms", "runtime, ms", "slower by", "wrong by"),
                [_error_row(error) for error in errors],
                left=("unit", "load"),
            ),
        ]
    return Section(TITLE, blocks)


def _names(cells: Sequence[Cell]) -> list[tuple[str, str | None]]:
    return list(dict.fromkeys((cell.unit, cell.thermal) for cell in cells))


def _matrix_row(name: tuple[str, str | None], cells: Sequence[Cell], loads: Sequence[str]) -> tuple[str, ...]:
    unit, thermal = name
    there = {cell.load: cell for cell in cells if (cell.unit, cell.thermal) == name}
    return (f"{unit} ({thermal})" if thermal else unit, *(_p90(there.get(load)) for load in loads))


def _p90(cell: Cell | None) -> str:
    if cell is None:
        return UNKNOWN
    change = cell.change.get("p90_ms")
    value = milliseconds(cell.figures["p90_ms"])
    return value if change is None else f"{value} ({percent(change, signed=True)})"


def _error_row(error: EstimationError) -> tuple[str, ...]:
    return (
        error.unit,
        error.load,
        milliseconds(error.offline_ms),
        milliseconds(error.runtime_ms),
        percent(error.runtime_error, signed=True),
        percent(error.estimate_error),
    )
