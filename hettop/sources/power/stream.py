"""The rows that `hettop power` prints on a terminal as they come: watts per rail, then mean and peak at the end.

Pure text; keeps sums and no samples, so that it may run for days.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hettop.format import significant
from hettop.sources.power.sample import MILLI, RAILS, PowerSample
from hettop.text import clean
from hettop.units import NS_PER_S

_CELL = 9
_TIME = 8


@dataclass(slots=True)
class Totals:
    """Of one rail: energy in mW ns, the time it was told for, and the highest power in mW."""

    energy: float = 0.0
    elapsed_ns: int = 0
    peak: float | None = None

    def add(self, mw: float | None, elapsed_ns: int) -> None:
        if mw is None:
            return
        self.energy += mw * elapsed_ns
        self.elapsed_ns += elapsed_ns
        self.peak = mw if self.peak is None else max(self.peak, mw)

    @property
    def mean(self) -> float | None:
        """Over time; None if it was never told."""
        return self.energy / self.elapsed_ns if self.elapsed_ns else None


@dataclass(slots=True)
class Stream:
    """Rows for one source; the rails of the first sample decide on the columns, and later ones may add theirs."""

    rails: tuple[str, ...] = ()
    elapsed_ns: int = 0
    n: int = 0
    totals: dict[str, Totals] = field(default_factory=lambda: {rail: Totals() for rail in RAILS})

    def row(self, sample: PowerSample) -> str:
        """A row, after a heading where the columns have changed; ends with a line feed."""
        self.n += 1
        self.elapsed_ns += sample.elapsed_ns or 0
        for rail in RAILS:
            self.totals[rail].add(sample.measured_mw(rail), sample.elapsed_ns or 0)
        rails = tuple(rail for rail in RAILS if rail in self.rails or sample.mw[rail] is not None)
        heading = "" if rails == self.rails and self.n > 1 else _row("s", *(f"{rail} W" for rail in rails))
        self.rails = rails
        rest = " ".join(clean(word, 20) for word in (sample.thermal or "", *sample.flags))
        watts = (_watts(sample.mw[rail]) for rail in rails)
        return heading + _row(f"{self.elapsed_ns / NS_PER_S:.1f}", *watts, rest=rest)

    def end(self) -> str:
        """Mean over time and peak."""
        if not self.n:
            return ""
        means = (_watts(self.totals[rail].mean) for rail in self.rails)
        peaks = (_watts(self.totals[rail].peak) for rail in self.rails)
        return _row("mean", *means) + _row("peak", *peaks)


def _watts(mw: float | None) -> str:
    return significant(None if mw is None else mw / MILLI)


def _row(time: str, *cells: str, rest: str = "") -> str:
    line = time.rjust(_TIME) + "".join(cell.rjust(max(_CELL, len(cell) + 2)) for cell in cells)
    return f"{line}  {rest}".rstrip() + "\n"
