"""A model that is profiled at two frequencies, of a folder like the kernel's, has devices at all of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.measurement.options import ModelOptions
from hettop.sources.cpufreq import CpuFrequency
from hettop.studies.plan.frequencies import joined
from hettop.studies.plan.measure import plan_result
from hettop.studies.plan.setup import PlanOptions, make_plan, prepare_devices
from tests.sources.test_cpufreq import limits, machine
from tests.studies.plan.cutting import models
from tests.studies.plan.cutting.test_costs import SURVEY


def test_a_model_has_devices_at_all_frequencies_and_preferred_ones_run_under_governors(tmp_path: Path) -> None:
    """Nothing really changes the speed here: what is tested is what is set meanwhile, and what becomes of it."""
    model = models.residual(tmp_path / "m.onnx")
    (folder := tmp_path / "cpu").mkdir()
    machine(folder)
    set_to: list[str] = []

    def write(path: Path, text: str) -> None:
        path.write_text(text)
        if path.parent.parent.name == "cpu0" and path.name in ("scaling_max_freq", "scaling_governor"):
            set_to.append(text)

    setup = prepare_devices(ModelOptions(model=model), ("CPU_ONLY@1",), 1)
    shares: list[float] = []
    found = make_plan(
        setup,
        model,
        PlanOptions(frequencies=True, runs=2, warmup=1),
        lambda _text, share: shares.append(share or 0.0),
        cpu=CpuFrequency(folder, write),
    )
    assert found.table.devices == ("CPU_ONLY@1^1800", "CPU_ONLY@1^600", "CPU_ONLY@1^1200")
    assert set_to == ["1800000", "1500000", "600000", "1500000", "performance", "schedutil", "ondemand", "schedutil"]
    assert limits(folder) == (600_000, 1_500_000)
    governed = {name: cost for name, cost in found.baselines.items() if name.endswith(" governor")}
    assert {"CPU_ONLY@1 preferred, performance governor", "CPU_ONLY@1 preferred, on-demand governor"} == set(governed)
    assert all(cost is not None and cost > 0 for cost in governed.values())
    fast, slow, between = found.table.execution.T
    assert between == pytest.approx(fast * 3 / 4 + slow / 4), "1/1200 is a quarter of the way from 1/1800 to 1/600"
    document = plan_result(found).document()
    assert document["described"] == ["CPU_ONLY@1^1200"]
    assert "measured under the governor: performance governor, on-demand governor" in document["notes"]
    assert shares == sorted(shares)


def test_two_profiles_are_one_of_twice_as_many_devices() -> None:
    other = replace(
        SURVEY, layers=tuple(replace(each, ms=tuple(2 * (ms or 0) for ms in each.ms)) for each in SURVEY.layers)
    )
    both = joined(SURVEY, other)
    assert both.layers[0].ms == (*SURVEY.layers[0].ms, *other.layers[0].ms)
    assert {each.device for each in both.moved} == {0, 1, 2, 3}
    assert both.end_to_end_ms == SURVEY.end_to_end_ms * 2
    with pytest.raises(HettopError, match="other layers"):
        joined(SURVEY, replace(other, layers=other.layers[1:]))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (PlanOptions(frequencies=True, run=True), "longer than a slice"),
        (PlanOptions(frequencies=True, objective="energy", watts=("CPU_ONLY@1=2",)), "without its voltage"),
        (PlanOptions(power="rapl", watts=("CPU_ONLY@1=2",)), "--watts has no effect with --power"),
    ],
)
def test_what_cannot_be_is_refused_by_name(options: PlanOptions, words: str) -> None:
    setup = prepare_devices(ModelOptions(model="mobilenetv2:32x32"), ("CPU_ONLY@1",), 1)
    with pytest.raises(HettopError, match=words):
        make_plan(setup, "mobilenetv2:32x32", options, lambda _text, _share: None)
