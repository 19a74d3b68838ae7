"""The power sources by name, best first: what measures most directly, then what needs least.

Imports none of them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """A power source. `place`: its module and class, which takes a `Machine`; `needs`: its requirements in words."""

    place: str
    needs: str = ""


SOURCES = {
    "powermetrics": SourceEntry(
        "hettop.sources.power.powermetrics:PowermetricsSource",
        "macOS, through sudo -n: run `sudo -v` first, in the same terminal",
    ),
    "macmon": SourceEntry("hettop.sources.power.macmon:MacmonSource", "macOS"),
    "zeus": SourceEntry("hettop.sources.power.zeus:ZeusSource", "macOS, pip install 'hettop[zeus]'"),
    "rapl": SourceEntry("hettop.sources.power.rapl:RaplSource", "Linux"),
    "hwmon": SourceEntry("hettop.sources.power.hwmon:HwmonSource", "Linux"),
    "accelerators": SourceEntry(
        "hettop.sources.power.accelerators:AcceleratorSource", "Linux; NVIDIA: pip install 'hettop[nvidia]'"
    ),
}

NONE = "none"
SIMULATED = "simulated"
FILE = "file:"
"""Before the path of a capture that is played."""
