"""A Core AI asset on the command line: its backend, its units, and the same model in another format beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.measurement.options import ModelOptions
from hettop.measurement.setup import Make, Setup, prepare, prepare_against
from hettop.models.cache import ModelCache
from hettop.sources.engine.backend import Backend, Clock
from hettop.sources.engine.backends import create
from hettop.sources.engine.backends.coreai import CoreAiBackend
from hettop.sources.engine.backends.coreml import CoreMLBackend
from hettop.studies.variants.setup import make_variants
from tests.cli.running import assert_refused, hettop
from tests.sources.engine.backends.aimodels import files
from tests.sources.engine.backends.onnx_files import relu
from tests.sources.engine.backends.test_coreai import LINUX, MAC_27

UNITS = ("CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL")


class Here(CoreMLBackend):
    def units(self) -> dict[str, str | None]:
        return dict.fromkeys(UNITS)

    def units_on_request(self) -> dict[str, str]:
        return {}


def linux(name: str, clock: Clock) -> Backend:
    return CoreAiBackend(clock, LINUX, is_installed=lambda: True) if name == "coreai" else create(name, clock)


def mac(name: str, clock: Clock) -> Backend:
    if name == "coreml":
        return Here(clock)
    return CoreAiBackend(clock, MAC_27, is_installed=lambda: True) if name == "coreai" else create(name, clock)


@pytest.fixture
def asset(tmp_path: Path) -> str:
    return files(tmp_path / "m.aimodel")


def test_an_asset_runs_on_core_ai_by_itself_and_on_all_its_units(asset: str) -> None:
    found = prepare(ModelOptions(model=asset), ("all",), 2, linux)
    assert (found.backend, found.units) == ("coreai", ("COREAI:default", "COREAI:cpu_only"))
    assert set(found.absent) == {"COREAI:prefers_gpu", "COREAI:prefers_ne"}
    assert len(prepare(ModelOptions(model=asset), ("all",), 2, mac).units) == 4


def test_without_the_package_the_reason_says_how_to_install_it(asset: str) -> None:
    def without(name: str, clock: Clock) -> Backend:
        return CoreAiBackend(clock, LINUX, is_installed=lambda: False)

    with pytest.raises(HettopError, match=r"pip install 'hettop\[coreai\]'") as caught:
        prepare(ModelOptions(model=asset), None, 2, without)
    assert caught.value.kind == "unsupported-unit"


def test_each_format_has_its_backend(asset: str, tmp_path: Path) -> None:
    other = relu(tmp_path / "relu.onnx")
    for model, backend in ((other, "coreai"), ("mobilenetv2", "coreai"), (asset, "onnxruntime"), (asset, "coreml")):
        with pytest.raises(HettopError) as caught:
            prepare(ModelOptions(model=model, backend=backend), None, 2, mac)
        assert caught.value.kind == "format", (model, backend)
    assert prepare(ModelOptions(model=asset, backend="simulated"), None, 2, mac).simulated


def test_units_of_core_ai_are_needed_for_its_assets(asset: str) -> None:
    with pytest.raises(HettopError, match="unknown unit: 'CPU_ONLY'") as caught:
        prepare(ModelOptions(model=asset), ("CPU_ONLY",), 2, linux)
    assert "COREAI:cpu_only" in caught.value.hint
    with pytest.raises(HettopError, match="cannot set threads"):
        prepare(ModelOptions(model=asset), ("COREAI:cpu_only@2",), 2, linux)


def test_what_would_have_no_effect_or_no_meaning_is_refused(asset: str, tmp_path: Path) -> None:
    with pytest.raises(HettopError, match="no effect with Core AI"):
        prepare(ModelOptions(model=asset, hints=("a=b",)), None, 2, linux)
    with pytest.raises(HettopError, match="does not report which device"):
        prepare(ModelOptions(model=asset, strict=True), None, 2, linux)
    cache = ModelCache(tmp_path / "cache", tmp_path / "other")
    with pytest.raises(HettopError, match="variants are made from ONNX and Core ML models"):
        make_variants(ModelOptions(model=asset), ("all",), 2, ("fp16",), cache, write=lambda _: None, make=linux)
    assert_refused(hettop("roofline", asset), "rooflines need MACs")


def against(make: Make, model: str, units: tuple[str, ...] | None, other: str) -> Setup:
    return prepare_against(prepare(ModelOptions(model=model), units, 2, make), ModelOptions(), other, 2, make)


def test_on_a_mac_each_unit_stands_beside_its_counterpart(asset: str) -> None:
    found = against(mac, asset, ("all",), "mobilenetv2")
    variant = found.variants["b"]
    assert found.units[:2] == ("COREAI:default", "COREAI:default~b")
    assert dict(variant.units) == {
        "COREAI:default": "ALL",
        "COREAI:cpu_only": "CPU_ONLY",
        "COREAI:prefers_gpu": "CPU_AND_GPU",
        "COREAI:prefers_ne": "CPU_AND_NE",
    }
    job = variant.job_of("COREAI:prefers_ne")
    assert (job["unit"], job["backend"], job["input_sets"] > 0) == ("CPU_AND_NE", "coreml", True)
    assert "by coreml: COREAI:default as ALL" in variant.words


def test_and_the_other_way_round(asset: str) -> None:
    found = against(mac, "mobilenetv2", ("CPU_AND_NE",), asset)
    assert dict(found.variants["b"].units) == {"CPU_AND_NE": "COREAI:prefers_ne"}


def test_outputs_of_two_assets_are_compared_on_the_same_unit(asset: str, tmp_path: Path) -> None:
    other = files(tmp_path / "half.aimodel")
    variant = against(linux, asset, ("all",), other).variants["b"]
    assert variant.words == "the same with half.aimodel"
    job = variant.job_of("COREAI:default")
    assert (job["unit"], job["backend"], job["input_sets"] > 0) == ("COREAI:default", "coreai", True)


def test_without_core_ml_the_cpu_stands_beside_the_default(asset: str, tmp_path: Path) -> None:
    other = relu(tmp_path / "relu.onnx")
    found = against(linux, asset, ("all",), other)
    assert set(found.variants["b"].units.values()) == {"CPU_ONLY"}
    with pytest.raises(HettopError, match=r"cannot compare CPU_ONLY@2 with m\.aimodel: coreai has no unit for it"):
        against(linux, other, ("CPU_ONLY@2",), asset)
