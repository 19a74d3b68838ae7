"""How large the last level of the processor's cache is, as the system tells it.

Where files and commands are comes in from outside; a machine that does not tell is unknown, not small.
"""

from __future__ import annotations

import contextlib
import re
import sys
from pathlib import Path

from hettop.sources.macos import SYSCTL, sysctl

SYSFS = Path("/sys/devices/system/cpu/cpu0/cache")
SYSCTL_NAMES = ("hw.l3cachesize", "hw.perflevel0.l2cachesize", "hw.l2cachesize")
"""Apple does not tell the size of its system-level cache: the L2 of the fast cores is the last one known."""

_SUFFIXES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def last_level_cache_bytes(platform: str = sys.platform, sysfs: Path = SYSFS, command: str = SYSCTL) -> int | None:
    """Bytes of the last-level cache that the first core sees, None if the system does not tell."""
    return _from_sysctl(command) if platform == "darwin" else _from_sysfs(sysfs)


def _from_sysfs(folder: Path) -> int | None:
    found: dict[int, int] = {}
    for index in sorted(folder.glob("index*")):
        with contextlib.suppress(OSError, ValueError):
            size = re.fullmatch(r"(\d+)([KMG]?)", (index / "size").read_text().strip())
            if size and (index / "type").read_text().strip() != "Instruction":
                found[int((index / "level").read_text())] = int(size[1]) * _SUFFIXES[size[2]]
    return found[max(found)] if found else None


def _from_sysctl(command: str) -> int | None:
    for name in SYSCTL_NAMES:
        with contextlib.suppress(ValueError):
            if (size := int(sysctl(name, command))) > 0:
                return size
    return None
