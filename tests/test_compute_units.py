"""Names of compute units: aliases, and what `all` and `ALL` mean."""

from __future__ import annotations

import pytest

from hettop.compute_units import (
    CORE_AI_UNITS,
    is_reference_unit,
    parse_unit,
    parse_units,
    reference_unit,
    uses,
    wanted_device,
)
from hettop.errors import HettopError


@pytest.mark.parametrize(
    ("name", "written"),
    [
        (
            "CPU_ONLY",
            ["cpu", "CPU", "cpu_only", "cpuOnly", ".cpuOnly", "CPU_ONLY", "cpu-only", "ct.ComputeUnit.CPU_ONLY"],
        ),
        ("CPU_AND_GPU", ["gpu", "cpu+gpu", "cpu_and_gpu", ".cpuAndGPU", "CPU_AND_GPU", "MLComputeUnits.cpuAndGPU"]),
        (
            "CPU_AND_NE",
            [
                "ne",
                "NE",
                "npu",
                "neural",
                "cpu+ne",
                "ane",
                "ANE",
                "cpuAndNeuralEngine",
                ".cpuAndNeuralEngine",
                "cpu_and_ne",
            ],
        ),
        ("ALL", ["ALL", ".all", ".ALL", "MLComputeUnits.all", "ct.ComputeUnit.ALL"]),
        ("all", ["all", " all "]),
        ("CPU_ONLY@2", ["cpu@2", "CPU_ONLY@2", ".cpuOnly@2"]),
        ("CPU_ONLY@02", ["cpu@02"]),
        ("WARP_DRIVE", ["WARP_DRIVE"]),
        ("OV:CPU", ["OV:CPU", "ov:cpu", " Ov:Cpu "]),
        ("OV:GPU:1", ["ov:gpu:1"]),
        ("OV:CPU@2", ["ov:cpu@2"]),
        ("warp:drive", ["warp:drive"]),
    ],
)
def test_every_usual_way_to_write_a_unit_is_understood(name: str, written: list[str]) -> None:
    assert [parse_unit(each) for each in written] == [name] * len(written)


@pytest.mark.parametrize(
    ("unit", "gpu"),
    [("OV:GPU", True), ("MLX:GPU", True), ("OV:CPU", False), ("CPU_AND_GPU", True), ("CPU_ONLY", False)],
)
def test_a_providers_gpu_is_the_gpu(unit: str, gpu: bool) -> None:
    assert uses("gpu", unit) is gpu
    assert not uses("ane", unit)


def test_a_list_keeps_its_order_and_repetitions() -> None:
    assert parse_units("ne, cpu@1,ne") == ("CPU_AND_NE", "CPU_ONLY@1", "CPU_AND_NE")


@pytest.mark.parametrize(
    ("text", "words"), [("All", "ambiguous"), ("aLL", "ambiguous"), ("", "invalid"), ("cpu,", "invalid")]
)
def test_what_could_be_either_or_is_empty_is_refused(text: str, words: str) -> None:
    with pytest.raises(HettopError) as caught:
        parse_units(text)
    assert caught.value.kind == "usage"
    assert caught.value.message.startswith(words)
    assert "ALL = Core ML's ALL" in caught.value.hint


@pytest.mark.parametrize("text", ["COREAI:prefers_ne", "coreai:prefers_NE", "CoreAI:Prefers_ne"])
def test_units_of_core_ai_are_written_in_any_case(text: str) -> None:
    assert parse_unit(text) == "COREAI:prefers_ne"


def test_what_core_ai_prefers_excludes_no_device() -> None:
    used = {unit: {each for each in ("ane", "gpu") if uses(each, unit)} for unit in CORE_AI_UNITS}
    assert used.pop("COREAI:cpu_only") == set()
    assert all(each == {"ane", "gpu"} for each in used.values())
    assert [wanted_device(unit) for unit in CORE_AI_UNITS] == ["Neural Engine", None, "GPU", "Neural Engine"]


def test_outputs_are_held_against_the_cpu_of_the_same_framework() -> None:
    assert [reference_unit(unit) for unit in ("ALL", "OV:CPU", "COREAI:default")] == [
        "CPU_ONLY",
        "CPU_ONLY",
        "COREAI:cpu_only",
    ]
    assert is_reference_unit("CPU_ONLY@2")
    assert is_reference_unit("COREAI:cpu_only")
    assert not is_reference_unit("COREAI:default")
