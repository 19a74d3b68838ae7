"""Which units a plan for Core ML is made for, and what tables it is made from."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hettop.errors import HettopError
from hettop.measurement.options import ModelOptions
from hettop.studies.plan.cutting.costs import cost_table
from hettop.studies.plan.cutting.result import Survey, SurveyedLayer
from hettop.studies.plan.setup import prepare_units, tightened, wanted, without_untried_cuts
from hettop.studies.plan.slicing.planner import plan

MODEL = ModelOptions(model="mobilenetv2:32x32")


def layer(number: int, *ms: float | None) -> SurveyedLayer:
    return SurveyedLayer(f"l{number}", "conv", ("conv",), number, number, ms, 1_000_000, 0, 1, 1000)


def test_core_ml_is_meant_where_it_is_named_and_not_by_units_that_others_have() -> None:
    assert wanted(ModelOptions(model="m.onnx", backend="coreml"), None)
    assert not wanted(MODEL, None)
    assert not wanted(MODEL, ("CPU_ONLY@1", "CPU_ONLY"))
    assert not wanted(ModelOptions(model="mobilenetv2", backend="onnxruntime"), ("CPU_AND_NE",))


def test_a_shape_is_refused_before_anything_starts() -> None:
    with pytest.raises(HettopError, match="the shapes it was converted with"):
        prepare_units(ModelOptions(model="mobilenetv2", backend="coreml", shapes=("x=1",)), None, 2)


def test_of_two_limits_the_lower_holds() -> None:
    assert tightened({"A": 3.0, "B": 1.0}, {"A": 2.0, "C": 5.0}) == {"A": 2.0, "B": 1.0, "C": 5.0}


def test_no_plan_cuts_where_no_cut_was_tried_nor_uses_what_cannot_run() -> None:
    """A would be best for the first layer and B for the second, had anybody tried what a cut costs."""
    survey = Survey((layer(0, 1.0, 9.0), layer(1, 9.0, 1.0)), (10.0, 10.0), ())
    costs = without_untried_cuts(cost_table(("A", "B"), survey), survey)
    assert plan(costs.table).cost == 10
    assert [len(plan(costs.table).slices), np.isinf(costs.table.exit[0]).all()] == [1, True]
    refused = Survey((layer(0, None, 9.0), layer(1, 9.0, 1.0)), (None, 10.0), ())
    table = cost_table(("A", "B"), refused).table
    assert math.isinf(table.execution[0, 0])
    assert plan(table).cost == 10
