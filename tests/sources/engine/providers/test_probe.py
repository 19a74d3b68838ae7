"""Installed providers are found by names of files; their devices are asked for once."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.sources.engine.providers.devices import assigned_nodes, check_strict, listed_devices, placed_on, register
from hettop.sources.engine.providers.known import Hardware, Provider, provider_of
from hettop.sources.engine.providers.probe import (
    Device,
    Found,
    Installation,
    allowed_providers,
    ask_child,
    find_providers,
    installation,
    provider_units,
)
from tests.sources.engine.backends.listing_runtime import ListingRuntime

HERE = Installation("onnxruntime 1.32.0", {"OV": "1.8.1"})
INTEL = Hardware("linux", "x86_64", "GenuineIntel")
CPU = Device(unit="OV:CPU", name="Acme One", version="1.8.1")


def openvino() -> Provider:
    found = provider_of("OV:CPU")
    assert found is not None
    return found


class Asked:
    """Answers with these devices and counts how often it was asked."""

    def __init__(self, *devices: Device) -> None:
        self.devices, self.times = devices, 0

    def __call__(self, _provider: Provider) -> tuple[Device, ...]:
        self.times += 1
        return self.devices


def look(file: Path, ask: Callable[[Provider], tuple[Device, ...]], **changes: object) -> tuple[Found, ...]:
    known: dict[str, object] = {"here": HERE, "hardware": INTEL, **changes}
    return find_providers(file=file, ask=ask, **known)  # type: ignore[arg-type]


def test_a_provider_is_asked_once_for_the_same_versions_and_hardware(tmp_path: Path) -> None:
    file, ask = tmp_path / "cache" / "p.json", Asked(CPU)
    first = look(file, ask)
    assert first == (Found(prefix="OV", version="1.8.1", devices=(CPU,)),)
    assert look(file, ask) == first
    assert ask.times == 1
    assert [path.name for path in file.parent.iterdir()] == ["p.json"]


@pytest.mark.parametrize(
    "changes",
    [
        {"here": Installation("onnxruntime 1.33.0", {"OV": "1.8.1"})},
        {"here": Installation("onnxruntime 1.32.0", {"OV": "1.8.2"})},
        {"hardware": Hardware("linux", "x86_64", "GenuineIntel", nodes=("dev/accel/accel0",))},
        {"hardware": Hardware("linux", "x86_64", "GenuineIntel", kernel="6.19")},
        {"anew": True},
    ],
)
def test_another_version_or_device_is_asked_anew(changes: dict[str, object], tmp_path: Path) -> None:
    ask = Asked(CPU)
    look(tmp_path / "p.json", ask)
    look(tmp_path / "p.json", ask, **changes)
    assert ask.times == 2


@pytest.mark.parametrize("content", [b"", b"{", b'{"key": 1}', b"\xff\xfe", b"[" * 50_000])
def test_a_damaged_file_is_asked_anew_and_replaced(content: bytes, tmp_path: Path) -> None:
    file, ask = tmp_path / "p.json", Asked(CPU)
    file.write_bytes(content)
    assert look(file, ask)[0].devices == (CPU,)
    look(file, ask)
    assert ask.times == 1


def test_a_folder_that_cannot_be_written_remembers_nothing(tmp_path: Path) -> None:
    (tmp_path / "no-folder").touch()
    ask = Asked(CPU)
    for _ in range(2):
        assert look(tmp_path / "no-folder" / "p.json", ask)[0].devices == (CPU,)
    assert ask.times == 2


def test_nothing_is_asked_where_nothing_is_installed(tmp_path: Path) -> None:
    ask = Asked(CPU)
    assert look(tmp_path / "p.json", ask, here=Installation("onnxruntime 1.32.0", {})) == ()
    assert ask.times == 0
    assert list(tmp_path.iterdir()) == []


def test_a_provider_without_devices_has_units_with_the_reason(tmp_path: Path) -> None:
    found = look(tmp_path / "p.json", Asked())
    assert set(provider_units(found).values()) == {
        "OpenVINO lists no device on this machine (hettop doctor shows a fix)"
    }
    assert found[0].hint == "it needs an Intel processor, GPU or NPU"
    assert list(provider_units(found)) == ["OV:CPU", "OV:GPU", "OV:NPU"]


@pytest.mark.parametrize(
    ("code", "ending"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGABRT)", "killed by SIGABRT"),
        ("import sys; sys.exit(3)", "exited with status 3"),
    ],
)
def test_a_provider_that_crashes_while_it_loads_is_a_row_with_a_way_out(code: str, ending: str, tmp_path: Path) -> None:
    def ask(provider: Provider) -> tuple[Device, ...]:
        return ask_child(provider, [sys.executable, "-c", code])

    (found,) = look(tmp_path / "p.json", ask)
    assert found.devices == ()
    assert found.error.startswith("OpenVINO was lost while it was loaded: ")
    assert ending in found.error
    assert "pip install --upgrade onnxruntime-ep-openvino" in found.hint
    assert "HETTOP_PROVIDERS=none" in found.hint
    assert provider_units([found])["OV:CPU"] == f"{found.error} (hettop doctor shows a fix)"


def test_an_error_of_a_provider_keeps_its_own_fix(tmp_path: Path) -> None:
    def ask(_provider: Provider) -> tuple[Device, ...]:
        raise HettopError("load", "OpenVINO failed to load: libx.so is missing", "install the driver")

    (found,) = look(tmp_path / "p.json", ask)
    assert (found.error, found.hint) == ("OpenVINO failed to load: libx.so is missing", "install the driver")


def test_a_provider_that_hangs_is_given_up() -> None:
    with pytest.raises(HettopError) as caught:
        ask_child(openvino(), [sys.executable, "-c", "import time; time.sleep(600)"], patience_s=0.2)
    assert caught.value.kind == "timeout"


@pytest.mark.parametrize("wanted", ["none", "CUDA", ""])
def test_providers_can_be_left_out(wanted: str) -> None:
    assert installation({"HETTOP_PROVIDERS": wanted}).versions == {}


def test_a_provider_that_there_is_not_is_refused() -> None:
    assert allowed_providers({"HETTOP_PROVIDERS": " ov, CUDA,"}) == {"OV", "CUDA"}
    assert allowed_providers({}) == {"OV", "QNN", "MLX", "WEBGPU", "RTX", "CUDA"}
    with pytest.raises(HettopError, match="HETTOP_PROVIDERS: unknown provider OPENVINO") as caught:
        installation({"HETTOP_PROVIDERS": "openvino,CUDA"})
    assert caught.value.kind == "usage"
    assert caught.value.hint.startswith("known: OV, QNN, MLX, WEBGPU, RTX, CUDA")


def test_devices_are_named_by_kind_or_by_number() -> None:
    named = {
        prefix: list(listed_devices(ListingRuntime(), provider))
        for prefix in ("OV", "CUDA", "QNN", "MLX")
        if (provider := provider_of(f"{prefix}:"))
    }
    assert named == {"OV": ["OV:CPU", "OV:GPU", "OV:GPU:1"], "CUDA": ["CUDA:0", "CUDA:1"], "QNN": [], "MLX": []}


def test_where_the_assignment_is_not_reported_nothing_is_claimed() -> None:
    assert assigned_nodes(object(), "OpenVINOExecutionProvider") is None
    assert placed_on(openvino(), "OV:CPU", None) is None
    with pytest.raises(HettopError, match="it is not known which nodes it runs"):
        check_strict("OpenVINO", None, 0)


# -- plug-ins --------------------------------------------------------------------------------------------------------


class Module:
    """As the module of a plug-in."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def get_library_path(self) -> str:
        if self.error is not None:
            raise self.error
        return "/p.so"


class AppleModule:
    """As that of MLX, whose function has another name."""

    def library_path(self) -> str:
        return "/p.dylib"


@pytest.mark.parametrize("module", [Module(), AppleModule()])
def test_a_library_is_registered_once_under_its_providers_name(module: object) -> None:
    runtime = ListingRuntime()
    for _ in range(2):
        register(runtime, openvino(), lambda _name: module)
    assert runtime.registered == ["OpenVINOExecutionProvider"]


def test_a_wheel_without_its_library_says_how_to_install_it_again() -> None:
    with pytest.raises(HettopError) as caught:
        register(ListingRuntime(), openvino(), lambda _name: Module(FileNotFoundError("no libx.so")))
    assert caught.value.message == "OpenVINO failed to load: no libx.so"
    assert caught.value.hint == "pip install --force-reinstall onnxruntime-ep-openvino"


def test_a_driver_that_is_missing_is_named_without_the_path_to_the_provider() -> None:
    text = "Failed to load library /a/b/libp.so with error: libcuda.so.1: cannot open shared object file: No such file"
    with pytest.raises(HettopError) as caught:
        register(ListingRuntime(), openvino(), lambda _name: Module(RuntimeError(text)))
    assert caught.value.message == "OpenVINO failed to load: libcuda.so.1 is missing"
    assert caught.value.hint == "install the driver or runtime that contains libcuda.so.1"


def test_a_runtime_from_before_plugins_says_to_update_it() -> None:
    class Old:
        __version__ = "1.21.0"

    with pytest.raises(HettopError) as caught:
        register(Old(), openvino(), lambda _name: Module())
    assert caught.value.message == "ONNX Runtime 1.21.0 cannot load OpenVINO: too old for plug-ins"
    assert caught.value.hint == "pip install -U onnxruntime"
