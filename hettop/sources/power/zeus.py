"""zeus-apple-silicon as a source: energy over windows, from a library that is an optional extra.

Imports it only when asked for samples or whether it is there.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from hettop.processes.framework_errors import named_reason
from hettop.sources.power.sample import PowerSample, make_sample, milliwatts
from hettop.sources.power.source import (
    UNAVAILABLE,
    Availability,
    Machine,
    PowerLostError,
    ReadingInterval,
    of_another_system,
)
from hettop.text import clean
from hettop.units import NS_PER_S

MODULE = "zeus_apple_silicon"
STEP_MJ = 1.0  # it reports whole mJ
SHORTEST_NS = 50 * 10**6  # below it a whole mJ is more than 20 mW
# Its names of energies; the earliest releases called the CPU's the second one.
ENERGIES = {"cpu": ("cpu_total_mj", "cpu_mj"), "gpu": ("gpu_mj",), "ane": ("ane_mj",), "dram": ("dram_mj",)}
# Two windows take turns, so that each begins before the other ends and no energy falls between them.
WINDOWS = ("hettop 0", "hettop 1")


class ZeusSource:
    """Rails of Apple silicon, without sudo and without another program."""

    name = "zeus"
    resolution_mj: float | None = STEP_MJ

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._interval = ReadingInterval(machine.now, machine.wait)

    @property
    def note(self) -> str:
        return "its CPU energy is wrong on Ultra chips and left out" if self._is_ultra else ""

    def granted_ns(self, asked_ns: int) -> int | None:
        return max(SHORTEST_NS, asked_ns)

    def probe(self) -> Availability:
        if not self._machine.is_mac:
            return of_another_system("macOS")
        try:
            self._monitor()
        except PowerLostError as lost:
            absent = lost.state == UNAVAILABLE  # not installed; whatever else it says is a fault
            return Availability(False, lost.message, lost.hint, impossible=True, absent=absent)
        return Availability(True)

    def samples(self, interval_ns: int) -> Generator[PowerSample, None, None]:
        """A sample at the end of each window; PowerLostError when the library fails."""
        monitor = self._monitor()
        began: int | None = None
        for turn, _ in enumerate(self._interval.moments(max(SHORTEST_NS, interval_ns))):
            try:
                monitor.begin_window(WINDOWS[turn % 2])
                now = self._machine.now()
                measurement = None if began is None else monitor.end_window(WINDOWS[(turn + 1) % 2])
            except Exception as error:  # noqa: BLE001 - a foreign library may raise anything
                raise _failed(error) from None
            if measurement is not None and began is not None and now > began:
                yield self._sample(measurement, now - began)
            began = now

    def stop(self) -> None:
        self._interval.stop()

    @property
    def _is_ultra(self) -> bool:
        return "ultra" in (self._machine.chip or "").lower()

    def _monitor(self) -> Any:
        try:
            return self._machine.load(MODULE).AppleEnergyMonitor()
        except ImportError:
            raise PowerLostError(
                "zeus-apple-silicon is not installed", "pip install 'hettop[zeus]'", state=UNAVAILABLE
            ) from None
        except Exception as error:  # noqa: BLE001 - a foreign library may raise anything
            raise _failed(error) from None

    def _sample(self, measurement: Any, elapsed_ns: int) -> PowerSample:
        mw = {rail: _power(measurement, names, elapsed_ns) for rail, names in ENERGIES.items()}
        if self._is_ultra:
            mw["cpu"] = None  # it assigns where it should sum the dies
        return make_sample(self.name, elapsed_ns, mw)


def _power(measurement: Any, names: tuple[str, ...], elapsed_ns: int) -> float | None:
    energies = [getattr(measurement, name, None) for name in names]
    energy_mj = next((each for each in energies if isinstance(each, int | float)), None)
    return None if energy_mj is None else milliwatts(energy_mj / (elapsed_ns / NS_PER_S))


def _failed(error: Exception) -> PowerLostError:
    return PowerLostError(clean(f"zeus-apple-silicon failed: {named_reason(error)}"))
