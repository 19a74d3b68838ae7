"""NVIDIA's GPUs, through NVML (nvidia-ml-py, an optional extra).

Names and units: NVIDIA's NVML API Reference. Which GPUs there are, and which are suspended, sysfs shows without them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hettop.processes.framework_errors import named_reason
from hettop.sources.power.device import NO_POWER, SUSPENDED, Raw, is_suspended
from hettop.sources.power.sample import megahertz, milliwatts, share
from hettop.sources.power.source import Machine
from hettop.text import clean

MODULE = "pynvml"
INSTALL = "pip install 'hettop[nvidia]'"
DRIVER = "nvidia"
FOLDER = Path("bus/pci/drivers") / DRIVER
UJ_PER_MJ = 1000


@dataclass(frozen=True, slots=True)
class NvidiaDevice:
    """A GPU: its address, its folder in sysfs, and the module to ask."""

    rail: str
    slot: str
    folder: Path
    nvml: Any
    driver: str = DRIVER
    period_ns: int = 0

    def look(self) -> Raw:
        """A GPU that is suspended is not asked: even asking for its handle initializes it."""
        if is_suspended(self.folder):
            return Raw(why={"device": SUSPENDED})
        nvml, why = self.nvml, dict[str, str]()
        try:
            handle = nvml.nvmlDeviceGetHandleByPciBusId(self.slot.encode())
        except Exception as error:  # noqa: BLE001 - a foreign library may raise anything
            return Raw(why={"device": clean(named_reason(error))})

        def ask(what: str, call: Callable[[], Any]) -> Any:
            try:
                return call()
            except Exception as error:  # noqa: BLE001 - a foreign library may raise anything
                why[what] = clean(named_reason(error), 80)
                return None

        energy_mj = ask("energy", lambda: nvml.nvmlDeviceGetTotalEnergyConsumption(handle))
        mw = None if energy_mj is not None else ask("power", lambda: nvml.nvmlDeviceGetPowerUsage(handle))
        if mw is not None or energy_mj is not None:
            why.pop("energy", None)
        elif not why:
            why["power"] = NO_POWER
        percent = ask("utilization", lambda: nvml.nvmlDeviceGetUtilizationRates(handle).gpu)
        mhz = ask("clock", lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM))
        celsius = ask("temperature", lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU))
        return Raw(
            energy_uj=None if energy_mj is None else int(energy_mj) * UJ_PER_MJ,
            mw=milliwatts(mw),
            busy=None if percent is None else share(percent / 100),
            mhz=megahertz(mhz),
            temperature_c=celsius,
            why=why,
        )


@dataclass(frozen=True, slots=True)
class Nvidia:
    """The GPUs that can be asked. lacking, fix: why those that are there cannot be, and what would change that."""

    devices: Sequence[NvidiaDevice] = ()
    lacking: str = ""
    fix: str = ""
    nvml: Any = None

    def close(self) -> None:
        if self.nvml is not None:
            self.nvml.nvmlShutdown()


def find_nvidia(machine: Machine) -> Nvidia:
    """The GPUs of the driver `nvidia`, numbered in the order of their addresses. Initializes none of them."""
    folders = sorted((machine.sysfs / FOLDER).glob("*:*:*.*"))
    if not folders:
        return Nvidia()
    try:
        nvml = machine.load(MODULE)
        nvml.nvmlInit()
    except ImportError:
        return Nvidia(lacking="an NVIDIA GPU is here, but nvidia-ml-py is not installed", fix=INSTALL)
    except Exception as error:  # noqa: BLE001 - a foreign library may raise anything
        return Nvidia(
            lacking=clean(f"NVML failed: {named_reason(error)}"), fix="install NVIDIA's driver; then: nvidia-smi"
        )
    devices = [NvidiaDevice(f"NVIDIA{n}", each.name, each, nvml) for n, each in enumerate(folders)]
    return Nvidia(devices, nvml=nvml)
