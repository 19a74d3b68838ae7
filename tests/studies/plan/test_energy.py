"""The energy of a layer is the mean power while it ran again and again, times its time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.events import Baseline, Power, PowerStatus
from hettop.studies.plan.cutting.child import survey_in_child
from hettop.studies.plan.cutting.costs import cost_table
from hettop.studies.plan.cutting.messages import MeasuringProgress, Subject
from hettop.studies.plan.cutting.result import Block
from hettop.studies.plan.energy import NO_SAMPLE, LayerPower, by_layer, layer_power
from hettop.studies.plan.measure import plan_result
from hettop.studies.plan.setup import with_power
from hettop.studies.plan.slicing.costs import for_objective
from tests.studies.plan.cutting import models
from tests.studies.plan.cutting.test_costs import SURVEY
from tests.studies.plan.sliced import COSTS, RAN, SLICED

MS = 10**6
S = 1000 * MS


def sample(end_ns: int, mw: float, source: str = "rapl", elapsed_ns: int = 500 * MS) -> Power:
    return Power(t=end_ns, source=source, elapsed_ns=elapsed_ns, mw={"package": mw})


def test_power_within_a_block_is_averaged_by_length_and_shared_by_calls() -> None:
    """2 s at 3 W and 1 s at 6 W, of which two windows lie half outside: 4 W for 4 s, 1000 calls: 16 mJ each."""
    block = Block(10 * S, 14 * S, 1000)
    events = [
        sample(10 * S + 100 * MS, 99_000),
        sample(12 * S, 3_000, elapsed_ns=2 * S),
        sample(13 * S, 6_000, elapsed_ns=S),
        sample(14 * S + 100 * MS, 99_000),
    ]
    assert by_layer([block], events, 1) == LayerPower(((4.0,),), ((16.0,),), "rapl")


def test_layers_and_devices_keep_their_places() -> None:
    blocks = [Block(each * S, (each + 1) * S, 10) for each in range(4)]
    events = [sample((each + 1) * S, 1000 * (each + 1)) for each in range(4)]
    found = by_layer(blocks, events, 2)
    assert found.watts == ((1, 2), (3, 4))
    assert found.mj == ((100, 200), (300, 400))


def test_a_layer_without_a_sample_has_no_energy_and_the_reason_is_reported() -> None:
    blocks = [Block(0, S, 10), Block(S, S + MS, 1)]
    found = by_layer(blocks, [sample(S, 1000)], 1)
    assert (found.mj, found.why) == (((100,), (None,)), NO_SAMPLE)


def test_a_capture_is_not_the_power_of_this_run() -> None:
    found = by_layer([Block(0, S, 10)], [sample(S, 1000, "file")], 1)
    assert (found.watts, found.source) == (((None,),), None)
    assert "capture" in found.why


def test_measured_power_is_the_table_s_and_what_is_unknown_is_refused_where_needed() -> None:
    power = LayerPower(((1, 2),) * 3, ((1, 1),) * 3, "rapl")
    energy = for_objective(with_power(COSTS, power, needed=True).table, "energy")
    assert energy.execution[0].tolist() == (COSTS.table.execution[0] * [1, 2]).tolist()
    unknown = replace(power, watts=((1, None), (1, 2), (1, 2)), why="it rained")
    assert with_power(COSTS, unknown, needed=False).table.watts is None
    with pytest.raises(HettopError, match="energy per layer: n/a, it rained"):
        with_power(COSTS, unknown, needed=True)


def test_a_document_has_the_energy_of_each_layer_or_why_not() -> None:
    power = LayerPower(((1, 2),) * 3, ((5, 6), (7, 8), (9, None)), "rapl", NO_SAMPLE)
    document = plan_result(replace(SLICED, power=power)).document()
    assert [each["mj"] for each in document["layers"]] == [{"A": 5, "B": 6}, {"A": 7, "B": 8}, {"A": 9, "B": None}]
    assert document["power_source"] == "rapl"
    assert f"energy per layer: n/a for some, {NO_SAMPLE}" in document["notes"]
    plain = plan_result(SLICED).document()
    assert plain["layers"][0]["mj"] == {}
    assert "energy per layer: n/a, power was not measured; use --power SRC" in plain["notes"]


def test_the_energy_of_a_plan_that_ran_is_compared_with_what_its_layers_predict() -> None:
    """1 W on A and 2 W on B for 2.1, 3.7 and 3.6 ms on B, A, B: 4.2, 3.7 and 7.2 mJ; 4, 5 and 8 were measured."""
    costs = with_power(COSTS, LayerPower(((1, 2),) * 3, ((1, 1),) * 3, "rapl"), needed=True)
    slices = LayerPower(((1,),) * 3, ((4,), (5,), (8,)), "rapl")
    run = plan_result(replace(SLICED, costs=costs, ran=RAN, slice_power=slices)).run
    assert run is not None
    assert run.predicted_mj == pytest.approx(15.1)
    assert run.measured_mj == 17
    assert run.energy_estimation_error == pytest.approx((0.2 / 4 + 1.3 / 5 + 0.8 / 8) / 3)
    unknown = replace(slices, mj=((4,), (None,), (8,)))
    without = plan_result(replace(SLICED, costs=costs, ran=RAN, slice_power=unknown)).run
    assert without is not None
    assert without.measured_mj is None


class Steady:
    """3 W in windows of 5 ms up to now."""

    def __init__(self) -> None:
        self._until = 0

    def drain(self, t: int) -> list[Power | PowerStatus | Baseline]:
        begin, self._until = self._until or t, t
        return [sample(end, 3000, elapsed_ns=5 * MS) for end in range(begin, t, 5 * MS)]


def test_each_layer_of_a_model_runs_while_power_is_sampled(tmp_path: Path) -> None:
    """At a steady 3 W the energy of a layer is 3 mJ for each ms."""
    subject = Subject(model=models.residual(tmp_path / "m.onnx"), devices=("CPU_ONLY@1",), warmup=1, runs=2)
    surveyed = survey_in_child(subject)
    shares: list[float] = []

    def listen(progress: MeasuringProgress) -> None:
        shares.append(progress.share)

    found = layer_power(subject, surveyed, Steady(), listen, block_ns=100 * MS)
    assert len(found.mj) == len(surveyed.layers)
    assert all(row == pytest.approx((3.0,)) for row in found.watts)
    assert all(row[0] is not None and 0 < row[0] < 3 * 100 for row in found.mj)
    assert shares == sorted(shares)


class Refused:
    def drain(self, t: int) -> list[Power | PowerStatus | Baseline]:
        return [PowerStatus(t=t, source="rapl", state="unavailable", reason="only root can read the energy counters")]


def test_without_a_source_no_layer_runs_for_it() -> None:
    subject = Subject(model="nowhere.onnx", devices=("A", "B"))
    found = layer_power(subject, SURVEY, Refused(), lambda _progress: None)
    assert found.mj == ((None, None),) * len(SURVEY.layers)
    assert found.why == "only root can read the energy counters"
    assert cost_table(("A", "B"), SURVEY).table.watts is None
