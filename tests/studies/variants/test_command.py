"""`hettop variants` from outside."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from hettop.events import Study
from hettop.studies.registry import result_of
from hettop.studies.variants.result import VariantsResult
from tests.cli.running import assert_refused, called, hettop, hettop_process, one_document
from tests.record.stories import read


def test_variants_are_written_measured_and_compared(tmp_path: Path) -> None:
    model = ("variants", "mobilenetv2:32x32", "--precisions", "fp16", "--units", "CPU_ONLY@1", "--runs", "12")
    done = hettop_process(
        *model, "--warmup", "1", "--out", "out", "--json", cwd=tmp_path, XDG_CACHE_HOME=str(tmp_path / "c")
    )
    assert done.returncode == 0, done.stderr
    document = one_document(done.stdout)
    whole, half = document["variants"]
    assert (whole["precision"], whole["reference"], half["precision"]) == ("fp32", True, "fp16")
    assert min(whole["statistics"]["n"], half["statistics"]["n"]) >= 12
    assert half["size_bytes"] < 0.6 * whole["size_bytes"]
    assert 0 < half["max_abs"] < 0.1
    assert half["cosine"] > 0.999
    assert half["compared_with"] == "fp32 on CPU_ONLY@1"
    assert half["speed"] is not None
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"mobilenetv2-32x32-b1-fp32.onnx", "mobilenetv2-32x32-b1-fp16.onnx"}


def test_variants_are_reported_as_they_come_and_recorded(tmp_path: Path) -> None:
    model = ("variants", "mobilenetv2:32x32", "--precisions", "fp16", "--units", "CPU_ONLY@1", "--duration", "1s")
    cache = {"XDG_CACHE_HOME": str(tmp_path / "c")}
    done = hettop(*model, "--warmup", "1", "--stream", "--record", "v.jsonl", cwd=tmp_path, **cache)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    told = [line["doing"] for line in lines if line["doing"] is not None]
    assert told[0] == "writing the model in fp16 …"
    assert {"fp32 on CPU_ONLY@1", "fp16 on CPU_ONLY@1"} <= set(told)
    documents = [line["document"] for line in lines if line["document"] is not None]
    assert len(documents) >= 2
    assert [each["precision"] for each in documents[-1]["variants"]] == ["fp32", "fp16"]
    assert documents[-1]["variants"][1]["max_abs"] is not None
    events, report = read(tmp_path / "v.jsonl")
    assert not report.skipped
    (study,) = [event for event in events if isinstance(event, Study)]
    result = result_of(study)
    assert isinstance(result, VariantsResult)
    assert result.variants[0].front, "nothing is nearer to itself"
    assert (tmp_path / "v-fp16-CPU_ONLY@1.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--precisions", "fp8"), "unknown precision"),
        (("--precisions", "palette4", "--backend", "onnxruntime"), "unknown precision"),
        (("--backend", "simulated"), "only one precision"),
        (("--json", "--stream"), "options exclude each other: --stream"),
        (("--force",), "--force has nothing to replace"),
        (("missing.onnx",), "missing.onnx"),
    ],
)
def test_wrong_use_is_refused(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    assert_refused(called("variants", *arguments, cwd=tmp_path), words)


def test_variants_of_which_none_could_be_made_are_a_failure(tmp_path: Path) -> None:
    """The model as it is was measured, but that is not what was asked for."""
    graph = helper.make_graph(
        [helper.make_node("Relu", ["x"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT16, (1, 4))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT16, (1, 4))],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, tmp_path / "half.onnx")
    done = hettop("variants", "half.onnx", "--precisions", "int8", "--runs", "5", "--units", "cpu", cwd=tmp_path)
    assert done.returncode == 3
    assert "cannot convert from fp16 to int8" in done.stderr
