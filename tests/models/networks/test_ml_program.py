"""The ML Program is the ONNX file's network: the same layers and weights, and the same answers within its type."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from hettop.models.cache import ModelCache
from hettop.models.inspection.reading import inspect
from hettop.models.mil.package import open_package
from hettop.models.mil.translate import translate
from hettop.models.networks.catalogue import Variant, network, parse_variant
from hettop.models.networks.ml_program import Precision, write_package
from hettop.models.networks.onnx_file import build_model
from hettop.models.resolve import model_package

SMALL = Variant(64, 96)


def ran(model: Any, image: Any) -> Any:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(["logits"], {"image": image})[0]


@pytest.mark.parametrize(("precision", "tolerance"), [("float16", 1e-2), ("float32", 1e-5)])
def test_both_forms_agree(precision: Precision, tolerance: float, tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, SMALL.input_shape).astype(np.float32)
    write_package(network(SMALL), tmp_path / "m.mlpackage", precision)
    got = ran(translate(open_package(tmp_path / "m.mlpackage")).model, pixels)
    wanted = ran(build_model(network(SMALL)), pixels / np.float32(255))
    assert np.abs(got - wanted).max() <= tolerance * np.abs(wanted).max()
    assert np.ptp(wanted) > 0.1


@pytest.mark.parametrize(
    "name",
    ["shufflenetv2-0.5:64x64", "squeezenet1.1:64x64", "densenet121:32x32", "nasnet-mobile:64x64:b2", "googlenet:64x64"],
)
def test_both_forms_agree_on_every_kind_of_layer(name: str, tmp_path: Path) -> None:
    net = network(parse_variant(name))
    pixels = np.random.default_rng(0).random(net.variant.input_shape).astype(np.float32)
    scale = np.float32(255 if net.variant.batch == 1 else 1)
    write_package(net, tmp_path / "m.mlpackage", "float32")
    got = ran(translate(open_package(tmp_path / "m.mlpackage")).model, pixels * scale)
    wanted = ran(build_model(net), pixels)
    assert np.abs(got - wanted).max() <= 1e-4 * np.abs(wanted).max()
    assert np.ptp(wanted) > 0


def test_a_batch_is_an_array_because_core_mls_images_have_none(tmp_path: Path) -> None:
    variant = Variant(32, 32, 3)
    write_package(network(variant), tmp_path / "m.mlpackage")
    (port,) = open_package(tmp_path / "m.mlpackage").function().inputs
    assert (port.kind, port.dtype, port.shape) == ("array", "float32", (3, 3, 32, 32))
    images = np.random.default_rng(0).random((3, 3, 32, 32), dtype=np.float32)
    got = ran(translate(open_package(tmp_path / "m.mlpackage")).model, images)
    wanted = ran(build_model(network(variant)), images)
    assert np.abs(got - wanted).max() <= 1e-2 * np.abs(wanted).max()


def test_the_package_takes_an_rgb_image_and_has_the_published_counts(tmp_path: Path) -> None:
    path = model_package("mobilenetv2", ModelCache(tmp_path / "cache", tmp_path / "fallback"))
    assert path.name == "mobilenetv2-224x224-b1-r2.mlpackage"
    inspection = inspect(path, shapes={})
    (port,) = inspection.inputs
    assert (port.name, port.kind, port.color, port.shape) == ("image", "image", "RGB", (1, 3, 224, 224))
    assert [(port.name, port.dtype, port.shape) for port in inspection.outputs] == [("logits", "float32", (1, 1000))]
    totals = inspection.totals
    assert totals is not None
    assert (totals.parameters, totals.macs) == (3_487_816, 300_774_272)
    assert totals.precision == "float16"
    assert totals.weight_bytes == 2 * 3_487_816
    assert inspection.missing_ops == ()


def test_building_prints_nothing_and_is_done_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cache = ModelCache(tmp_path / "cache", tmp_path / "fallback")
    path = model_package("mobilenetv2:32x32", cache)
    stamp = (path / "Manifest.json").stat().st_mtime_ns
    assert model_package("mobilenetv2:32x32:b1", cache) == path
    assert (path / "Manifest.json").stat().st_mtime_ns == stamp
    assert capfd.readouterr() == ("", "")
    kept = [each.name for each in (tmp_path / "cache").iterdir() if each.suffix != ".seal"]
    assert kept == ["mobilenetv2-32x32-b1-r2.mlpackage"]


def test_writing_leaves_nothing_else_behind_whoever_ends_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """coremltools removes its own temporary package when Python exits, and engine processes end without that."""
    (temporary := tmp_path / "T").mkdir()
    (written := tmp_path / "written").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    write_package(network(Variant(32, 32)), written / "m.mlpackage")
    assert not any(temporary.iterdir())
    assert [path.name for path in written.iterdir()] == ["m.mlpackage"]
