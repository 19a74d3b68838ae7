"""What there is to choose from, out of recordings and documents, and out of files that are neither."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hettop.analysis.pareto import Choice
from hettop.errors import HettopError
from hettop.events import Header, ModelInfo, Study
from hettop.record.writer import Writer
from hettop.resources import recordings_folder
from hettop.studies.pareto.choices import accuracy_names, read_choices
from hettop.studies.sweep.result import SweepResult
from hettop.studies.variants.result import VariantsResult
from tests.studies.swept import BATCHES, LOADS, PLANTED, VARIANTS


def row(unit: str, p50: float | None, **more: Any) -> dict[str, Any]:
    return {"unit": unit, "load": "none", "p50_ms": p50, "mean_ms": p50, **more}


def write(folder: Path, document: Any) -> str:
    path = folder / "document.json"
    path.write_text(json.dumps(document))
    return str(path)


def test_conditions_of_bench_have_their_units_loads_and_energy(tmp_path: Path) -> None:
    document = {
        "model": {"name": "net"},
        "conditions": [
            row("ALL", 1.5, energy_mj_per_inference=2.5, output_difference=0.25, output_reference="CPU_ONLY"),
            row("CPU_ONLY", 3.0, load="cpu:1"),
            row("CPU_AND_NE", None, n=0),
        ],
    }
    ne, cpu = read_choices(write(tmp_path, document), "p50", {})
    assert (ne.label, ne.unit, ne.load) == ("net", "ALL", "none")
    assert ne.values == {"latency": 1.5, "energy": 2.5, "difference": 0.25}
    assert (cpu.load, cpu.values) == ("cpu:1", {"latency": 3.0, "difference": 0.0}), (
        "the reference is off from itself by 0"
    )


def test_variants_are_called_after_their_precision_and_have_size_and_difference(tmp_path: Path) -> None:
    document = {
        "model": {"name": "net"},
        "variants": [
            {
                "precision": "fp32",
                "reference": True,
                "max_abs": None,
                "size_bytes": 40,
                "statistics": row("CPU_ONLY", 4.0),
            },
            {
                "precision": "int8",
                "reference": False,
                "max_abs": 0.5,
                "size_bytes": 10,
                "statistics": row("CPU_ONLY", 2.0),
            },
            {"precision": "fp16", "reference": False, "max_abs": None, "statistics": row("CPU_ONLY", 3.0)},
        ],
    }
    found = read_choices(write(tmp_path, document), "mean", {"int8": 0.7})
    assert [choice.label for choice in found] == ["net fp32", "net int8", "net fp16"]
    assert found[0].values == {"latency": 4.0, "difference": 0.0, "size": 40.0}
    assert found[1].values == {"latency": 2.0, "difference": 0.5, "size": 10.0, "accuracy": 0.7}
    assert "difference" not in found[2].values, "unknown is not 0"


def test_a_row_that_names_its_own_model_is_called_after_that(tmp_path: Path) -> None:
    document = {"model": {"name": "net"}, "conditions": [row("ALL", 1.0, model="other"), row("ALL", 2.0, model=None)]}
    found = read_choices(write(tmp_path, document), "p50", {"other": 0.9})
    assert [choice.label for choice in found] == ["other", "net"]
    assert found[0].values["accuracy"] == 0.9


def test_points_of_a_sweep_have_items_a_second(tmp_path: Path) -> None:
    document = {
        "model": {"name": "net"},
        "points": [{"name": "b4", "items_per_s": 800.0, "statistics": row("ALL", 5.0, throughput_per_s=200.0)}],
    }
    (point,) = read_choices(write(tmp_path, document), "p50", {"net": 0.5})
    assert point.label == "net b4"
    assert point.values == {"latency": 5.0, "throughput": 800.0, "accuracy": 0.5}


def test_the_interval_of_p90_is_that_of_the_latency_only_where_that_is_p90(tmp_path: Path) -> None:
    path = write(tmp_path, {"conditions": [row("ALL", 1.0, p90_ms=2.0, p90_ci_ms=[1.5, 2.5])]})
    assert read_choices(path, "p90", {})[0].latency_ci == (1.5, 2.5)
    assert read_choices(path, "p50", {})[0].latency_ci is None


def test_a_recording_is_read_as_what_replay_prints() -> None:
    found = read_choices(str(recordings_folder() / "simulated-m2.jsonl"), "p50", {"mobilenetv2": 0.718})
    assert {choice.unit for choice in found} == {"CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL"}
    assert all(choice.simulated for choice in found)
    assert all(choice.values["accuracy"] == 0.718 for choice in found)


def recorded(path: Path, **found: SweepResult | VariantsResult) -> str:
    header = Header(t=0, format="hettop", version=(1, 0), id="x", model=ModelInfo(name="net"))
    writer = Writer(path, header)
    for t, (name, each) in enumerate(found.items(), 1):
        writer.write(Study(t=t, name=name, state="done", elapsed_ns=t, found=each.line()))
    writer.close("done", 9)
    return str(path)


def test_a_recording_of_variants_has_a_choice_for_each_that_was_measured(tmp_path: Path) -> None:
    path = recorded(tmp_path / "v.jsonl", variants=VARIANTS)
    whole, half, eighth = read_choices(path, "p90", {"int8": 0.7})
    assert (whole.label, whole.unit, whole.load) == ("net fp32", "CPU_ONLY", "none")
    assert whole.values == {"latency": 5.0, "difference": 0.0, "size": 14e6}
    assert (half.values["latency"], half.values["difference"]) == (6.0, 0.25)
    assert (eighth.label, eighth.values["accuracy"]) == ("net int8", 0.7)


def test_a_recording_of_a_sweep_has_a_choice_for_each_point_and_none_twice(tmp_path: Path) -> None:
    path = recorded(tmp_path / "s.jsonl", sweep=PLANTED)
    choices = read_choices(path, "mean", {})
    assert [choice.label for choice in choices] == [f"net 224x224 b{batch}" for batch in BATCHES]
    assert choices[-1].values == {"latency": 40.0, "throughput": 800.0}
    assert [choice.items for choice in choices] == list(BATCHES)
    loads = recorded(tmp_path / "l.jsonl", sweep=LOADS)
    assert read_choices(loads, "mean", {}) == [], "its conditions are in the session itself, with its samples"


def test_an_accuracy_can_be_given_by_label_model_or_precision() -> None:
    choice = Choice("mobilenetv2:32x32:b1 int8", "ALL", "none", {})
    assert accuracy_names(choice) == [choice.label, "mobilenetv2:32x32:b1", "int8", "mobilenetv2"]


def test_numbers_that_are_none_are_unknown(tmp_path: Path) -> None:
    document = {"conditions": [row("ALL", 1.0, energy_mj_per_inference=True, output_difference="0"), "no row", None]}
    (choice,) = read_choices(write(tmp_path, document), "p50", {})
    assert choice.values == {"latency": 1.0}
    path = tmp_path / "nan.json"
    path.write_text('{"conditions":[{"unit":"ALL","p50_ms":NaN}]}')
    assert read_choices(str(path), "p50", {}) == []


def test_text_from_a_file_is_cleaned(tmp_path: Path) -> None:
    (choice,) = read_choices(
        write(tmp_path, {"model": {"name": "a\x1b[31mb"}, "conditions": [row("\x07", 1.0)]}), "p50", {}
    )
    assert "\x1b" not in choice.label
    assert choice.unit == "\ufffd"


@pytest.mark.parametrize(
    ("content", "kind"), [("[1]", "format"), ("{}", "format"), ("not json", "format"), ("[" * 100_000, "format")]
)
def test_what_is_no_document_is_refused(content: str, kind: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_text(content)
    with pytest.raises(HettopError) as refused:
        read_choices(str(path), "p50", {})
    assert refused.value.kind == kind


def test_a_file_that_is_not_there_is_missing(tmp_path: Path) -> None:
    with pytest.raises(HettopError) as refused:
        read_choices(str(tmp_path / "none.json"), "p50", {})
    assert refused.value.kind == "missing"
