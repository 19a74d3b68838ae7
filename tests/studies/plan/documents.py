"""Documents of `hettop plan` for fixed inputs: of tables, and of a model, measured, planned by the user, and run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from hettop.studies.plan.cutting.costs import Costs, cost_table
from hettop.studies.plan.cutting.result import Ran
from hettop.studies.plan.measure import Sliced, plan_result, table_result
from hettop.studies.plan.slicing.baselines import baselines
from hettop.studies.plan.slicing.costs import for_objective
from hettop.studies.plan.slicing.planner import plan, read_plan
from tests.studies.plan.cutting.test_costs import SURVEY
from tests.studies.plan.sliced import RAN, SLICED
from tests.studies.plan.slicing.tables import Fields, fields, table_of

MODEL = {"name": "m", "sha256": "ab", "backend": "onnxruntime", "note": None}
THREE = fields(
    3,
    "BN",
    e=[[19, None], [47, 33], [41, 13]],
    cin=[[0, 11], [0, 5], [0, 30]],
    cout=[[0, 29], [0, 29], [0, 19]],
    size=[8, 60, 24],
    limit={"N": 100},
)
NEVER = fields(2, "AB", e=[[1, 1], [1, None]], cin=[[0, 0], [None, None]])
"""No slice can begin with the second layer, which B cannot run: begun on B, nothing goes on."""

SLICED_PLAN = "B_1, A_2, B_3"


def of_table(given: Fields, objective: str, *, unit_told: bool) -> dict[str, Any]:
    table = for_objective(table_of(given), objective)
    found = table_result(
        table, plan(table), baselines(table), objective=objective, unit_told=unit_told, planner_ms=0.25
    )
    return found.document()


def of_model(sliced: Sliced) -> dict[str, Any]:
    return {"model": MODEL, **plan_result(sliced).document()}


def energy() -> Sliced:
    costs = cost_table(("A", "B"), SURVEY, watts={"A": 1.0, "B": 2.5})
    table = for_objective(costs.table, "energy")
    chosen = read_plan(table, SLICED_PLAN)
    return Sliced(SURVEY, costs, table, chosen, baselines(table), "energy", 0.3, given=True, ran=RAN)


def estimated() -> Sliced:
    """A plan of the user's own on two units, of which the second does not load the whole; a third is described."""
    survey = replace(
        SURVEY,
        layers=(replace(SURVEY.layers[0], crossing=2), *SURVEY.layers[1:]),
        end_to_end_ms=(21.0, None),
        moved=tuple(replace(each, ms=each.ms - 1.4) for each in SURVEY.moved if each.device == 0),
        estimated=True,
        notes=("a note\x1b",),
    )
    costs = cost_table(("A", "B"), survey)
    wider: dict[str, Any] = {
        name: np.concatenate([getattr(costs.table, name), column], axis=1)
        for name in ("execution", "entry", "exit")
        for column in [np.array([[np.inf], [2.0], [2.0]])]
    }
    table = replace(
        costs.table, devices=("A", "B", "N^960"), limits=np.concatenate([costs.table.limits, [np.inf]]), **wider
    )
    costs = Costs(table, costs.communication)
    chosen = read_plan(table, "A_1, B_3")
    ran = Ran(
        (11.0, 3.0),
        14.5,
        (20.0, None),
        (-0.05,) * 20,
        None,
        False,
        1e-5,
        20,
        reference="A",
        cut_difference=3e-6,
        cut_tolerance=1e-5,
        apart=(0.0, 2e-4),
    )
    return Sliced(survey, costs, table, chosen, baselines(table), "latency", 0.1, given=True, ran=ran)


def documents() -> dict[str, Any]:
    return {
        "plan-table": of_table(THREE, "latency", unit_told=True),
        "plan-table-energy": of_table(THREE, "energy", unit_told=False),
        "plan-table-never": of_table(NEVER, "latency", unit_told=False),
        "plan-measured": of_model(SLICED),
        "plan-ran": of_model(replace(SLICED, ran=RAN)),
        "plan-energy": of_model(energy()),
        "plan-estimated": of_model(estimated()),
    }
