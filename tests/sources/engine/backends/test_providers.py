"""Units of execution providers: one device each, and named only by the nodes that they really got."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from onnx import helper

from hettop.errors import HettopError
from hettop.models.cache import ModelCache
from hettop.models.ports import InputOptions
from hettop.sources.engine.backend import Backend, Loaded, LoadOptions, RealClock
from hettop.sources.engine.backends.onnxruntime import OnnxRuntimeBackend
from hettop.sources.engine.coreml.availability import Host
from hettop.sources.engine.providers.known import provider_of
from hettop.sources.engine.providers.probe import Device, Found, ask_child
from tests.sources.engine.backends import onnx_files
from tests.sources.engine.backends.contract import BackendContract
from tests.sources.engine.backends.listing_runtime import LISTED, ListingRuntime
from tests.sources.engine.backends.onnx_files import FLOAT
from tests.sources.engine.backends.test_onnx_core_ml import three_nodes
from tests.sources.engine.providers.openvino import needs_openvino

LINUX = Host("linux", "x86_64", "#1 SMP", (), (3, 12))
REMEMBERED = (
    Found(prefix="OV", version="1.8", devices=(Device(unit="OV:CPU", name="c"), Device(unit="OV:GPU", name="g"))),
    Found(prefix="CUDA", version="1.8", error="CUDA failed to load: no driver", hint="install a driver"),
)

newer = pytest.mark.skipif(
    not hasattr(onnxruntime.InferenceSession, "get_provider_graph_assignment_info"),
    reason="this ONNX Runtime cannot tell which node went where",
)


def new_backend(
    folder: Path, runtime: ListingRuntime | None = None, found: Sequence[Found] = REMEMBERED
) -> OnnxRuntimeBackend:
    cache = ModelCache(folder / "cache", folder / "fallback")
    find = {} if runtime is None else {"find_runtime": lambda: runtime}
    return OnnxRuntimeBackend(RealClock(), cache, LINUX, find_providers=lambda: found, **find)


def load(tmp_path: Path, runtime: ListingRuntime, unit: str = "OV:GPU", *, strict: bool = False) -> Loaded:
    return new_backend(tmp_path, runtime).load(three_nodes(tmp_path / "m.onnx"), unit, LoadOptions(strict=strict))


@newer
class TestListedDeviceContract(BackendContract):
    unit = "OV:GPU"

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path

    def new_backend(self) -> Backend:
        return new_backend(self.folder, ListingRuntime(), REMEMBERED[:1])

    def model(self) -> str:
        return onnx_files.relu(self.folder / "relu.onnx")


def test_units_are_the_devices_that_were_listed_and_reasons_for_the_others(tmp_path: Path) -> None:
    units = new_backend(tmp_path).units()
    assert {unit: why for unit, why in units.items() if ":" in unit} == {
        "OV:CPU": None,
        "OV:GPU": None,
        "OV:NPU": "OpenVINO has no NPU here",
        "CUDA:0": "CUDA failed to load: no driver (hettop doctor shows a fix)",
    }


@newer
@pytest.mark.parametrize(
    ("unit", "index"), [("OV:CPU", 1), ("OV:GPU", 2), ("OV:GPU:1", 3), ("CUDA:0", 5), ("CUDA:1", 6)]
)
def test_a_session_is_asked_for_that_device_and_no_other(unit: str, index: int, tmp_path: Path) -> None:
    runtime = ListingRuntime()
    load(tmp_path, runtime, unit)
    assert len(runtime.asked) == 1
    assert runtime.asked[0] is LISTED[index]


@newer
@pytest.mark.parametrize(
    ("unit", "takes", "groups", "placed"),
    [
        ("OV:GPU", 3, 1, "OpenVINO GPU, 3 nodes in 1 partition"),
        ("OV:GPU", 3, 2, "OpenVINO GPU, 3 nodes in 2 partitions"),
        ("OV:GPU", 2, 1, "2 of 3 nodes on OpenVINO GPU in 1 partition, CPU 1"),
        ("OV:GPU", 0, 1, "CPU (OpenVINO runs none of 3 nodes)"),
        ("OV:CPU", 3, 1, "OpenVINO CPU, 3 nodes in 1 partition"),
        ("CUDA:0", 3, 3, "CUDA 0, 3 nodes"),  # takes node by node: groups are no partitions
        ("CUDA:1", 1, 1, "1 of 3 nodes on CUDA 1, CPU 2"),
    ],
)
def test_the_device_is_named_alone_only_if_it_runs_every_node(
    unit: str, takes: int, groups: int, placed: str, tmp_path: Path
) -> None:
    assert load(tmp_path, ListingRuntime(takes=takes, groups=groups), unit).placed == placed


@newer
def test_operations_that_the_cpu_keeps_are_named(tmp_path: Path) -> None:
    assert load(tmp_path, ListingRuntime(takes=1)).note == "left to the CPU: Cos, Tanh"
    assert load(tmp_path, ListingRuntime(takes=3)).note == ""


@newer
def test_the_version_of_the_provider_is_noted(tmp_path: Path) -> None:
    assert load(tmp_path, ListingRuntime(takes=3), "OV:CPU").note == "OpenVINO 1.8"


@newer
@pytest.mark.parametrize("takes", [0, 2])
def test_strict_refuses_a_part_of_the_model(takes: int, tmp_path: Path) -> None:
    with pytest.raises(HettopError) as caught:
        load(tmp_path, ListingRuntime(takes=takes), strict=True)
    assert caught.value.kind == "placement"
    assert caught.value.message == f"OpenVINO does not run the whole model: it runs {takes} of 3 nodes"
    assert "--strict" in caught.value.hint


@newer
def test_strict_accepts_the_whole_model(tmp_path: Path) -> None:
    assert load(tmp_path, ListingRuntime(takes=3), strict=True).requested == "OV:GPU"


def test_a_device_that_disappeared_is_named_with_those_that_are_left(tmp_path: Path) -> None:
    with pytest.raises(HettopError) as caught:
        load(tmp_path, ListingRuntime(listed=LISTED[:2]))
    assert caught.value.kind == "unsupported-unit"
    assert caught.value.message == "OV:GPU: OpenVINO does not list it; it has OV:CPU"
    assert "hettop doctor" in caught.value.hint


def test_a_model_that_the_provider_refuses_is_an_error_with_a_way_out(tmp_path: Path) -> None:
    refusal = RuntimeError("[ONNXRuntimeError] : 11 : EP_FAIL : cannot compile")
    with pytest.raises(HettopError) as caught:
        load(tmp_path, ListingRuntime(refuses=refusal))
    assert (caught.value.kind, caught.value.message) == ("load", "cannot load m.onnx: cannot compile")
    assert caught.value.hint == "OpenVINO cannot run this model; use CPU_ONLY"


@pytest.mark.parametrize("unit", ["OV:CPU@2", "CUDA:0@1"])
def test_providers_have_no_number_of_threads(unit: str, tmp_path: Path) -> None:
    with pytest.raises(HettopError, match="only CPU_ONLY has a number of threads"):
        load(tmp_path, ListingRuntime(), unit)


# -- the real one --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found() -> tuple[Found, ...]:
    """What OpenVINO lists here, by a child process."""
    provider = provider_of("OV:CPU")
    assert provider is not None
    return (Found(prefix="OV", version="real", devices=ask_child(provider)),)


@needs_openvino
class TestOpenVinoContract(BackendContract):
    unit = "OV:CPU"

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path, found: tuple[Found, ...]) -> None:
        self.folder, self.found = tmp_path, found

    def new_backend(self) -> Backend:
        return new_backend(self.folder, found=self.found)

    def model(self) -> str:
        return onnx_files.relu(self.folder / "relu.onnx")


@needs_openvino
@newer
def test_openvino_computes_what_numpy_does_and_takes_every_node(tmp_path: Path, found: tuple[Found, ...]) -> None:
    backend = new_backend(tmp_path, found=found)
    loaded = backend.load(three_nodes(tmp_path / "m.onnx"), "OV:CPU", LoadOptions(strict=True))
    feed = backend.make_inputs(loaded.inputs, InputOptions())
    backend.predict(feed)
    expected = np.tanh(np.cos(np.sin(feed["x"])))
    np.testing.assert_allclose(backend.outputs()["y"], expected, atol=0.01)  # it may compute in lower precision
    assert loaded.placed == "OpenVINO CPU, 3 nodes in 1 partition"


@needs_openvino
@newer
def test_openvino_leaves_a_determinant_to_the_cpu(tmp_path: Path, found: tuple[Found, ...]) -> None:
    nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Det", ["a"], ["y"])]
    path = onnx_files.save(tmp_path / "m.onnx", nodes, [("x", FLOAT, (1, 3, 3))], [("y", FLOAT, (1,))])
    backend = new_backend(tmp_path, found=found)
    loaded = backend.load(path, "OV:CPU", LoadOptions())
    assert loaded.placed == "1 of 2 nodes on OpenVINO CPU in 1 partition, CPU 1"
    assert loaded.note.startswith("OpenVINO 1.")
    assert loaded.note.endswith("; left to the CPU: Det")
    with pytest.raises(HettopError, match="1 of 2 nodes"):
        backend.load(path, "OV:CPU", LoadOptions(strict=True))
