"""Power and utilization of GPUs and NPUs on Linux: rails of their own, beside those of the CPU.

What each driver shows in sysfs is one table; NVIDIA's, which shows nothing there, is asked through NVML. Reads files in
folders that are passed in; writes nothing, and wakes no device that is suspended.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from hettop.events import Accelerator
from hettop.sources.power.device import NO_POWER, NO_UTILIZATION, SUSPENDED, Device, Raw, is_suspended, text_of
from hettop.sources.power.drm_clients import DrmClients
from hettop.sources.power.nvml import find_nvidia
from hettop.sources.power.sample import ESTIMATED, FLAGS, PowerSample, make_sample, megahertz, milliwatts, share
from hettop.sources.power.source import Availability, Machine, ReadingInterval, of_another_system
from hettop.units import NS_PER_S

SHORTEST_NS = 50 * 10**6
BUSY_ENOUGH = 0.05
"""A device busier than this draws power: a reading of 0 beside it is not a measurement."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a driver shows of its devices: files by quantity, of which the first that exists is read.

    Paths are relative to the device's folder; `{hwmon}` is the folder of the driver's own sensors. rail: the name of
    the first device. power_of_chip: a file that exists only where the power is that of CPU and GPU together.
    period_ns: how long to keep a reading. counts_asleep: the counter of busy time can be read without waking it.
    """

    rail: str
    drivers: tuple[str, ...]
    energy_uj: tuple[str, ...] = ()
    power_uw: tuple[str, ...] = ()
    busy_us: tuple[str, ...] = ()
    busy_percent: tuple[str, ...] = ()
    mhz: tuple[str, ...] = ()
    hz: tuple[str, ...] = ()
    millicelsius: tuple[str, ...] = ()
    power_of_chip: str | None = None
    period_ns: int = 0
    counts_asleep: bool = False


KINDS = (
    # drivers/accel/ivpu/ivpu_sysfs.c: the counter is memory of the driver, to be read once in a second at most.
    Kind(
        "NPU",
        ("intel_vpu",),
        busy_us=("npu_busy_time_us",),
        mhz=("npu_current_frequency_mhz",),
        period_ns=NS_PER_S,
        counts_asleep=True,
    ),
    # Documentation/ABI/testing/sysfs-driver-intel-i915-hwmon and -xe-hwmon (of cards alone; 1 the card, 2 its package);
    # clocks: Documentation/ABI/testing/sysfs-driver-intel-xe-freq..., drivers/gpu/drm/i915/gt/intel_gt_sysfs_pm.c.
    Kind(
        "Intel GPU",
        ("i915", "xe"),
        energy_uj=("{hwmon}/energy1_input", "{hwmon}/energy2_input"),
        mhz=("drm/card*/gt/gt0/rps_act_freq_mhz", "drm/card*/gt_act_freq_mhz", "tile0/gt0/freq0/act_freq"),
        millicelsius=("{hwmon}/temp2_input", "{hwmon}/temp1_input"),
    ),
    # Documentation/gpu/amdgpu/thermal.rst: "On APUs this includes the CPU"; only these have the voltage in1.
    Kind(
        "AMD GPU",
        ("amdgpu",),
        power_uw=("{hwmon}/power1_average", "{hwmon}/power1_input"),
        busy_percent=("gpu_busy_percent",),
        hz=("{hwmon}/freq1_input",),
        millicelsius=("{hwmon}/temp1_input",),
        power_of_chip="{hwmon}/in1_input",
    ),
    # Documentation/accel/amdxdna: sysfs has neither power nor utilization; newer drivers count busy time by client.
    Kind("NPU", ("amdxdna",)),
)
"""In the kernel's own documents; a file that a kernel does not have is a quantity that is n/a."""

_FOLDERS = (("class/accel", re.compile(r"accel[0-9]+")), ("class/drm", re.compile(r"card[0-9]+")))


@dataclass(frozen=True, slots=True)
class SysfsDevice:
    """A device whose driver shows it in sysfs, in `folder`."""

    rail: str
    driver: str
    slot: str
    folder: Path
    kind: Kind

    @property
    def period_ns(self) -> int:
        return self.kind.period_ns

    def look(self) -> Raw:
        kind = self.kind
        if is_suspended(self.folder):
            busy_us = self._read(kind.busy_us, {}, "utilization") if kind.counts_asleep else None
            return Raw(busy_us=busy_us, why={"device": SUSPENDED})
        why: dict[str, str] = {}
        energy_uj = self._read(kind.energy_uj, why, "power")
        power_uw = self._power_uw(why)
        if energy_uj is None and power_uw is None:
            why.setdefault("power", NO_POWER)
        busy_us = self._read(kind.busy_us, why, "utilization")
        percent = self._read(kind.busy_percent, why, "utilization")
        if busy_us is None and percent is None:
            why.setdefault("utilization", NO_UTILIZATION)
        mhz = self._read(kind.mhz, why, "clock")
        hz = self._read(kind.hz, why, "clock")
        millicelsius = self._read(kind.millicelsius, why, "temperature")
        return Raw(
            energy_uj=energy_uj,
            mw=None if power_uw is None else milliwatts(power_uw / 1000),
            busy_us=busy_us,
            busy=None if percent is None else share(percent / 100),
            mhz=megahertz(mhz if mhz is not None else None if hz is None else hz / 1e6),
            temperature_c=None if millicelsius is None else millicelsius / 1000,
            why=why,
        )

    def _power_uw(self, why: dict[str, str]) -> int | None:
        """The power, unless it is the whole chip's: that of the CPU must not pass for the GPU's."""
        if self.kind.power_of_chip is not None and self._find(self.kind.power_of_chip) is not None:
            why["power"] = "its power reading includes the CPU"
            return None
        return self._read(self.kind.power_uw, why, "power")

    def _read(self, patterns: Sequence[str], why: dict[str, str], what: str) -> int | None:
        """The number in the first of these files that has one."""
        for pattern in patterns:
            path = self._find(pattern)
            if path is None:
                continue
            try:
                return int(path.read_text(encoding="ascii"))
            except PermissionError:
                why[what] = f"permission denied: {path.name}"
            except (OSError, ValueError):
                why[what] = f"cannot read {path.name}"
        return None

    def _find(self, pattern: str) -> Path | None:
        if "{hwmon}" not in pattern:
            return next(iter(sorted(self.folder.glob(pattern))), None)
        for folder in sorted(self.folder.glob("hwmon/hwmon*")):
            path = folder / pattern.removeprefix("{hwmon}/")
            if text_of(folder / "name") == self.driver and path.exists():
                return path
        return None


def sysfs_devices(sysfs: Path) -> list[SysfsDevice]:
    """The devices of known drivers, in the order of their addresses; the second of a kind is `AMD GPU 1`."""
    found: dict[Path, tuple[str, str, Kind]] = {}
    for classes, name in _FOLDERS:
        for entry in sorted((sysfs / classes).glob("*")):
            device = entry / "device"
            facts = dict(line.partition("=")[::2] for line in text_of(device / "uevent").splitlines())
            driver = facts.get("DRIVER", "")
            kind = next((each for each in KINDS if driver in each.drivers), None)
            if kind is not None and name.fullmatch(entry.name):
                found.setdefault(device.resolve(), (facts.get("PCI_SLOT_NAME", ""), driver, kind))
    devices: list[SysfsDevice] = []
    for folder, (slot, driver, kind) in sorted(found.items(), key=lambda item: (item[1][0], item[0])):
        before = sum(each.kind.rail == kind.rail for each in devices)
        devices.append(SysfsDevice(f"{kind.rail} {before}" if before else kind.rail, driver, slot, folder, kind))
    return devices


class Accelerators:
    """Reads all devices again and again: means since the look before, from counters where there are any."""

    def __init__(self, machine: Machine) -> None:
        """Looks once, so that the next look has something to count from."""
        self._now = machine.now
        self.nvidia = find_nvidia(machine)
        self.devices: list[Device] = [*sysfs_devices(machine.sysfs), *self.nvidia.devices]
        self._clients = DrmClients(machine.procfs, machine.engines)
        self._before: dict[str, tuple[int, Raw, Accelerator]] = {}
        self.readings()

    def __enter__(self) -> Accelerators:
        return self

    def __exit__(self, *_: object) -> None:
        self.nvidia.close()

    def readings(self) -> list[Accelerator]:
        """One of each device; a counter gives nothing the first time, or after it was reset."""
        clients = self._clients.shares(self._now()) if self.devices else {}
        return [self._reading(device, clients.get(device.slot)) for device in self.devices]

    def beside(self, sample: PowerSample) -> PowerSample:
        """The sample with the rails of all devices, and what they were doing."""
        if not self.devices:
            return sample
        readings = self.readings()
        flags = {*sample.flags, *(ESTIMATED for each in readings if each.estimated)}
        others = {each.name: each.mw for each in readings}
        return replace(
            sample,
            mw={**sample.mw, **others},
            accelerators=tuple(readings),
            flags=tuple(flag for flag in FLAGS if flag in flags),
        )

    def _reading(self, device: Device, engine_busy: float | None) -> Accelerator:
        now, before = self._now(), self._before.get(device.rail)
        if before is not None and now - before[0] < device.period_ns:
            return msgspec.structs.replace(before[2], engine_busy=engine_busy)
        raw = device.look()
        elapsed_ns = 0 if before is None else now - before[0]
        busy, mw = raw.busy, raw.mw
        if before is not None and elapsed_ns > 0:
            energy_uj = rise(before[1].energy_uj, raw.energy_uj)
            mw = mw if energy_uj is None else milliwatts(energy_uj * 1e6 / elapsed_ns)  # 1 µJ / ns is 1000 W
            busy_us = rise(before[1].busy_us, raw.busy_us)
            busy = busy if busy_us is None else share(min(1.0, busy_us * 1e3 / elapsed_ns))
        found = Accelerator(
            name=device.rail,
            driver=device.driver,
            mw=None if mw == 0 and (busy or 0.0) > BUSY_ENOUGH else mw,
            busy=busy,
            engine_busy=engine_busy,
            mhz=raw.mhz,
            temperature_c=raw.temperature_c,
            why="; ".join(f"{what}: {why}" if what != "device" else why for what, why in raw.why.items()),
            estimated=raw.mw is not None,
        )
        self._before[device.rail] = now, raw, found
        return found


def rise(before: int | None, after: int | None) -> int | None:
    """How much a counter rose; None where it fell: it was reset, as drivers extend to 64 bits what wraps."""
    return None if before is None or after is None or after < before else after - before


class AcceleratorSource:
    """GPUs and NPUs alone, where nothing reports the power of the CPU."""

    name = "accelerators"
    resolution_mj: float | None = None

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._interval = ReadingInterval(machine.now, machine.wait)

    @property
    def note(self) -> str:
        return "without the CPU: no energy per inference of units that have no device with power of its own"

    def granted_ns(self, asked_ns: int) -> int | None:
        return max(SHORTEST_NS, asked_ns)

    def probe(self) -> Availability:
        """Works where a device reports power, in part where one reports only its utilization."""
        if self._machine.is_mac:
            return of_another_system("Linux")
        with Accelerators(self._machine) as accelerators:
            if accelerators.nvidia.lacking and not accelerators.devices:
                return Availability(False, accelerators.nvidia.lacking, accelerators.nvidia.fix, absent=True)
            if not accelerators.devices:
                return Availability(False, "no GPU or NPU whose driver is known", impossible=True, absent=True)
            found = [device.look() for device in accelerators.devices]
        if any(raw.energy_uj is not None or raw.mw is not None for raw in found):
            return Availability(True)
        return Availability(True, "utilization only: no device reports power of its own now")

    def samples(self, interval_ns: int) -> Generator[PowerSample, None, None]:
        """A sample at the end of each interval."""
        began: int | None = None
        with Accelerators(self._machine) as accelerators:
            for _ in self._interval.moments(max(SHORTEST_NS, interval_ns)):
                now = self._machine.now()
                if began is not None and now > began:
                    yield accelerators.beside(make_sample(self.name, now - began, {}))
                began = now

    def stop(self) -> None:
        self._interval.stop()
