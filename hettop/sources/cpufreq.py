"""Sets the frequency and the governor of all cores on Linux, and puts back what was set before.

Reads and writes files in a folder that is passed in: the kernel's /sys/devices/system/cpu/cpu*/cpufreq.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from hettop.errors import HettopError
from hettop.text import clean

FOLDER = Path("/sys/devices/system/cpu")
PERFORMANCE, ON_DEMAND = "performance", "ondemand"
KHZ_PER_MHZ = 1000
LOWEST, HIGHEST, GOVERNOR = "scaling_min_freq", "scaling_max_freq", "scaling_governor"
_CORE = re.compile(r"cpu[0-9]+")
HINT = "leave out --frequencies"

Write = Callable[[Path, str], object]


class CpuFrequency:
    """The frequencies that all cores have, and their governors.

    `write` writes a file. Whatever is set inside of a `with` is put back at its end, but not after SIGKILL.
    """

    def __init__(self, folder: Path = FOLDER, write: Write = Path.write_text) -> None:
        self._folder, self._write = folder, write

    def levels_mhz(self) -> tuple[float, ...]:
        """The lowest first; only the lowest and the highest where the kernel lists no others.

        Raises HettopError: `unsupported-unit` where they cannot be set, with the reason.
        """
        cores = self._cores()
        if not cores:
            raise _not_here(f"no core in {self._folder} has cpufreq: this system lets no program set frequencies")
        ends = {(_text(core / "cpuinfo_min_freq"), _text(core / "cpuinfo_max_freq")) for core in cores}
        if len(ends) > 1:
            raise _not_here("cores have different frequencies, and a device is a number of threads on any of them")
        low, high = (_khz(each) for each in ends.pop())
        if not 0 < low < high:
            raise _not_here("the cores have a single frequency")
        closed = [core / name for core in cores for name in (LOWEST, HIGHEST) if not os.access(core / name, os.W_OK)]
        if closed:
            raise _not_here(f"{closed[0]} cannot be written: only root sets frequencies", "use sudo")
        listed = [_khz(each) for each in _text(cores[0] / "scaling_available_frequencies").split()]
        found = {low, *(each for each in listed if low < each < high), high}
        return tuple(sorted(each / KHZ_PER_MHZ for each in found))

    def governors(self) -> tuple[str, ...]:
        """Those that can be set."""
        cores = self._cores()
        if not cores or not all(os.access(core / GOVERNOR, os.W_OK) for core in cores):
            return ()
        return tuple(_text(cores[0] / "scaling_available_governors").split())

    @contextmanager
    def fixed(self, mhz: float) -> Iterator[None]:
        """All cores at this frequency. Raises HettopError: `io` where the kernel does not take it."""
        khz = f"{mhz * KHZ_PER_MHZ:.0f}"
        with self._set({LOWEST: khz, HIGHEST: khz}):
            yield

    @contextmanager
    def governed(self, governor: str) -> Iterator[None]:
        """All cores under this governor. Raises HettopError: `io` where the kernel does not take it."""
        with self._set({GOVERNOR: governor}):
            yield

    @contextmanager
    def _set(self, values: Mapping[str, str]) -> Iterator[None]:
        cores = self._cores()
        before = {core: {name: _text(core / name) for name in values} for core in cores}
        with ExitStack() as put_back:
            for core in cores:
                put_back.callback(self._change, core, before[core])
                self._change(core, values)
            yield

    def _change(self, core: Path, values: Mapping[str, str]) -> None:
        """The lowest frequency goes down first: the kernel refuses one above the highest."""
        steps = list(values.items())
        if LOWEST in values:
            steps = [(LOWEST, _text(core / "cpuinfo_min_freq")), (HIGHEST, values[HIGHEST]), (LOWEST, values[LOWEST])]
        for name, value in steps:
            try:
                self._write(core / name, value)
            except OSError as error:
                raise HettopError("io", f"{core / name} cannot be set to {clean(value)}: {error.strerror}") from error
        for name, value in values.items():
            if _text(core / name) != value:
                raise HettopError("io", f"{core / name} stays {clean(_text(core / name))}: {clean(value)} was set")

    def _cores(self) -> Sequence[Path]:
        try:
            cores = [path / "cpufreq" for path in self._folder.iterdir() if _CORE.fullmatch(path.name)]
        except OSError:
            return ()
        return sorted(core for core in cores if core.is_dir())


def _text(path: Path) -> str:
    """Empty where it cannot be read."""
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _khz(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0


def _not_here(why: str, hint: str = HINT) -> HettopError:
    return HettopError("unsupported-unit", f"frequencies: n/a, {why}", hint)
