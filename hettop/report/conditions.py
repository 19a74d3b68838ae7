"""The contention matrix and the table of conditions: what each load does to each unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from hettop.analysis.conditions import Cell, EstimationError, contention, estimation_errors
from hettop.events import NO_LOAD
from hettop.format import UNKNOWN, count, milliseconds, percent, significant
from hettop.report.notes import power_notes
from hettop.report.page import Block, Items, Paragraph, Section, Table
from hettop.session.session import Session
from hettop.session.statistics import Statistics, statistics
from hettop.text import clean

MATRIX = "P90 in ms"
HEADING = ("unit", "load", "thermal", "n", "P50", "P90", "P99", "max", "inf/s", "canary missed", "mJ")
_LEFT = ("unit", "load", "thermal")
_DISPENSABLE = ("P50", "n", "max", "P99", "canary missed", "mJ")
ERRORS = ("unit", "load", "idle, ms", "under load, ms", "slowdown", "estimation error")
ESTIMATES = (
    "What an estimate made without load is worth: the mean without load against the mean under it. "
    "slowdown = (under load - idle) / idle; estimation error = |idle - under load| / under load."
)
TITLE = "Under load"


def conditions_blocks(session: Session, failed_loads: Mapping[str, str]) -> Iterator[Block]:
    """The matrix of P90 first, then all figures, then how wrong an estimate made without load is."""
    rows = statistics(session)
    cells = contention(rows)
    yield from _matrix(cells)
    if cells:
        yield Table(HEADING, [_row(cell) for cell in cells], _LEFT, _DISPENSABLE)
    yield from _errors(estimation_errors(rows))
    for text in _failures(rows, failed_loads):
        yield Paragraph(text, "error")
    yield Items([*power_notes(session, rows), *_notes(cells)])


def loads_section(rows: Sequence[Statistics]) -> Section | None:
    """None unless something was measured under more than one load."""
    cells = contention(rows)
    if len({cell.load for cell in cells}) < 2:
        return None
    return Section(TITLE, [*_matrix(cells), *_errors(estimation_errors(rows))])


def conditions_document(session: Session) -> dict[str, Any]:
    """`matrix` and `estimation_error`, for a document that has the statistics themselves."""
    rows = statistics(session)
    return {
        "matrix": [_cell(cell) for cell in contention(rows)],
        "estimation_error": [msgspec.to_builtins(error) for error in estimation_errors(rows)],
    }


def _matrix(cells: Sequence[Cell]) -> Iterator[Block]:
    """P90 of each unit (rows) under each load (columns), with its change against no load."""
    loads = list(dict.fromkeys(cell.load for cell in cells))
    if not loads:
        yield Paragraph("nothing was measured", "warning")
        return
    rows = []
    for unit, thermal in dict.fromkeys((cell.unit, cell.thermal) for cell in cells):
        there = {cell.load: cell for cell in cells if (cell.unit, cell.thermal) == (unit, thermal)}
        name = clean(unit, 30) + (f" ({clean(thermal, 20)})" if thermal else "")
        rows.append((name, *(_matrix_cell(there.get(load)) for load in loads)))
    yield Table((MATRIX, *(clean(load, 30) for load in loads)), rows, (MATRIX,))
    if NO_LOAD not in loads:
        yield Paragraph(f"changes are unknown: nothing was measured under load {NO_LOAD}", "warning")


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


def _errors(errors: Sequence[EstimationError]) -> Iterator[Block]:
    if errors:
        yield Paragraph(ESTIMATES)
        yield Table(ERRORS, [_error_row(error) for error in errors], ("unit", "load"))


def _error_row(error: EstimationError) -> tuple[str, ...]:
    return (
        clean(error.unit, 30),
        clean(error.load, 30),
        milliseconds(error.offline_ms),
        milliseconds(error.runtime_ms),
        percent(error.runtime_error, signed=True),
        percent(error.estimate_error),
    )


def _failures(rows: Sequence[Statistics], failed_loads: Mapping[str, str]) -> list[str]:
    units = [f"{clean(row.unit, 30)}: {clean(row.error.message)}" for row in rows if row.error is not None]
    loads = [f"load {clean(load, 40)}: {clean(why)}" for load, why in failed_loads.items()]
    return list(dict.fromkeys([*units, *loads]))


def _notes(cells: Sequence[Cell]) -> list[str]:
    notes = ["times in ms; changes are relative to the same unit without load"]
    if any(cell.figures["p99_ms"] is None for cell in cells):
        notes.append("P99 needs at least 662 samples")
    loads = {part.partition(":")[0] for cell in cells for part in cell.load.split("+")}
    if "memory" in loads and "cpu" in loads:
        notes.append("on a machine with few cores, latency alone does not separate a memory load from a CPU load")
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
