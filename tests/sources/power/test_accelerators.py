"""GPUs and NPUs beside the CPU: rails of their own from counters and readings; values worked out by hand."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from hettop.events import Accelerator
from hettop.sources.power.accelerators import Accelerators, AcceleratorSource, rise, sysfs_devices
from hettop.sources.power.nvml import MODULE
from hettop.sources.power.rapl import RaplSource
from hettop.sources.power.sample import PowerSample
from hettop.sources.power.source import Machine, PowerSource
from tests.sources.power.devices import (
    CARD,
    FUNCTIONS,
    NPU,
    Nvml,
    NvmlError,
    amd_card,
    client,
    device,
    intel_card,
    intel_npu,
    nvidia_card,
)
from tests.sources.power.machines import RAPL_FILES, Driven, first, mac, pc, write_tree

HALF_S = 500_000_000
SECOND = 2 * HALF_S


def with_nvml(sysfs: Path, nvml: object) -> Machine:
    bench = pc(sysfs)
    bench.modules[MODULE] = nvml
    return bench.machine


def run(
    machine: Machine, *changes: Mapping[str, object], make: type = AcceleratorSource, interval_ns: int = HALF_S
) -> list[PowerSample]:
    """A sample for each of `changes`, the files that are written before it."""
    driven = Driven(machine)
    driven.changes = iter(changes)
    source: PowerSource = make(driven.machine)
    return first(source, len(changes), interval_ns)


def only(sample: PowerSample) -> Accelerator:
    (found,) = sample.accelerators
    return found


@pytest.mark.parametrize("driver", ["i915", "xe"])
def test_the_power_of_an_intel_card_is_its_energy_over_time(tmp_path: Path, driver: str) -> None:
    machine = pc(intel_card(tmp_path, driver)).machine
    (sample,) = run(machine, {f"{CARD}/hwmon/hwmon4/energy1_input": 25_000_000})
    # 20 J in half a second.
    assert sample.mw["Intel GPU"] == 40_000.0
    assert (only(sample).driver, only(sample).mhz, only(sample).temperature_c) == (driver, 2400.0, 61.0)
    assert only(sample).busy is None
    assert only(sample).why == "utilization: the driver reports no utilization of the whole device"
    assert not sample.flags


def test_a_counter_that_was_reset_gives_nothing_once(tmp_path: Path) -> None:
    counter = f"{CARD}/hwmon/hwmon4/energy1_input"
    machine = pc(intel_card(tmp_path)).machine
    samples = run(machine, {counter: 1_000_000}, {counter: 2_000_000})
    assert [sample.mw["Intel GPU"] for sample in samples] == [None, 2000.0]
    assert (rise(7, 3), rise(None, 3), rise(3, None), rise(3, 7)) == (None, None, None, 4)


def test_an_intel_npu_has_utilization_and_no_power(tmp_path: Path) -> None:
    machine = pc(intel_npu(tmp_path)).machine
    source = AcceleratorSource(machine)
    assert source.probe().reason == "utilization only: no device reports power of its own now"
    (sample,) = run(machine, {f"{NPU}/npu_busy_time_us": 1_250_000}, interval_ns=SECOND)
    found = only(sample)
    assert (found.name, found.mw, found.busy, found.mhz) == ("NPU", None, 0.25, 1400.0)  # 0.25 s of 1 s
    assert found.why == "power: the driver reports no power"


def test_the_counter_of_an_npu_is_read_once_in_a_second(tmp_path: Path) -> None:
    """As the driver's source asks; in between the share is that of the last second."""
    counter = f"{NPU}/npu_busy_time_us"
    machine = pc(intel_npu(tmp_path)).machine
    samples = run(machine, {counter: 1_100_000}, {counter: 1_600_000}, {counter: 9_000_000})
    assert [only(sample).busy for sample in samples] == [None, 0.6, 0.6]


def test_a_suspended_npu_is_not_woken_and_what_it_did_before_counts(tmp_path: Path) -> None:
    machine = pc(intel_npu(tmp_path)).machine
    asleep = {f"{NPU}/npu_busy_time_us": 1_500_000, f"{NPU}/power/runtime_status": "suspended"}
    (sample,) = run(machine, asleep, interval_ns=SECOND)
    assert (only(sample).busy, only(sample).mhz) == (0.5, None)
    assert only(sample).why == "suspended: not read, because reading would wake it"


def test_a_suspended_gpu_is_not_read(tmp_path: Path) -> None:
    sysfs = amd_card(tmp_path)
    for path in (sysfs / CARD / "hwmon/hwmon5").glob("*_*"):
        path.unlink()
        os.mkfifo(path)  # whoever opens it waits for ever
    write_tree(sysfs, {f"{CARD}/power/runtime_status": "suspended"})
    (sample,) = run(pc(sysfs).machine, {})
    assert (sample.mw["AMD GPU"], only(sample).busy) == (None, None)
    assert only(sample).why == "suspended: not read, because reading would wake it"


def test_an_amd_card_has_power_of_the_moment(tmp_path: Path) -> None:
    (sample,) = run(pc(amd_card(tmp_path)).machine, {})
    found = only(sample)
    assert (found.name, found.mw, found.busy, found.mhz, found.temperature_c) == (
        "AMD GPU",
        45_000.0,
        0.87,
        1800.0,
        55.0,
    )
    assert (found.estimated, sample.flags) == (True, ("estimated",))


def test_power_that_includes_the_cpu_is_not_the_gpus(tmp_path: Path) -> None:
    """Only the chips with both have the voltage of a north bridge."""
    (sample,) = run(pc(amd_card(tmp_path, {"hwmon/hwmon5/in1_input": 790})).machine, {})
    assert (sample.mw["AMD GPU"], only(sample).busy) == (None, 0.87)
    assert only(sample).why == "power: its power reading includes the CPU"


def test_zero_power_of_a_busy_device_is_not_measured(tmp_path: Path) -> None:
    idle, busy = ({"hwmon/hwmon5/power1_average": 0, "gpu_busy_percent": percent} for percent in (0, 50))
    (sample,) = run(pc(amd_card(tmp_path / "idle", idle)).machine, {})
    assert sample.mw["AMD GPU"] == 0.0
    (sample,) = run(pc(amd_card(tmp_path / "busy", busy)).machine, {})
    assert sample.mw["AMD GPU"] is None


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    sysfs = amd_card(tmp_path, {"gpu_busy_percent": "n/a"})
    (sample,) = run(pc(sysfs).machine, {})
    assert (only(sample).busy, only(sample).why) == (None, "utilization: cannot read gpu_busy_percent")


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_what_may_not_be_read_is_named(tmp_path: Path) -> None:
    sysfs = intel_card(tmp_path)
    (sysfs / CARD / "hwmon/hwmon4/energy1_input").chmod(0)
    (sample,) = run(pc(sysfs).machine, {})
    assert "power: permission denied: energy1_input" in only(sample).why


def test_an_amd_npu_has_only_what_its_clients_used(tmp_path: Path) -> None:
    sysfs = device(tmp_path / "sys", NPU, "class/accel/accel0", "amdxdna", {})
    procfs = tmp_path / "proc"
    fdinfo = ("drm-driver:\tamdxdna_accel_driver", "drm-client-id:\t3", "drm-pdev:\t0000:00:0b.0")
    client(procfs, 41, 7, *fdinfo, "drm-engine-npu-amdxdna:\t1000 ns", link="/dev/accel/accel0")
    machine = replace(pc(sysfs).machine, procfs=procfs, engine_pids=lambda: (41,))
    driven = Driven(machine)
    samples = AcceleratorSource(driven.machine).samples(SECOND)
    next(samples)
    client(procfs, 41, 7, *fdinfo, f"drm-engine-npu-amdxdna:\t{1000 + SECOND // 4} ns", link="/dev/accel/accel0")
    found = only(next(samples))
    samples.close()
    assert (found.busy, found.mw, found.engine_busy) == (None, None, 0.25)


def test_devices_are_numbered_by_address_and_outputs_of_a_card_are_none(tmp_path: Path) -> None:
    second = "devices/pci0000:00/0000:09:00.0"
    device(tmp_path, second, "class/drm/card0", "amdgpu", {})
    device(tmp_path, CARD, "class/drm/card1", "amdgpu", {})
    device(tmp_path, "devices/usb", "class/drm/card2", "udl", {})
    write_tree(tmp_path, {"class/drm/card1-HDMI-A-1/status": "connected"})
    assert [(each.rail, each.slot) for each in sysfs_devices(tmp_path)] == [
        ("AMD GPU", "0000:03:00.0"),
        ("AMD GPU 1", "0000:09:00.0"),
    ]


def test_an_nvidia_gpus_power_is_its_energy_over_time(tmp_path: Path) -> None:
    nvml = Nvml(energies=[100_000, 100_000, 115_000])  # mJ: of the probe's look, the first and the second
    machine = with_nvml(nvidia_card(tmp_path), nvml)
    assert AcceleratorSource(machine).probe().ok
    nvml.energies = iter([100_000, 115_000])
    (sample,) = run(machine, {})
    found = only(sample)
    assert (found.name, found.mw) == ("NVIDIA0", 30_000.0)  # 15 J in half a second
    assert (found.busy, found.mhz, found.temperature_c) == (0.64, 1980.0, 58.0)
    assert not sample.flags
    assert set(nvml.handles) == {b"0000:01:00.0"}
    assert not nvml.is_open


def test_an_nvidia_gpu_without_a_counter_has_power_of_the_moment(tmp_path: Path) -> None:
    (sample,) = run(with_nvml(nvidia_card(tmp_path), Nvml(busy=NvmlError("Not Supported"))), {})
    assert (sample.mw["NVIDIA0"], only(sample).busy, sample.flags) == (30_000.0, None, ("estimated",))
    assert only(sample).why == "utilization: NvmlError: Not Supported"


def test_a_suspended_nvidia_gpu_is_not_asked(tmp_path: Path) -> None:
    nvml = Nvml()
    (sample,) = run(with_nvml(nvidia_card(tmp_path, "suspended"), nvml), {})
    assert (sample.mw["NVIDIA0"], nvml.handles) == (None, [])
    assert only(sample).why.startswith("suspended")


def test_an_nvidia_gpu_without_the_extra_is_named_with_the_repair(tmp_path: Path) -> None:
    found = AcceleratorSource(pc(nvidia_card(tmp_path)).machine).probe()
    assert (found.ok, found.fix) == (False, "pip install 'hettop[nvidia]'")
    broken = AcceleratorSource(with_nvml(tmp_path, Nvml(init=NvmlError("Driver Not Loaded")))).probe()
    assert (broken.ok, broken.reason) == (False, "NVML failed: NvmlError: Driver Not Loaded")


def test_the_stand_in_has_the_names_of_the_real_nvml() -> None:
    """Of nvidia-ml-py, where it is installed; it loads without a driver."""
    pynvml = pytest.importorskip(MODULE, reason="nvidia-ml-py is not installed")
    for function in FUNCTIONS:
        real = list(inspect.signature(getattr(pynvml, function.__name__)).parameters)
        assert real == list(inspect.signature(function).parameters)[1:], function.__name__
    assert (pynvml.NVML_CLOCK_SM, pynvml.NVML_TEMPERATURE_GPU) == (Nvml.NVML_CLOCK_SM, Nvml.NVML_TEMPERATURE_GPU)
    fields = [name for name, _ in pynvml.c_nvmlUtilization_t._fields_]
    assert "gpu" in fields


def test_rails_of_accelerators_stand_beside_those_of_the_cpu(tmp_path: Path) -> None:
    sysfs = intel_card(write_tree(tmp_path, RAPL_FILES))
    rises = {
        "class/powercap/intel-rapl:0/energy_uj": 6_000_000,
        "class/powercap/intel-rapl:0:0/energy_uj": 1_500_000,
        f"{CARD}/hwmon/hwmon4/energy1_input": 25_000_000,
    }
    (sample,) = run(pc(sysfs).machine, rises, make=RaplSource)
    assert (sample.mw["package"], sample.mw["Intel GPU"], sample.source) == (10_000.0, 40_000.0, "rapl")


def test_a_pc_without_any_says_so(tmp_path: Path) -> None:
    found = AcceleratorSource(pc(tmp_path).machine).probe()
    assert (found.ok, found.absent, found.reason) == (False, True, "no GPU or NPU whose driver is known")
    assert AcceleratorSource(mac().machine).probe().reason == "Linux only"
    with Accelerators(pc(tmp_path).machine) as accelerators:
        assert accelerators.readings() == []
