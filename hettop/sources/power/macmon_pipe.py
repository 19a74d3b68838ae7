"""`macmon pipe` as a source: needs no password, and tells what powermetrics tells by another way.

Knows the program and its options; the parser knows its lines.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from dataclasses import replace

from hettop.sources.power.child import ChildOutput
from hettop.sources.power.machine import Machine
from hettop.sources.power.macmon import MacmonParser
from hettop.sources.power.sample import ESTIMATED, FLAGS, PowerSample
from hettop.sources.power.source import Availability, PowerLostError, of_another_system
from hettop.text import clean
from hettop.units import NS_PER_MS

PROGRAM = "macmon"
SHORTEST_NS = 100 * 10**6  # it waits at least this long
MOST_LOST = 20
RUST_NOTE = "note: run with `RUST_BACKTRACE"  # the last line of a panic; why it panicked stands above it
FAREWELL_S = 0.2  # it runs as the user, who need not wait for its next write: it is ended
UNRELIABLE_FROM = 27
# Programs built before macOS 26 are told 16 for 26, and so on.
OLD_NAMES = range(17, 26)


class MacmonSource:
    """What macmon reads of a Mac, without sudo."""

    name = "macmon"
    resolution_mj: float | None = None

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._child: ChildOutput | None = None
        self._stopped = False

    @property
    def note(self) -> str:
        return "on this macOS its CPU power is unreliable (estimated)" if self._unreliable else ""

    def granted_ns(self, asked_ns: int) -> int | None:
        return max(SHORTEST_NS, asked_ns)

    def probe(self) -> Availability:
        if not self._machine.is_mac:
            return of_another_system("macOS")
        if self._machine.find(PROGRAM) is None:
            return Availability(False, "macmon is not installed", "brew install macmon", impossible=True, absent=True)
        return Availability(True)

    def samples(self, interval_ns: int) -> Generator[PowerSample, None, None]:
        """A sample for each of its lines, until it is stopped; PowerLostError when it ends before."""
        self._stopped = False
        path = self._machine.find(PROGRAM)
        if path is None:
            raise PowerLostError("macmon has gone", "brew install macmon")
        argv = (path, "pipe", "-i", str(max(SHORTEST_NS, interval_ns) // NS_PER_MS))
        try:
            self._child = ChildOutput(argv, self._machine, farewell_s=FAREWELL_S)
        except OSError as error:
            raise PowerLostError(f"macmon cannot be started: {error.strerror}", "brew reinstall macmon") from None
        parser, n = MacmonParser(), 0
        with closing(self._child.chunks()) as chunks:
            for chunk in chunks:
                if self._stopped:
                    break
                for sample in parser.feed(chunk):
                    parser.lost.clear()
                    n += 1
                    yield self._marked(sample)
                if sum(parser.lost.values()) > MOST_LOST:
                    raise PowerLostError("macmon prints what cannot be read", "brew upgrade macmon")
        if not self._stopped:
            raise _lost(self._child, n)

    def stop(self) -> None:
        self._stopped = True
        if self._child is not None:
            self._child.stop()

    @property
    def _unreliable(self) -> bool:
        major = self._machine.release.partition(".")[0]
        return major.isdecimal() and (int(major) >= UNRELIABLE_FROM or int(major) in OLD_NAMES)

    def _marked(self, sample: PowerSample) -> PowerSample:
        if not self._unreliable or ESTIMATED in sample.flags:
            return sample
        return replace(sample, flags=tuple(flag for flag in FLAGS if flag in (*sample.flags, ESTIMATED)))


def _lost(child: ChildOutput, n: int) -> PowerLostError:
    said = [line for line in child.last_words if not line.startswith(RUST_NOTE)]
    words = f": {said[-1]}" if said else ""
    status = None if child.exit is None else child.exit.status
    ended = f"ended (exit {status})" if status else "ended"
    return PowerLostError(
        clean(f"macmon {ended}{'' if n else ' without a sample'}{words}"), "" if n else "macmon pipe -s 1"
    )
