"""A plan as a page and as a document."""

from __future__ import annotations

from typing import Any

from hettop.studies.plan.slicing.baselines import baselines
from hettop.studies.plan.slicing.costs import for_objective
from hettop.studies.plan.slicing.planner import plan
from hettop.studies.plan.text import plan_document, plan_text
from tests.report.sessions import widest
from tests.studies.plan.slicing.tables import Fields, fields, table_of

THREE = fields(
    3,
    "BN",
    e=[[19, None], [47, 33], [41, 13]],
    cin=[[0, 11], [0, 5], [0, 30]],
    cout=[[0, 29], [0, 29], [0, 19]],
    size=[8, 60, 24],
    limit={"N": 100},
)


def page(given: Fields, width: int = 100, **facts: Any) -> str:
    table = for_objective(table_of(given), facts.get("objective", "latency"))
    told = {"objective": "latency", "unit_told": True, "planner_ms": 0.25, **facts}
    return plan_text(table, plan(table), baselines(table), width=width, **told)


def test_the_page_has_the_plan_its_slices_and_what_they_save() -> None:
    lines = page(THREE).splitlines()
    assert lines[:2] == ["B_1, N_2", "latency 89.0 ms"]
    assert lines[4].split() == ["B_1", "1", "B", "19.0", "0", "0", "19.0"]
    assert lines[5].split() == ["N_2", "2–3", "N", "46.0", "5.00", "19.0", "70.0"]
    assert "B preferred             107             17%" in lines  # 107 = 19 + 47 + 41
    assert "planned in 0.250 ms; layers 3, devices 2" in lines


def test_costs_whose_unit_is_taken_for_granted_are_said_to_be() -> None:
    assert "taken to be mJ" in page(THREE, objective="energy", unit_told=False)
    assert "taken to be" not in page(THREE)


def test_the_page_fits_its_width() -> None:
    name = "A" + "x" * 40
    many = fields(60, "A", D=[name], size=[60] * 60, limit={name: 100})
    text = page(many, 80)
    assert widest(text.splitlines()) <= 80
    assert "and 20 more" in " ".join(text.split())
    assert "tables end after 40 rows; --json has all" in text


def test_a_baseline_that_cannot_run_has_no_number() -> None:
    table = table_of(fields(1, "A"))
    best = plan(table)
    document = plan_document(table, best, {"x": None}, objective="latency", unit_told=True, planner_ms=0.1)
    assert document["baselines"] == {"x": None}
    told = plan_text(table, best, {"x": None}, objective="latency", unit_told=True, planner_ms=0.1, width=80)
    assert ["x", "n/a", "it", "cannot", "run"] in [line.split() for line in told.splitlines()]


def test_the_document_counts_layers_from_one_and_its_slices_add_up() -> None:
    table = table_of(THREE)
    document = plan_document(table, plan(table), baselines(table), objective="latency", unit_told=False, planner_ms=0.1)
    assert document["slices"] == [
        {"first": 1, "last": 1, "device": "B", "cost": 19.0},
        {"first": 2, "last": 3, "device": "N", "cost": 70.0},
    ]
    assert (document["cost"], document["unit"], document["objective"]) == (89.0, "ms", "latency")
    assert document["baselines"] == {"B preferred": 107.0, "N preferred": 89.0, "without communication": 89.0}
