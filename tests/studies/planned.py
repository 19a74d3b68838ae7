"""A slicing plan as it was found, for tests of what it says and how it is shown.

Three layers that cost 2, 3 and 5 ms: on A, B, A, with moving 11 ms in all; 12.1 ms on B alone; measured 10 ms against
12 ms on A and 11 ms on B, which is then the better one.
"""

from __future__ import annotations

import msgspec

from hettop.studies.granularities.result import GranularitiesResult, GranularityRow
from hettop.studies.plan.result import MovingCost, PlanResult, PlanRun, PlanSlice

NOT_RUN = PlanResult(
    objective="latency",
    cost_unit="ms",
    cost=11.0,
    plan="A_1, B_2, A_3",
    devices=["A", "B"],
    slices=[
        PlanSlice(1, 1, "A", 2.5, begins="stem_conv"),
        PlanSlice(2, 2, "B", 3.2, begins="middle"),
        PlanSlice(3, 3, "A", 5.3, begins="head"),
    ],
    slices_n=3,
    baselines={"without communication": 11.0, "B preferred": 12.1, "A preferred": 13.2, "N preferred": None},
    singles={"A": 13.2, "B": 12.1},
    planner_ms=0.2,
    strip=[0, 1, 0],
    layer_cost=[2.0, 3.0, 5.0],
    layers=3,
    moving=[
        MovingCost("A", 0.5, -0.1, 0.93, [(1.0, 0.4), (2.0, 0.9)]),
        MovingCost("B", 0.25, 0.125, None, [(1.0, 0.375)]),
    ],
    notes=["at 2 cuts several values cross"],
)
RUN = PlanRun(
    predicted_ms=11.0,
    measured_ms=10.0,
    error=0.1,
    alone_ms={"A": 12.0, "B": 11.0},
    best_single="B",
    gain=0.1,
    gain_ci=(0.05, 0.15),
    output_difference=2e-7,
    outputs_equal=True,
    tolerance=1e-5,
    adjusted_error=0.02,
    runs=50,
)
PLAN = PlanResult(
    objective="latency",
    cost_unit="ms",
    cost=11.0,
    plan=NOT_RUN.plan,
    devices=NOT_RUN.devices,
    slices=[
        PlanSlice(1, 1, "A", 2.5, 2.0, 0.25, 2.5, 0.1, "stem_conv"),
        PlanSlice(2, 2, "B", 3.2, 3.0, 0.067, 3.2, 0.05, "middle"),
        PlanSlice(3, 3, "A", 5.3, 5.0, 0.06, 5.3, 0.04, "head"),
    ],
    slices_n=3,
    baselines=NOT_RUN.baselines,
    singles=NOT_RUN.singles,
    planner_ms=0.2,
    strip=NOT_RUN.strip,
    layer_cost=NOT_RUN.layer_cost,
    layers=3,
    moving=NOT_RUN.moving,
    run=RUN,
    notes=NOT_RUN.notes,
)
CONTRADICTION = (
    "costs are inconsistent: the whole model on A took 1.40 ms while layers were profiled, 3.99 ms while it ran "
    "whole; measure again on a quieter machine"
)
TORN = msgspec.structs.replace(PLAN, contradiction=CONTRADICTION)
ONE_DEVICE = PlanResult(
    objective="latency",
    cost_unit="ms",
    cost=12.1,
    plan="B_1",
    devices=["B", "A"],
    slices=[PlanSlice(1, 3, "B", 12.1)],
    slices_n=1,
    baselines={"B preferred": 12.1, "A preferred": 13.2},
    singles={"A": 13.2, "B": 12.1},
    strip=[0, 0, 0],
    layer_cost=[2.1, 4.0, 6.0],
    layers=3,
)
EMPTY_PLAN = PlanResult(objective="latency", cost_unit="ms", cost=0.0, plan="")
_EVIL = "\x1b[31m\u202eevil" + "x" * 150
HOSTILE_PLAN = PlanResult(
    objective=_EVIL,
    cost_unit="\x1b[2J",
    cost=1e12,
    plan=f"{_EVIL}_1, 漢字_2",
    devices=[_EVIL, "漢字" * 40],
    slices=[PlanSlice(1, 1, _EVIL, 1e12, begins=_EVIL), PlanSlice(2, 2**52, "漢字" * 40, 0.0, 1e-9, -1.0)],
    slices_n=99,
    baselines={_EVIL: None, "漢字" * 40: 0.0},
    singles={_EVIL: None},
    strip=[0, 1, 7],
    layer_cost=[],
    layers=2**52,
    moving=[MovingCost(_EVIL, -1e12, 1e12, -5.0, [(0.0, -1e12), (1e12, 1e12)])],
    run=PlanRun(
        predicted_ms=0.0, measured_ms=0.0, error=None, best_single=_EVIL, alone_ms={_EVIL: 0.0}, reference=_EVIL,
        apart={"漢字" * 40: 1e12},
    ),
    end_to_end_ms={_EVIL: None, "漢字" * 40: 1e-9},
    estimated=True,
    described=[_EVIL],
    notes=[_EVIL, "a note " * 25],
)  # fmt: skip
OF_A_FILE = msgspec.structs.replace(
    NOT_RUN,
    slices=[PlanSlice(1, 1, "A", 3.0, entry=0.0, exit=1.0), PlanSlice(2, 3, "B", 8.0, entry=1.0, exit=0.0)],
    slices_n=2,
    devices_n=2,
    moving=[],
    from_file=True,
    unit_told=False,
)

QUIET = [
    GranularityRow(
        load="none", name="single", per_s=100.0, p50_ms=10.0, p90_ms=12.0, speedup=1.0, calls=300, lowest_latency=True
    ),
    GranularityRow(
        load="none", name="intra-operator", per_s=80.0, p50_ms=12.5, p90_ms=15.0, speedup=0.8, calls=200,
        speedup_range=(0.75, 0.85),
    ),
    GranularityRow(
        load="none", name="task", per_s=160.0, p50_ms=15.0, p90_ms=19.0, speedup=1.6, calls=480, highest_rate=True,
        speedup_range=(1.5, 1.75),
    ),
]  # fmt: skip
BUSY = [
    GranularityRow(load="cpu:1", name="single", per_s=90.0, p50_ms=11.0, p90_ms=14.0, speedup=1.0, calls=250),
    GranularityRow(
        load="cpu:1", name="intra-operator", per_s=108.0, p50_ms=9.0, p90_ms=11.0, speedup=1.2, calls=300,
        lowest_latency=True, highest_rate=True,
    ),
]  # fmt: skip
FAILED_ROW = GranularityRow(load="memory:2", name="", error="1 load worker ended unasked")
WAYS = GranularitiesResult(threads=2, rows=[*QUIET, *BUSY, FAILED_ROW], stages=[26, 29], notes=["a note"])
EMPTY_WAYS = GranularitiesResult(threads=2)
ONE_WAY = GranularitiesResult(threads=2, rows=QUIET[:1], interrupted=True)
HOSTILE_WAYS = GranularitiesResult(
    threads=2**52,
    rows=[
        GranularityRow(load=_EVIL, name=_EVIL, per_s=0.0, p50_ms=0.0, speedup=1e12, speedup_range=(0.0, 1e12)),
        GranularityRow(load=_EVIL, name="漢字" * 60),
        GranularityRow(load="漢字" * 60, name="", error=_EVIL),
    ],
    stages=[2**52] * 64,
    notes=[_EVIL],
)
