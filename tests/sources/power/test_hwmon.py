"""hwmon: only sensors that say what they measure count."""

from __future__ import annotations

from pathlib import Path

import pytest

from hettop.sources.power.hwmon import HwmonSource
from hettop.sources.power.source import PowerLostError
from tests.sources.power.machines import HWMON_FILES, Driven, first, pc, write_tree

HALF_S = 500_000_000
HWMON = "class/hwmon/hwmon3"


@pytest.mark.parametrize(
    ("driver", "label", "rail"),
    [
        ("board", "Socket 0", "package"),
        ("zenpower", "RAPL_P_Package", "package"),
        ("zenpower", "SVI2_P_Core", "cpu"),
        ("fam15h_power", None, "package"),
        ("board", "GPU", "gpu"),
        ("board", "CPU", "cpu"),
        ("board", "Total System Power", None),
        ("amdgpu", "slowPPT", None),
        ("BAT0", None, None),
        ("acpi_power_meter", "AC input", None),
        ("board", "CPU cap", None),
    ],
)
def test_only_sensors_that_say_what_they_measure_count(
    tmp_path: Path, driver: str, label: str | None, rail: str | None
) -> None:
    files: dict[str, object] = {f"{HWMON}/name": driver, f"{HWMON}/power1_input": 12_500_000}
    if label is not None:
        files[f"{HWMON}/power1_label"] = label
    source = HwmonSource(pc(write_tree(tmp_path, files)).machine)
    if rail is None:
        assert source.probe().reason == "no power sensor has a known label"
        return
    assert source.probe().ok
    (sample,) = first(source, 1)
    assert {name: value for name, value in sample.mw.items() if value is not None} == {rail: 12_500.0}
    assert sample.flags == ("estimated",)


def test_of_two_readings_of_a_sensor_the_average_counts_and_sockets_add_up(tmp_path: Path) -> None:
    files = {
        **HWMON_FILES,
        f"{HWMON}/power1_input": 99_000_000,
        f"{HWMON}/power2_label": "Socket 1",
        f"{HWMON}/power2_input": 7_500_000,
    }
    (sample,) = first(HwmonSource(pc(write_tree(tmp_path, files)).machine), 1)
    assert sample.mw["package"] == 50_000.0


def test_two_sensors_of_one_rail_that_may_see_the_same_current_give_none(tmp_path: Path) -> None:
    files = {
        **HWMON_FILES,
        f"{HWMON}/power2_label": "CPU",
        f"{HWMON}/power2_input": 1,
        f"{HWMON}/power3_label": "CPU 12V",
    }
    files[f"{HWMON}/power3_input"] = 2
    (sample,) = first(HwmonSource(pc(write_tree(tmp_path, files)).machine), 1)
    assert (sample.mw["package"], sample.mw["cpu"]) == (42_500.0, None)


def test_sensors_that_go_are_lost(tmp_path: Path) -> None:
    driven = Driven(pc(write_tree(tmp_path, HWMON_FILES)).machine)
    samples = HwmonSource(driven.machine).samples(HALF_S)
    next(samples)
    (tmp_path / HWMON / "power1_average").unlink()
    with pytest.raises(PowerLostError, match="can no longer be read"):
        next(samples)


def test_a_pc_without_sensors_says_where_it_looked(tmp_path: Path) -> None:
    assert HwmonSource(pc(tmp_path).machine).probe().reason == f"no power sensor in {tmp_path}/class/hwmon"
