"""The Pareto front as a plot, a table and a JSON document.

Pure text and plain data; standings come from `analysis.pareto`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hettop import __version__
from hettop.analysis.pareto import ACCURACY, SIZE, Choice, Objective, Standing
from hettop.format import significant, size
from hettop.report.grid import grid, wrapped
from hettop.report.points_plot import Series, points_plot

MOST_ROWS = 200
ON, BEHIND = "●", "·"


def pareto_text(found: Sequence[Standing], objectives: Sequence[Objective], notes: Sequence[str], width: int) -> str:
    """Plots of latency against each other objective, the front first in the table, and notes."""
    several_files = len({each.choice.file for each in found}) > 1
    several_loads = len({each.choice.load for each in found}) > 1
    lines: list[str] = []
    for other in objectives[1:]:
        lines += [*_plot(found, objectives[0], other, width), ""]
    heading = ("", "model", "unit", "load", *(_heading(each) for each in objectives), "file", "beaten by")
    ordered = sorted(found, key=lambda each: (not each.on_front, bool(each.lacks), _first(each, objectives[0])))
    rows = [
        (
            ON if each.on_front else "" if each.lacks else BEHIND,
            _label(each.choice),
            each.choice.unit,
            each.choice.load if several_loads else "",
            *(_cell(each.choice, objective) for objective in objectives),
            each.choice.file if several_files else "",
            _beaten(each),
        )
        for each in ordered[:MOST_ROWS]
    ]
    lines += grid(
        heading, rows, left=("", "model", "unit", "load", "file", "beaten by"), width=width, drop=("file", "beaten by")
    )
    lines.append("")
    for note in (*_notes(found, objectives), *notes):
        lines += wrapped(note, width)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def pareto_document(found: Sequence[Standing], objectives: Sequence[Objective]) -> dict[str, Any]:
    """`pareto --json`: every choice with its values and standing; `front` are their places in the list."""
    places = {id(each.choice): place for place, each in enumerate(found)}
    return {
        "hettop": __version__,
        "simulated": any(each.choice.simulated for each in found),
        "objectives": [
            {"name": each.name, "unit": each.unit or None, "goal": "highest" if each.highest else "lowest"}
            for each in objectives
        ],
        "choices": [
            {
                "label": each.choice.label,
                "unit": each.choice.unit,
                "load": each.choice.load,
                "file": each.choice.file,
                "simulated": each.choice.simulated,
                "values": {objective.name: each.choice.values.get(objective.name) for objective in objectives},
                "on_front": None if each.lacks else each.on_front,
                "dominated_by": None if each.dominated_by is None else places[id(each.dominated_by)],
                "lacks": list(each.lacks),
            }
            for each in found
        ],
        "front": [place for place, each in enumerate(found) if each.on_front],
    }


def _plot(found: Sequence[Standing], across: Objective, upright: Objective, width: int) -> list[str]:
    def points(on_front: bool) -> list[tuple[float, float]]:
        return [
            (each.choice.values[across.name], each.choice.values[upright.name])
            for each in found
            if each.on_front is on_front and not each.lacks
        ]

    series = [Series("beaten", points(False), BEHIND), Series("on the front", points(True), ON)]
    name = f"{across.name}, {across.unit}" if across.unit else across.name
    return points_plot(series, name, _heading(upright), width)


def _heading(objective: Objective) -> str:
    unit = objective.unit if objective is not SIZE else ""
    return unit or objective.name


def _cell(choice: Choice, objective: Objective) -> str:
    value = choice.values.get(objective.name)
    if objective is SIZE:
        return size(None if value is None else round(value))
    if objective is ACCURACY and value is not None:
        return f"{value:.4g}"
    return significant(value)


def _label(choice: Choice) -> str:
    return f"{choice.label} (SIMULATED)" if choice.simulated else choice.label


def _beaten(each: Standing) -> str:
    if each.lacks:
        return f"not compared: {', '.join(each.lacks)} unknown"
    other = each.dominated_by
    return "" if other is None else f"{other.label} {other.unit}"


def _first(each: Standing, objective: Objective) -> float:
    return each.choice.values.get(objective.name, float("inf"))


def _notes(found: Sequence[Standing], objectives: Sequence[Objective]) -> list[str]:
    named = ", ".join(f"{each.name} ({'highest' if each.highest else 'lowest'})" for each in objectives)
    notes = [
        f"{ON} on the front: nothing else is at least as good in all of {named}, and better in one; equals both stay",
        "by what was measured, without its intervals: choices that are near each other may change places",
    ]
    if len(objectives) == 1:
        notes.append("only one objective is known of two choices or more: the front is what is best in it")
    if len(found) > MOST_ROWS:
        notes.append(f"the table ends after {MOST_ROWS} of {len(found)} choices; --json has all")
    return notes
