"""hwmon as a source: power sensors of Linux drivers; only sensors labelled with what they measure are used.

Reads files in a folder that is passed in; writes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from hettop.sources.power.accelerators import Accelerators
from hettop.sources.power.sample import ESTIMATED, PowerSample, make_sample, milliwatts
from hettop.sources.power.source import (
    UNAVAILABLE,
    Availability,
    Machine,
    PowerLostError,
    ReadingInterval,
    of_another_system,
)

FOLDER = Path("class/hwmon")
UW_PER_MW = 1000
SHORTEST_NS = 50 * 10**6
# Drivers whose one power reading is by their documentation the processor's, though it has no label.
SOCKET_DRIVERS = frozenset({"fam15h_power"})
# A label of the whole machine, of what feeds it, or of a limit is not a rail.
_NO_RAIL = re.compile(r"system|total|input|adapter|batter|limit|cap|psu|\bac\b|\bdc\b", re.IGNORECASE)
_RAILS = (
    (re.compile(r"package|socket|\bpkg\b|RAPL_P_Package", re.IGNORECASE), "package"),
    (re.compile(r"\bgpu\b|graphics", re.IGNORECASE), "gpu"),
    (re.compile(r"\bdram\b|\bddr|memory", re.IGNORECASE), "dram"),
    (re.compile(r"\bcpu\b|SVI2_P_Core|RAPL_P_Core|\bcores?\b", re.IGNORECASE), "cpu"),
)


@dataclass(frozen=True, slots=True)
class Sensor:
    """A reading in µW of a rail."""

    rail: str
    path: Path


class HwmonSource:
    """Power sensors with a label that says which rail they are on."""

    name = "hwmon"
    resolution_mj: float | None = None

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._folder = machine.sysfs / FOLDER
        self._interval = ReadingInterval(machine.now, machine.wait)

    @property
    def note(self) -> str:
        return "readings at the end of each window, not means (estimated)"

    def granted_ns(self, asked_ns: int) -> int | None:
        return max(SHORTEST_NS, asked_ns)

    def probe(self) -> Availability:
        if self._machine.is_mac:
            return of_another_system("Linux")
        sensors, others = sensors_in(self._folder)
        if not sensors:
            some = "no power sensor has a known label" if others else f"no power sensor in {self._folder}"
            return Availability(False, some, impossible=True, absent=True)
        if not any(_read(sensor.path) is not None for sensor in sensors):
            return Availability(False, "cannot read the power sensors")
        return Availability(True)

    def samples(self, interval_ns: int) -> Generator[PowerSample, None, None]:
        """A sample at the end of each interval; PowerLostError when no sensor can be read any more."""
        sensors, _ = sensors_in(self._folder)
        began: int | None = None
        with Accelerators(self._machine) as accelerators:
            for _ in self._interval.moments(max(SHORTEST_NS, interval_ns)):
                now = self._machine.now()
                if began is not None and now > began:
                    yield accelerators.beside(_sample(sensors, now - began))
                began = now

    def stop(self) -> None:
        self._interval.stop()


def sensors_in(folder: Path) -> tuple[list[Sensor], int]:
    """The sensors of a rail, and how many others there are; averages are preferred to readings of a moment."""
    found: dict[str, Sensor] = {}
    others = 0
    for path in sorted(folder.glob("hwmon*/power*_average")) + sorted(folder.glob("hwmon*/power*_input")):
        stem = path.name.rpartition("_")[0]
        rail = _rail(_text(path.parent / "name"), _text(path.parent / f"{stem}_label"))
        if rail is None:
            others += 1
            continue
        found.setdefault(f"{path.parent.name}/{stem}", Sensor(rail, path))
    return list(found.values()), others


def _rail(driver: str, label: str) -> str | None:
    if not label:
        return "package" if driver in SOCKET_DRIVERS else None
    if _NO_RAIL.search(label):
        return None
    return next((rail for mark, rail in _RAILS if mark.search(label)), None)


def _sample(sensors: list[Sensor], elapsed_ns: int) -> PowerSample:
    mw: dict[str, float | None] = {}
    for rail in dict.fromkeys(sensor.rail for sensor in sensors):
        readings = [_read(sensor.path) for sensor in sensors if sensor.rail == rail]
        known = [reading for reading in readings if reading is not None]
        # Sockets add up; of any other rail two sensors may see the same current.
        whole = len(known) == len(readings) and (rail == "package" or len(readings) == 1)
        mw[rail] = milliwatts(sum(known) / UW_PER_MW) if whole else None
    if all(value is None for value in mw.values()):
        raise PowerLostError("the power sensors can no longer be read", state=UNAVAILABLE)
    return make_sample("hwmon", elapsed_ns, mw, flags=(ESTIMATED,))


def _read(path: Path) -> int | None:
    text = _text(path)
    return int(text) if text.isascii() and text.isdecimal() else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
