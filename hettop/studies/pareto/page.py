"""The Pareto front as blocks of a page, and as a JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from hettop.analysis.pareto import ACCURACY, LATENCY, SIZE, THROUGHPUT, Choice, Objective, Standing
from hettop.format import significant, size
from hettop.report.document import head
from hettop.report.page import Block, Items, Paragraph, Plot, Scale, Series, Spot, Table
from hettop.report.terminal.blocks import LONGEST_NAME

MOST_ROWS = 200
SHORTEST_LABEL = 12
LONGEST_FILE = 20
ON, BEHIND, NEAR = "●", "·", "~"
CALL, RATE = "ms per call", "items/s"
DISPENSABLE = (CALL, "dominated by", RATE, "size")


def pareto_blocks(found: Sequence[Standing], objectives: Sequence[Objective], notes: Sequence[str]) -> Iterator[Block]:
    """Plots of latency against each other objective, the front first in the table, and notes.

    A letter in a plot is that of its row.
    """
    ordered = sorted(found, key=lambda each: (not each.on_front, bool(each.lacks), _first(each, objectives[0])))
    letters = dict(zip(map(id, ordered), letters_of(ordered), strict=True))
    plots = [_plot(ordered, letters, objectives[0], other) for other in objectives[1:]]
    plots = [plot for plot in plots if not plot.is_empty]
    yield from plots
    if plots:
        yield Paragraph("Upper case: on the Pareto front. Lower case: dominated.", "muted")
    names = _names_of_files(found)
    yield _table(ordered, letters, objectives, names)
    if any(name != file for file, name in names.items()):
        yield Items([f"{name} {file}" for file, name in names.items()])
    yield Items([*_notes(found, objectives), *notes])


def _names_of_files(found: Sequence[Standing]) -> dict[str, str]:
    """How a row names its file where there are several: as it is, or if that is long, by a number listed below."""
    files = list(dict.fromkeys(each.choice.file for each in found))
    if len(files) < 2:
        return {}
    long = any(len(file) > LONGEST_FILE for file in files)
    return {file: f"[{number}]" if long else file for number, file in enumerate(files, 1)}


def letters_of(ordered: Sequence[Standing]) -> list[str]:
    """A letter for each that is compared, as far as the alphabet goes: a large one on the front, else a small one."""
    letters: list[str] = []
    for each in ordered:
        place = len([letter for letter in letters if letter])
        known = not each.lacks and place < len(ascii_uppercase)
        letters.append((ascii_uppercase if each.on_front else ascii_lowercase)[place] if known else "")
    return letters


def _table(
    ordered: Sequence[Standing],
    letters: Mapping[int, str],
    objectives: Sequence[Objective],
    files: Mapping[str, str],
) -> Table:
    several_loads = len({each.choice.load for each in ordered}) > 1
    batched = _batched(ordered)
    beside = [
        *([CALL, RATE] if batched else []),
        *(["size"] if any(SIZE.name in each.choice.values for each in ordered) else []),
    ]
    shown = [_heading(each) for each in objectives]
    beside = [name for name in beside if name not in shown]
    heading = ("", " ", "model", "unit", "load", *shown, *beside, "file", "dominated by")
    rows = [
        (
            ON if each.on_front else "" if each.lacks else NEAR if each.within_noise else BEHIND,
            letters[id(each)],
            _label(each.choice),
            each.choice.unit,
            each.choice.load if several_loads else "",
            *(_cell(each.choice, objective) for objective in objectives),
            *(_beside(each.choice, name) for name in beside),
            files.get(each.choice.file, ""),
            _beaten(each),
        )
        for each in ordered[:MOST_ROWS]
    ]
    left = ("", " ", "model", "unit", "load", "file", "dominated by")
    return Table(heading, rows, left, DISPENSABLE)


def pareto_document(found: Sequence[Standing], objectives: Sequence[Objective]) -> dict[str, Any]:
    """`pareto --json`: every choice with its values and standing; `front` are their places in the list."""
    places = {id(each.choice): place for place, each in enumerate(found)}
    return {
        **head("pareto"),
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
                "items_per_call": each.choice.items,
                "size_bytes": each.choice.values.get(SIZE.name),
                "values": {objective.name: each.choice.values.get(objective.name) for objective in objectives},
                "on_front": None if each.lacks else each.on_front,
                "dominated_by": None if each.dominated_by is None else places[id(each.dominated_by)],
                "within_noise": each.within_noise,
                "lacks": list(each.lacks),
            }
            for each in found
        ],
        "front": [place for place, each in enumerate(found) if each.on_front],
        "notes": list(_what_is_compared(found, objectives)),
    }


def _plot(ordered: Sequence[Standing], letters: Mapping[int, str], across: Objective, upright: Objective) -> Plot:
    """The front is drawn over the rest, the first rows over all."""
    spots = [
        Spot(
            values[across.name],
            values[upright.name],
            mark=letters[id(each)] or (ON if each.on_front else BEHIND),
            tone="strong" if each.on_front else "muted",
        )
        for each in reversed(ordered)
        if not each.lacks and (values := each.choice.values)
    ]
    name = f"{across.name}, {across.unit}" if across.unit else across.name
    up = upright.name if upright is SIZE else f"{upright.name}, {upright.unit}" if upright.unit else upright.name
    caption = f"{upright.name} by {across.name}".capitalize() + "."
    return Plot([Series("", spots, joined=False)], Scale(name), Scale(up), caption)


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
    """Cut in its middle: models differ at the front, precisions and points at the end. What it is, stays whole."""
    label = choice.label
    more = f" ({choice.items} items per call)" if choice.items > 1 else ""
    more += " (SIMULATED)" if choice.simulated else ""
    room = max(SHORTEST_LABEL, LONGEST_NAME - len(more))
    if len(label) > room:
        tail = room // 2
        label = f"{label[: room - tail - 1]}…{label[len(label) - tail :]}"
    return label + more


def _beside(choice: Choice, name: str) -> str:
    """Shown though not an objective; empty where unknown."""
    if name == CALL:
        latency = choice.values.get(LATENCY.name)
        return "" if latency is None else significant(latency * choice.items)
    objective = THROUGHPUT if name == RATE else SIZE
    return _cell(choice, objective) if objective.name in choice.values else ""


def _batched(found: Sequence[Standing]) -> bool:
    return any(each.choice.items > 1 for each in found)


def _beaten(each: Standing) -> str:
    if each.lacks:
        return f"not compared: {', '.join(each.lacks)} unknown"
    other = each.dominated_by
    return "" if other is None else f"{'not proven: ' if each.within_noise else ''}{other.label} {other.unit}"


def _first(each: Standing, objective: Objective) -> float:
    return each.choice.values.get(objective.name, float("inf"))


def _what_is_compared(found: Sequence[Standing], objectives: Sequence[Objective]) -> Iterator[str]:
    """What must be known of the rows before one is called better than another."""
    if _batched(found):
        yield (
            "time and energy are compared per item (per call / batch size; 1 where the batch is "
            "unknown). A batch returns all its results at the end of the call"
        )
    units = list(dict.fromkeys(each.choice.unit for each in found if each.choice.unit))
    if len(units) > 1:
        yield f"rows ran on different units: {', '.join(units)}; compare a model on one unit at a time"
    timed = LATENCY.name in [each.name for each in objectives]
    if timed and found and all(each.choice.latency_ci is not None for each in found):
        near = sum(each.within_noise for each in found)
        yield f"{NEAR} within the 95% intervals of a choice on the front: {near} rows"
        return
    yield "differences are not tested, because some rows have no intervals: neighbouring rows may change places"


def _notes(found: Sequence[Standing], objectives: Sequence[Objective]) -> list[str]:
    named = ", ".join(f"{each.name} ({'highest' if each.highest else 'lowest'})" for each in objectives)
    notes = [
        f"{ON} on the Pareto front of {named}",
        *_what_is_compared(found, objectives),
    ]
    if len(objectives) == 1:
        notes.append("only one objective is known for two choices or more: the front is the best value of it")
    if len(found) > MOST_ROWS:
        notes.append(f"the table ends after {MOST_ROWS} of {len(found)} choices; --json has all")
    return notes
