"""Comma-separated values: a row for each sample, and in a second file a row for each power reading.

Texts are clean of control characters, and of what a spreadsheet would take for a formula.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from hettop.events import Power, Samples
from hettop.export.formats import Target
from hettop.record.dataframe_columns import POWER_COLUMNS, SAMPLE_COLUMNS, power_rows
from hettop.record.opened import Recording
from hettop.text import clean

FORMULA_STARTS = ("=", "+", "-", "@")
ROWS_A_WRITE = 4096


def export(recording: Recording, target: Target) -> None:
    """Both tables in one pass over the recording; the second only if there is power."""
    samples, power = _Table(target.main(), SAMPLE_COLUMNS), None
    simulated = str(recording.simulated).lower()
    for event in recording.events():
        match event:
            case Samples():
                samples.write(_sample_rows(event, simulated))
            case Power():
                if power is None:
                    file = target.beside("power")
                    power = _Table(file, POWER_COLUMNS)
                for row in power_rows(event):
                    texts = ["" if value is None else str(value) for value in row]
                    power.write([_line([*texts, simulated])])
    samples.flush()
    if power is not None:
        power.flush()


class _Table:
    """Lines of text, gathered before they are written; a table without a file takes them and writes none."""

    def __init__(self, file: BinaryIO | None, columns: Sequence[str]) -> None:
        self._file = file
        self._held = [_line(columns)]

    def write(self, lines: Sequence[str]) -> None:
        self._held += lines
        if len(self._held) >= ROWS_A_WRITE:
            self.flush()

    def flush(self) -> None:
        if self._file is not None:
            self._file.write("".join(self._held).encode())
        self._held = []


def _sample_rows(window: Samples, simulated: str) -> list[str]:
    begin = _line([clean(window.unit), clean(window.condition), clean(window.thermal or ""), window.phase])[:-1]
    columns = zip(
        window.starts_ns().tolist(),
        window.lat_ns.tolist(),
        _or_empty(window.native_ns, window.n),
        _or_empty(window.late_ns, window.n),
        strict=True,
    )
    return [f"{begin},{start},{latency},{native},{late},{simulated}\n" for start, latency, native, late in columns]


def _or_empty(column: object, n: int) -> Iterator[object]:
    values: list[object] = [""] * n if column is None else column.tolist()  # type: ignore[attr-defined]  # an array
    return iter(values)


def _line(cells: Sequence[str]) -> str:
    """One record that ends with a line feed."""
    made = io.StringIO()
    csv.writer(made, lineterminator="\n").writerow(_harmless(cell) for cell in cells)
    return made.getvalue()


def _harmless(cell: str) -> str:
    """A text that a spreadsheet would calculate is marked as text, as OWASP advises; numbers stay."""
    return f"'{cell}" if cell.startswith(FORMULA_STARTS) and not _is_number(cell) else cell


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
