"""`hettop variants` from outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.running import assert_refused, called, hettop, one_document


def test_variants_are_written_measured_and_compared(tmp_path: Path) -> None:
    model = ("variants", "mobilenetv2:32x32", "--precisions", "fp16", "--units", "CPU_ONLY@1", "--runs", "12")
    done = hettop(*model, "--warmup", "1", "--out", "out", "--json", cwd=tmp_path, XDG_CACHE_HOME=str(tmp_path / "c"))
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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--precisions", "fp8"), "unknown precision"),
        (("--precisions", "palette4", "--backend", "onnxruntime"), "unknown precision"),
        (("--backend", "simulated"), "one model in one precision"),
        (("missing.onnx",), "missing.onnx"),
    ],
)
def test_wrong_use_is_refused(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    assert_refused(called("variants", *arguments, cwd=tmp_path), words)
