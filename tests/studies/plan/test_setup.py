"""What the user asks to plan, checked before anything is measured."""

from __future__ import annotations

import pytest

from hettop.errors import HettopError
from hettop.measurement.options import ModelOptions
from hettop.studies.plan.setup import PlanOptions, make_plan, prepare_devices

SMALL = ModelOptions(model="mobilenetv2:32x32")


def test_devices_are_the_numbers_of_threads_if_none_are_named() -> None:
    assert prepare_devices(SMALL, None, 4).units == ("CPU_ONLY@1", "CPU_ONLY@2", "CPU_ONLY@4")
    assert prepare_devices(SMALL, ("CPU_ONLY@3", "CPU_ONLY"), 4).units == ("CPU_ONLY@3", "CPU_ONLY")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (PlanOptions(objective="energy"), "unknown power of CPU_ONLY@1, CPU_ONLY@2"),
        (PlanOptions(objective="energy", watts=("CPU_ONLY@1=2",)), "unknown power of CPU_ONLY@2"),
        (PlanOptions(watts=("CPU_ONLY@1",)), "invalid --"),
        (PlanOptions(watts=("CPU_ONLY@1=nan",)), "invalid --"),
        (PlanOptions(watts=("CPU_ONLY@1=-1",)), "invalid --"),
        (PlanOptions(limits=("GPU\x1b=1",)), "invalid device"),
        (PlanOptions(limits=("CPU_ONLY@1=1e99",)), "invalid --"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_measured(options: PlanOptions, words: str) -> None:
    told: list[str] = []
    with pytest.raises(HettopError, match=words) as refused:
        make_plan(prepare_devices(SMALL, None, 2), SMALL.model, options, lambda text, _share: told.append(text))
    assert refused.value.kind == "usage"
    assert told == []
