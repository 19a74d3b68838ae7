"""Folders as Linux shows GPUs and NPUs, and a stand-in for NVML with its real names and signatures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.sources.power.machines import write_tree

NPU = "devices/pci0000:00/0000:00:0b.0"
CARD = "devices/pci0000:00/0000:03:00.0"
NVIDIA = "devices/pci0000:00/0000:01:00.0"


def device(sysfs: Path, folder: str, entry: str, driver: str, files: Mapping[str, object]) -> Path:
    """A device in `folder`, which the class folder's `entry` (`class/drm/card0`) links to."""
    slot = folder.rpartition("/")[2]
    facts = {"uevent": f"DRIVER={driver}\nPCI_SLOT_NAME={slot}", "power/runtime_status": "active"}
    write_tree(sysfs / folder, {**facts, **files})
    (sysfs / entry).mkdir(parents=True, exist_ok=True)
    (sysfs / entry / "device").symlink_to(sysfs / folder)
    return sysfs


def intel_npu(sysfs: Path, **changes: object) -> Path:
    files = {"npu_busy_time_us": 1_000_000, "npu_current_frequency_mhz": 1400, **changes}
    return device(sysfs, NPU, "class/accel/accel0", "intel_vpu", files)


def intel_card(sysfs: Path, driver: str = "xe") -> Path:
    files = {
        "hwmon/hwmon4/name": driver,
        "hwmon/hwmon4/energy1_input": 5_000_000,
        "hwmon/hwmon4/temp2_input": 61_000,
        "hwmon/hwmon3/name": f"{driver}_gt0",  # a part of the card
        "hwmon/hwmon3/energy1_input": 1,
        "tile0/gt0/freq0/act_freq": 2400,
    }
    return device(sysfs, CARD, "class/drm/card0", driver, files)


def amd_card(sysfs: Path, files: Mapping[str, object] | None = None) -> Path:
    found = {
        "hwmon/hwmon5/name": "amdgpu",
        "hwmon/hwmon5/power1_average": 45_000_000,
        "hwmon/hwmon5/freq1_input": 1_800_000_000,
        "hwmon/hwmon5/temp1_input": 55_000,
        "gpu_busy_percent": 87,
    }
    return device(sysfs, CARD, "class/drm/card0", "amdgpu", {**found, **(files or {})})


def nvidia_card(sysfs: Path, status: str = "active", slot: str = "0000:01:00.0") -> Path:
    """Of a driver that shows nothing but the device."""
    folder = f"devices/pci0000:00/{slot}"
    write_tree(sysfs, {f"{folder}/power/runtime_status": status})
    drivers = sysfs / "bus/pci/drivers/nvidia"
    drivers.mkdir(parents=True, exist_ok=True)
    (drivers / slot).symlink_to(sysfs / folder)
    return sysfs


class NvmlError(Exception):
    """As NVML words its errors."""


class Nvml:
    """NVML with one answer for each function that hettop calls; an exception is raised."""

    NVML_CLOCK_SM = 1
    NVML_TEMPERATURE_GPU = 0

    def __init__(self, **answers: Any) -> None:
        self.energies = iter(answers.pop("energies", ()))
        self.answers = {"mw": 30_000, "busy": 64, "mhz": 1980, "celsius": 58, **answers}
        self.handles: list[bytes] = []
        self.is_open = False

    def nvmlInit(self) -> None:
        self._answer("init")
        self.is_open = True

    def nvmlShutdown(self) -> None:
        assert self.is_open
        self.is_open = False

    def nvmlDeviceGetHandleByPciBusId(self, pciBusId: bytes) -> object:  # noqa: N803 - NVML's names
        assert self.is_open
        self.handles.append(pciBusId)
        return self

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: object) -> int:
        assert handle is self
        energy = next(self.energies, None)
        if energy is None:
            raise NvmlError("Not Supported")
        return int(energy)

    def nvmlDeviceGetPowerUsage(self, handle: object) -> int:
        assert handle is self
        return int(self._answer("mw"))

    def nvmlDeviceGetUtilizationRates(self, handle: object) -> Any:
        assert handle is self
        return SimpleNamespace(gpu=self._answer("busy"), memory=12)

    def nvmlDeviceGetClockInfo(self, handle: object, type: int) -> int:  # noqa: A002 - NVML's names
        assert (handle, type) == (self, self.NVML_CLOCK_SM)
        return int(self._answer("mhz"))

    def nvmlDeviceGetTemperature(self, handle: object, sensor: int) -> int:
        assert (handle, sensor) == (self, self.NVML_TEMPERATURE_GPU)
        return int(self._answer("celsius"))

    def _answer(self, name: str) -> Any:
        answer = self.answers.get(name)
        if isinstance(answer, Exception):
            raise answer
        return answer


FUNCTIONS: tuple[Callable[..., object], ...] = tuple(
    member for name, member in vars(Nvml).items() if name.startswith("nvml")
)


def client(procfs: Path, pid: int, fd: int, *lines: str, link: str = "/dev/dri/renderD128") -> Path:
    """A file descriptor of a process, with what the driver tells of it."""
    write_tree(procfs / str(pid), {f"fdinfo/{fd}": "\n".join(("pos:\t0", *lines))})
    descriptor = procfs / str(pid) / "fd" / str(fd)
    descriptor.parent.mkdir(parents=True, exist_ok=True)
    if not descriptor.is_symlink():
        descriptor.symlink_to(link)
    return procfs
