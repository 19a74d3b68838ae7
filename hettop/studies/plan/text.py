"""A slicing plan as a page for a terminal and as a JSON document.

Pure; names of devices come from a file and are cleaned here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hettop.format import UNKNOWN, count, percent, significant
from hettop.report.grid import grid, wrapped
from hettop.studies.plan.slicing.costs import UNITS, CostTable
from hettop.studies.plan.slicing.planner import Plan, Slice, notation, slice_cost
from hettop.text import clean
from hettop.version import __version__

SLICES_HEADING = ("slice", "layers", "device", "execution", "entry", "exit", "cost")
BASELINES_HEADING = ("instead of the plan", "cost", "the plan saves")
ROUNDING = 1e-9
MOST_ROWS = 40
"""A page is for reading; JSON has all."""


def plan_text(
    table: CostTable,
    best: Plan,
    baselines: Mapping[str, float | None],
    *,
    objective: str,
    unit_told: bool,
    planner_ms: float,
    width: int,
    origin: str | None = None,
) -> str:
    """The plan, its slices, and what it is compared with; ends with a line feed.

    unit_told: whether the file names the unit of its costs, or watts to make it with. origin: where the costs come
    from, if not from a file.
    """
    unit = UNITS[objective]
    pieces = best.slices[:MOST_ROWS]
    lines = wrapped(f"{notation(table, pieces)}{_rest(len(best.slices))}", width)
    lines += [f"{objective} {significant(best.cost)} {unit}", ""]
    rows = [_row(table, each) for each in pieces]
    lines += grid(SLICES_HEADING, rows, left=SLICES_HEADING[:3], width=width, drop=("entry", "exit", "execution"))
    lines.append("")
    compared = sorted(baselines.items(), key=lambda item: (item[1] is None, item[1] or 0.0))
    others = [_baseline(name, cost, best.cost) for name, cost in compared[:MOST_ROWS]]
    lines += grid(BASELINES_HEADING, others, left=BASELINES_HEADING[:1], width=width, drop=())
    lines.append("")
    took = f"planned in {significant(planner_ms)} ms; layers {count(table.layers)}, devices {count(len(table.devices))}"
    assumed = "" if unit_told else f"the file names no unit, its costs are taken to be {unit}; "
    source = origin or f"{assumed}costs in {unit} are the file's: nothing was run"
    for note in (took, source, *_cut(best, compared)):
        lines += wrapped(note, width)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def plan_document(
    table: CostTable,
    best: Plan,
    baselines: Mapping[str, float | None],
    *,
    objective: str,
    unit_told: bool,
    planner_ms: float,
) -> dict[str, Any]:
    """`plan --json`; layers count from 1, a baseline that cannot run is null."""
    return {
        "hettop": __version__,
        "objective": objective,
        "unit": UNITS[objective],
        "unit_told": unit_told,
        "cost": best.cost,
        "plan": notation(table, best.slices),
        "slices": [
            {
                "first": each.first + 1,
                "last": each.last + 1,
                "device": table.devices[each.device],
                "cost": slice_cost(table, each),
            }
            for each in best.slices
        ],
        "baselines": dict(baselines),
        "planner_ms": planner_ms,
    }


def _row(table: CostTable, part: Slice) -> tuple[str, ...]:
    cost = slice_cost(table, part)
    entry, leaving = float(table.entry[part.first, part.device]), float(table.exit[part.last, part.device])
    first, last = part.first + 1, part.last + 1
    layers = f"{first}" if first == last else f"{first}–{last}"
    costs = (significant(value) for value in (cost - entry - leaving, entry, leaving, cost))
    return notation(table, [part]), layers, clean(table.devices[part.device], 30), *costs


def _baseline(name: str, cost: float | None, best: float) -> tuple[str, str, str]:
    if cost is None:
        return clean(name, 50), UNKNOWN, "it cannot run"
    saved = 1 - best / cost if cost else 0.0
    # Rounding of the last digit must not read as a plan that is worse.
    return clean(name, 50), significant(cost), percent(0.0 if abs(saved) < ROUNDING else saved)


def _rest(slices: int) -> str:
    return f" and {count(slices - MOST_ROWS)} more" if slices > MOST_ROWS else ""


def _cut(best: Plan, compared: list[tuple[str, float | None]]) -> list[str]:
    longer = max(len(best.slices), len(compared)) > MOST_ROWS
    return [f"tables end after {MOST_ROWS} rows; --json has all"] if longer else []
