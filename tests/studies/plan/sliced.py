"""A model of three layers that was measured on two devices, its plan, and how that ran."""

from __future__ import annotations

from hettop.studies.plan.cutting.costs import cost_table
from hettop.studies.plan.cutting.result import Ran
from hettop.studies.plan.measure import Sliced
from hettop.studies.plan.slicing.baselines import baselines
from hettop.studies.plan.slicing.planner import plan
from tests.studies.plan.cutting.test_costs import SURVEY

COSTS = cost_table(("A", "B"), SURVEY)
SLICED = Sliced(SURVEY, COSTS, COSTS.table, plan(COSTS.table), baselines(COSTS.table), "latency", 0.2)
# Predicted 2.1, 3.7 and 3.6 ms on B, A, B. B takes twice its 13 ms now, A as long as then.
RAN = Ran((4.0, 4.0, 7.2), 15.2, (21.0, 26.0), (0.4,) * 20, 2e-7, True, 1e-5, 20)
