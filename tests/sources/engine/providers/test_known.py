"""Which providers hardware calls for, by names of files alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from hettop.compute_units import PROVIDER_DEVICES
from hettop.sources.engine.providers.known import PROVIDERS, Hardware, provider_of, this_hardware, why_it_fits


def fitting(hardware: Hardware) -> set[str]:
    return {each.prefix for each in PROVIDERS if why_it_fits(each, hardware)}


@pytest.mark.parametrize(
    ("hardware", "prefixes"),
    [
        (Hardware("linux", "x86_64", "GenuineIntel Core Ultra 7"), {"OV"}),
        (Hardware("linux", "x86_64", "GenuineIntel", nodes=("dev/dri/renderD128",)), {"OV", "WEBGPU"}),
        (Hardware("linux", "x86_64", "AuthenticAMD Ryzen", nodes=("dev/nvidia0",)), {"RTX", "CUDA"}),
        (Hardware("linux", "aarch64", "qcom,x1e80100"), {"QNN"}),
        (Hardware("linux", "x86_64", "qcom"), set()),  # its wheel for x86-64 only prepares models
        (Hardware("linux", "aarch64", "raspberrypi,5"), set()),
        (Hardware("darwin", "arm64", macos=(14, 1)), {"MLX", "WEBGPU"}),
        (Hardware("darwin", "x86_64", macos=(14, 1)), {"WEBGPU"}),
        (Hardware("darwin", "arm64", macos=(13, 6)), set()),
    ],
)
def test_a_provider_fits_hardware_that_its_wheel_is_for(hardware: Hardware, prefixes: set[str]) -> None:
    assert fitting(hardware) == prefixes


def test_hardware_is_read_from_names_of_files(tmp_path: Path) -> None:
    (tmp_path / "dev/dri").mkdir(parents=True)
    for name in ("dri/renderD128", "dri/card0", "nvidia0", "nvidiactl"):
        (tmp_path / "dev" / name).touch()
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/cpuinfo").write_text("processor : 0\nvendor_id\t: GenuineIntel\nmodel name\t: Xeon\n")
    found = this_hardware(tmp_path, "linux")
    assert found.chip == "GenuineIntel Xeon"
    assert found.nodes == ("dev/dri/renderD128", "dev/nvidia0")


def test_a_board_is_known_by_its_device_tree(tmp_path: Path) -> None:
    (tmp_path / "proc/device-tree").mkdir(parents=True)
    (tmp_path / "proc/cpuinfo").write_text("processor\t: 0\nBogoMIPS\t: 38.40\n")
    (tmp_path / "proc/device-tree/compatible").write_bytes(b"lenovo,t14s\0qcom,x1e80100\0")
    assert this_hardware(tmp_path, "linux").chip == "lenovo,t14s qcom,x1e80100"


def test_every_prefix_belongs_to_one_provider() -> None:
    assert sorted(PROVIDER_DEVICES) == sorted(each.prefix for each in PROVIDERS)


@pytest.mark.parametrize(
    ("unit", "name"), [("OV:CPU", "OpenVINO"), ("CUDA:1", "CUDA"), ("CPU_ONLY@2", None), ("TPU:0", None), ("OV", None)]
)
def test_a_provider_is_known_by_the_beginning_of_its_units(unit: str, name: str | None) -> None:
    found = provider_of(unit)
    assert (found and found.name) == name


def test_a_command_that_installs_a_plugin_names_an_extra_that_exists() -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parents[4] / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for each in PROVIDERS:
        if each.extra:
            assert any(line.startswith(each.package) for line in extras[each.extra])
            assert each.install == f"pip install 'hettop[{each.extra}]'"
