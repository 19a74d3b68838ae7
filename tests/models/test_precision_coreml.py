"""Packages with compressed weights as coremltools writes them; the translation shows what is in them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hettop.errors import HettopError
from hettop.models.mil.package import open_package
from hettop.models.mil.translate import translate
from hettop.models.precision import FP16, INT8, VariantJob
from hettop.models.precision_coreml import write_variant
from hettop.studies.variants.setup import size_of
from tests.models.mil.programs import convert, mb, program, spec

WEIGHT = np.random.default_rng(5).normal(size=(96, 64)).astype(np.float32)
X = np.random.default_rng(6).random((4, 64), dtype=np.float32)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """y = W x; weights of less than 2,048 values would be left alone."""
    path = tmp_path_factory.mktemp("source") / "product.mlpackage"
    built = convert(program(lambda x: mb.linear(x=x, weight=WEIGHT, name="y"), {"x": spec((4, 64))}))
    built.save(str(path))
    return path


def answer(path: Path) -> Any:
    import onnxruntime

    model = translate(open_package(path)).model
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: X})[0]


def check(precision: str, source: Path, target: Path) -> tuple[float, float]:
    """How far off the answers are for their size, and what is left of the package."""
    write_variant(VariantJob(source=str(source), target=str(target), precision=precision))
    expected = X @ WEIGHT.T
    far = float(np.abs(answer(target) - expected).max() / np.abs(expected).max())
    return far, size_of(target) / size_of(source)


def test_linear_weights_are_a_quarter_and_answers_near(source: Path, tmp_path: Path) -> None:
    far, left = check(INT8, source, tmp_path / "variant.mlpackage")
    assert 0 < far < 0.02
    assert left < 0.5


def test_palettes_of_sixteen_values_are_smaller_and_farther_off(source: Path, tmp_path: Path) -> None:
    if importlib.util.find_spec("sklearn") is None:
        with pytest.raises(HettopError, match="palette4 needs scikit-learn") as refused:
            check("palette4", source, tmp_path / "variant.mlpackage")
        assert (refused.value.kind, refused.value.hint) == ("missing", "pip install 'hettop[palettes]'")
        return
    far, left = check("palette4", source, tmp_path / "variant.mlpackage")
    assert 0.001 < far < 0.2
    assert left < 0.4


def test_another_precision_needs_another_conversion(source: Path, tmp_path: Path) -> None:
    with pytest.raises(HettopError, match="cannot convert a converted package to fp16") as refused:
        write_variant(VariantJob(source=str(source), target=str(tmp_path / "x.mlpackage"), precision=FP16))
    assert refused.value.hint == "convert the model again with compute_precision=ct.precision.FLOAT16"
