"""The table: layers' own times, and a line of communication of which a slice pays half at each end."""

from __future__ import annotations

import math
from typing import Any

import pytest

from hettop.studies.plan.cutting.costs import cost_table
from hettop.studies.plan.cutting.result import Moved, Survey, SurveyedLayer
from hettop.studies.plan.slicing.planner import notation, plan

MB = 1_000_000


def layer(name: str, ms: tuple[float, ...], crossing_bytes: int, **changed: Any) -> SurveyedLayer:
    plain = {
        "op": "Conv",
        "ops": ("Conv",),
        "first": 0,
        "last": 0,
        "weight_bytes": 3 * MB,
        "output_bytes": MB,
        "crossing": 1,
    }
    return SurveyedLayer(**{"name": name, "ms": ms, "crossing_bytes": crossing_bytes, **plain, **changed})


# MOSAIC's worked line: 1e-6 ms a byte and 1.2 ms.
LINE = ((100_000, 1.3), (400_000, 1.6), (1_600_000, 2.8), (3_200_000, 4.4))
MOVED = tuple(Moved(device, nbytes, ms) for device in (0, 1) for nbytes, ms in LINE)
LAYERS = (layer("a", (10.0, 1.0), 1 * MB), layer("b", (1.0, 10.0), 2 * MB), layer("c", (10.0, 2.0), 0))
SURVEY = Survey(LAYERS, (21.0, 13.0), MOVED)


def test_a_cut_is_paid_for_by_halves_and_the_models_own_ends_are_free() -> None:
    costs = cost_table(("A", "B"), SURVEY)
    assert costs.communication[0].slope == pytest.approx(1e-6)
    assert costs.communication[0].offset == pytest.approx(1.2)
    assert costs.communication[0].r_squared == pytest.approx(1)
    # 1 MB: 2.2 ms; 2 MB: 3.2 ms
    assert costs.table.entry.tolist() == [[0, 0], pytest.approx([1.1, 1.1]), pytest.approx([1.6, 1.6])]
    assert costs.table.exit.tolist() == [pytest.approx([1.1, 1.1]), pytest.approx([1.6, 1.6]), [0, 0]]
    assert costs.table.execution.tolist() == [[10, 1], [1, 10], [10, 2]]
    assert costs.table.sizes.tolist() == [4, 4, 4]


def test_the_plan_weighs_layers_against_cuts() -> None:
    """B_1, A_2, B_3: 1 + 1 + 2, and cuts of 2.2 and 3.2 ms; all on B are 13."""
    table = cost_table(("A", "B"), SURVEY).table
    best = plan(table)
    assert notation(table, best.slices) == "B_1, A_2, B_3"
    assert best.cost == pytest.approx(4 + 2.2 + 3.2)


def test_a_small_cut_costs_what_small_ones_did_whatever_the_line_says() -> None:
    """Costs that grow faster than size draw a line below 0 at small sizes: no cut is free."""
    moved = tuple(
        Moved(0, nbytes, ms) for nbytes, ms in ((10, 0.01), (1_000, 0.02), (10_000, 0.03), (10 * MB, 5.0), (MB, 0.1))
    )
    survey = Survey((layer("a", (1.0,), 10), layer("b", (1.0,), 0)), (2.0,), moved)
    costs = cost_table(("A",), survey)
    assert costs.communication[0].offset < 0
    assert costs.table.exit[0, 0] * 2 == pytest.approx(0.02)


def test_cuts_of_one_size_have_one_cost_and_no_line() -> None:
    survey = Survey(LAYERS, (1.0, 1.0), (Moved(0, 500, 0.2), Moved(0, 500, 0.4)))
    costs = cost_table(("A", "B"), survey)
    assert costs.communication[0].r_squared is None
    assert costs.communication[0].at(10 * MB) == pytest.approx(0.3)
    assert costs.communication[1].n == 0


def test_limits_and_watts_go_into_the_table() -> None:
    table = cost_table(("A", "B"), SURVEY, limits_mb={"B": 5.0}, watts={"A": 2.0, "B": 3.0}).table
    assert table.limits.tolist() == [math.inf, 5.0]
    assert table.watts is not None
    assert table.watts.tolist() == [[2.0, 3.0]] * 3


def test_a_model_of_one_layer_has_a_table_of_one() -> None:
    table = cost_table(("A",), Survey((layer("a", (3.0,), 0),), (3.0,), ())).table
    assert plan(table).cost == 3.0
