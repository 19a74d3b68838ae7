"""RAPL as a source: the energy counters of Intel's and AMD's processors, as Linux shows them under powercap.

Reads files in a folder that is passed in; writes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path

from hettop.sources.power.accelerators import Accelerators
from hettop.sources.power.sample import PARTIAL, PowerSample, make_sample, milliwatts
from hettop.sources.power.source import (
    UNAVAILABLE,
    Availability,
    Machine,
    PowerLostError,
    ReadingInterval,
    of_another_system,
)

FOLDER = Path("class/powercap")
SHORTEST_NS = 50 * 10**6  # counters move every ms: below it, that is more than 2% of a window
_ZONE = re.compile(r"intel-rapl(?P<mmio>-mmio)?:[0-9]+(:[0-9]+)?")
_RAILS = ((re.compile(r"package"), "package"), (re.compile(r"dram"), "dram"))
_RAIL_NAMES = {"core": "cpu", "uncore": "gpu"}
ROOT_ONLY = "only root can read the energy counters"
FIX = "sudo chmod a+r /sys/class/powercap/intel-rapl*/energy_uj (until the next start; a udev rule keeps it)"


@dataclass(frozen=True, slots=True)
class Zone:
    """A counter and its rail; it wraps at `range_uj`, None if that is not reported."""

    rail: str
    counter: Path
    range_uj: int | None


class RaplSource:
    """Package, cores, graphics and memory of a PC; several sockets are summed."""

    name = "rapl"
    resolution_mj: float | None = None  # the kernel prints µJ, counts in the processor's unit and does not report it

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._folder = machine.sysfs / FOLDER
        self._interval = ReadingInterval(machine.now, machine.wait)
        self._packages = 0

    @property
    def note(self) -> str:
        return f"package is the sum of {self._packages} packages" if self._packages > 1 else ""

    def granted_ns(self, asked_ns: int) -> int | None:
        return max(SHORTEST_NS, asked_ns)

    def probe(self) -> Availability:
        if self._machine.is_mac:
            return of_another_system("Linux")
        zones = zones_in(self._folder)
        if not zones:
            return Availability(False, f"no energy counters in {self._folder}", impossible=True, absent=True)
        try:
            zones[0].counter.read_bytes()
        except PermissionError:
            return Availability(False, ROOT_ONLY, FIX)
        except OSError as error:
            return Availability(False, f"cannot read the energy counters: {error.strerror}")
        return Availability(True)

    def samples(self, interval_ns: int) -> Generator[PowerSample, None, None]:
        """A sample at the end of each interval; PowerLostError when no counter can be read any more."""
        zones = zones_in(self._folder)
        self._packages = sum(zone.rail == "package" for zone in zones)
        before: Mapping[Zone, int] = {}
        began: int | None = None
        with Accelerators(self._machine) as accelerators:
            for _ in self._interval.moments(max(SHORTEST_NS, interval_ns)):
                now, counters = self._machine.now(), _read(zones)
                if began is not None and now > began:
                    yield accelerators.beside(_sample(zones, before, counters, now - began))
                before, began = counters, now

    def stop(self) -> None:
        self._interval.stop()


def zones_in(folder: Path) -> list[Zone]:
    """The counters of known rails, each once: newer kernels list a package twice."""
    found: dict[tuple[str, ...], Zone] = {}
    for path in _zone_paths(folder):
        name = _text(path / "name")
        rail = _rail(name)
        if rail is None:
            continue
        above = _text(path.parent / path.name.rpartition(":")[0] / "name") if path.name.count(":") > 1 else ""
        found.setdefault((above, name), Zone(rail, path / "energy_uj", _whole(_text(path / "max_energy_range_uj"))))
    return list(found.values())


def _zone_paths(folder: Path) -> list[Path]:
    try:
        zones = [path for path in folder.iterdir() if _ZONE.fullmatch(path.name)]
    except OSError:
        return []
    return sorted(zones, key=lambda path: ("-mmio" in path.name, path.name))


def _rail(name: str) -> str | None:
    """`psys`, the whole platform as its board defines it, is not a rail."""
    return _RAIL_NAMES.get(name) or next((rail for mark, rail in _RAILS if mark.match(name)), None)


def _read(zones: list[Zone]) -> dict[Zone, int]:
    """The counters that can be read, in µJ."""
    counters = {}
    for zone in zones:
        value = _whole(_text(zone.counter))
        if value is not None:
            counters[zone] = value
    if not counters:
        raise PowerLostError(
            ROOT_ONLY if zones else "the energy counters were removed", FIX if zones else "", state=UNAVAILABLE
        )
    return counters


def _sample(zones: list[Zone], before: Mapping[Zone, int], after: Mapping[Zone, int], elapsed_ns: int) -> PowerSample:
    """Mean power; a rail of which a zone could not be read is absent, for a part is not the whole."""
    mw: dict[str, float | None] = {}
    for rail in dict.fromkeys(zone.rail for zone in zones):
        energies = [energy_uj(zone, before.get(zone), after.get(zone)) for zone in zones if zone.rail == rail]
        known = [energy for energy in energies if energy is not None]
        # 1 µJ / ns is 1000 W: µJ * 1e6 / ns is mW.
        mw[rail] = milliwatts(sum(known) * 1e6 / elapsed_ns) if len(known) == len(energies) else None
    return make_sample("rapl", elapsed_ns, mw, flags=(PARTIAL,) if None in mw.values() else ())


def energy_uj(zone: Zone, before: int | None, after: int | None) -> int | None:
    """What was used between two readings, over the counter's wrap; None where it is unknown."""
    if before is None or after is None:
        return None
    if after >= before:
        return after - before
    return None if zone.range_uj is None or before > zone.range_uj else after + zone.range_uj - before


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def _whole(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() else None
