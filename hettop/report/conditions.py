"""The table of conditions and the contention matrix: what each load does to each unit.

Pure text and plain data; numbers come from `analysis.conditions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from hettop.analysis.conditions import Cell, EstimationError, contention, estimation_errors
from hettop.events import NO_LOAD
from hettop.format import UNKNOWN, count, milliseconds, percent, significant
from hettop.report.grid import grid, wrapped
from hettop.report.notes import power_notes
from hettop.report.page import Block, Paragraph, Section, Table
from hettop.session.session import Session
from hettop.session.statistics import Statistics, statistics
from hettop.text import clean

HEADING = ("unit", "load", "thermal", "n", "P50", "P90", "P99", "max", "inf/s", "canary missed", "mJ")
_LEFT = ("unit", "load", "thermal")
_DISPENSABLE = ("P50", "n", "max", "P99", "canary missed", "mJ")


def conditions_text(session: Session, failed_loads: dict[str, str], width: int) -> str:
    """The matrix of P90 first, then all figures, then how wrong an estimate made without load is."""
    rows = statistics(session)
    cells = contention(rows)
    lines = matrix_lines(cells, width)
    lines += ["", *grid(HEADING, [_row(cell) for cell in cells], left=_LEFT, width=width, drop=_DISPENSABLE), ""]
    first = (*_errors(estimation_errors(rows)), *_failures(rows, failed_loads))
    for text in (*first, *power_notes(session, rows), *_notes(cells)):
        lines += wrapped(text, width)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def conditions_document(session: Session) -> dict[str, Any]:
    """`matrix` and `estimation_error`, for a document that has the statistics themselves."""
    rows = statistics(session)
    return {
        "matrix": [_cell(cell) for cell in contention(rows)],
        "estimation_error": [msgspec.to_builtins(error) for error in estimation_errors(rows)],
    }


def matrix_lines(cells: Sequence[Cell], width: int) -> list[str]:
    """P90 in ms for each unit (rows) under each load (columns), with its change against no load."""
    loads = list(dict.fromkeys(cell.load for cell in cells))
    if not loads:
        return ["nothing was measured"]
    heading = ("P90 in ms", *(clean(load, 30) for load in loads))
    units = list(dict.fromkeys((cell.unit, cell.thermal) for cell in cells))
    rows = []
    for unit, thermal in units:
        there = {cell.load: cell for cell in cells if (cell.unit, cell.thermal) == (unit, thermal)}
        name = clean(unit, 30) + (f" ({clean(thermal, 20)})" if thermal else "")
        rows.append((name, *(_matrix_cell(there.get(load)) for load in loads)))
    return grid(heading, rows, left=("P90 in ms",), width=width, drop=())


def _matrix_cell(cell: Cell | None) -> str:
    if cell is None:
        return UNKNOWN
    value = milliseconds(cell.figures["p90_ms"])
    change = cell.change.get("p90_ms")
    return value if change is None else f"{value} ({percent(change, signed=True)})"


def _row(cell: Cell) -> tuple[str, ...]:
    figures = cell.figures
    missed, energy = figures["canary_missed"], figures["energy_mj_per_inference"]
    return (
        clean(cell.unit, 30),
        clean(cell.load, 30),
        clean(cell.thermal, 20) if cell.thermal else "",
        count(cell.n),
        *(_with_change(cell, name) for name in ("p50_ms", "p90_ms", "p99_ms", "max_ms", "throughput_per_s")),
        _missed(missed, cell.frames_due),
        "" if energy is None else significant(energy),
    )


def _missed(missed: float | None, due: int | None) -> str:
    """How many of how many frames."""
    if missed is None:
        return ""
    return count(round(missed)) if not due else f"{count(round(missed))} of {count(due)}"


def _with_change(cell: Cell, name: str) -> str:
    change = cell.change.get(name)
    shown = significant(cell.figures[name])
    return shown if change is None else f"{shown} ({percent(change, signed=True)})"


def _errors(errors: Sequence[EstimationError]) -> list[str]:
    if not errors:
        return []
    told = [
        f"{clean(error.unit, 30)} under {clean(error.load, 30)} {percent(error.runtime_error, signed=True)} "
        f"({percent(error.estimate_error)} off)"
        for error in errors
    ]
    return ["mean against the estimate made without load, and how wrong that estimate is: " + ", ".join(told)]


def _failures(rows: Sequence[Statistics], failed_loads: dict[str, str]) -> list[str]:
    units = [f"{clean(row.unit, 30)}: {clean(row.error.message)}" for row in rows if row.error is not None]
    loads = [f"load {clean(load, 40)}: {clean(why)}" for load, why in failed_loads.items()]
    return list(dict.fromkeys([*units, *loads]))


def _notes(cells: Sequence[Cell]) -> list[str]:
    notes = ["times in ms, changes against the same unit without load; quantiles as numpy's linear (type 7)"]
    if not any(cell.load == NO_LOAD for cell in cells):
        notes.insert(0, f"no change can be told: nothing was measured under load {NO_LOAD}")
    if any(cell.figures["p99_ms"] is None for cell in cells):
        notes.append("P99 is not shown below 662 samples")
    loads = {part.partition(":")[0] for cell in cells for part in cell.load.split("+")}
    if "memory" in loads and "cpu" in loads:
        notes.append("on a machine with few cores, latency alone cannot tell a memory load from a CPU load")
    return notes


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "unit": cell.unit,
        "load": cell.load,
        "thermal": cell.thermal,
        "n": cell.n,
        **cell.figures,
        "canary_due": cell.frames_due,
        "change": cell.change,
    }


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
        blocks.append(Paragraph("Nothing was measured without load: no change can be told.", tone="warning"))
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
