"""Power of the simulated Apple M2: plausible rails for the running unit, seeded, counted in whole mJ.

Measures nothing; the session around it is marked SIMULATED.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass

from hettop.events import NO_LOAD, Gpu, split_row
from hettop.sources.power.sample import POWERMETRICS_STEP_MJ, ClusterFigures, PowerSample, make_sample
from hettop.sources.power.source import Availability, ReadingInterval, Wait

SHORTEST_NS = 50 * 10**6
MW_PER_MJ_PER_NS = 1e9
NOISE = 0.03  # of each window's power
CORES = 8


@dataclass(frozen=True, slots=True)
class Draw:
    """Mean power of the rails in mW and busy shares, while something runs without pause."""

    cpu: float
    gpu: float
    ane: float
    e_busy: float = 0.0
    p_busy: float = 0.0
    gpu_busy: float = 0.0


IDLE = Draw(cpu=110, gpu=12, ane=0, e_busy=0.06, p_busy=0.01, gpu_busy=0.01)
# Added to IDLE by a unit that runs all the time: guesses, of the order that M2 machines show.
UNITS: Mapping[str, Draw] = {
    "CPU_ONLY": Draw(cpu=5900, gpu=0, ane=0, e_busy=0.10, p_busy=0.92),
    "CPU_AND_GPU": Draw(cpu=850, gpu=4100, ane=0, e_busy=0.12, p_busy=0.20, gpu_busy=0.85),
    "CPU_AND_NE": Draw(cpu=700, gpu=0, ane=1450, e_busy=0.10, p_busy=0.16),
    "ALL": Draw(cpu=760, gpu=60, ane=1420, e_busy=0.11, p_busy=0.18, gpu_busy=0.01),
}
# Added by each worker or client of a competing load.
LOADS: Mapping[str, Draw] = {
    "cpu": Draw(cpu=1150, gpu=0, ane=0, e_busy=0.05, p_busy=0.20),
    "memory": Draw(cpu=950, gpu=0, ane=0, e_busy=0.05, p_busy=0.18),
    "gpu": Draw(cpu=150, gpu=3800, ane=0, p_busy=0.03, gpu_busy=0.60),
    "ane": Draw(cpu=120, gpu=0, ane=1300, p_busy=0.03),
}
HIGHEST = Draw(cpu=11_000, gpu=9_500, ane=4_500, e_busy=1, p_busy=1, gpu_busy=1)


class SimulatedSource:
    """Power source of `--demo`: the same seed, clock and reports of what runs give the same samples."""

    name = "simulated"
    note = "simulated: nothing was measured"
    resolution_mj: float | None = POWERMETRICS_STEP_MJ

    def __init__(self, now: Callable[[], int], seed: int = 0, wait: Wait | None = None) -> None:
        self._now = now
        self._random = random.Random(seed)  # noqa: S311 - a simulation, no secret
        self._pace = ReadingInterval(now, wait)
        self._lock = threading.Lock()
        self._changes: list[tuple[int, Draw]] = [(now(), IDLE)]

    def told_running(self, unit: str | None, load: str = NO_LOAD, busy: float = 1.0) -> None:
        """From now on `unit` runs (None: nothing) under `load`, for a share `busy` of the time. From any thread."""
        draw = draw_of(unit, load, busy)
        with self._lock:
            if draw != self._changes[-1][1]:
                self._changes.append((self._now(), draw))

    def granted_ns(self, asked_ns: int) -> int | None:
        return max(SHORTEST_NS, asked_ns)

    def probe(self) -> Availability:
        return Availability(True)

    def samples(self, interval_ns: int) -> Generator[PowerSample, None, None]:
        """A sample at the end of each interval: what was drawn in it, unit by unit."""
        began: int | None = None
        for moment in self._pace.moments(max(SHORTEST_NS, interval_ns)):
            if began is not None and moment > began:
                yield self._sample(began, moment)
            began = moment

    def stop(self) -> None:
        self._pace.stop()

    def _sample(self, began: int, ended: int) -> PowerSample:
        elapsed_ns = ended - began
        drawn = self._mean(began, ended)
        mw = {rail: self._counted(getattr(drawn, rail), elapsed_ns) for rail in ("cpu", "gpu", "ane")}
        return make_sample(
            self.name,
            elapsed_ns,
            {**mw, "combined": sum(mw.values())},  # as powermetrics prints it
            clusters=(
                ClusterFigures("E-Cluster", 912 + 1512 * drawn.e_busy, drawn.e_busy, 2424),
                ClusterFigures("P-Cluster", 660 + 2844 * drawn.p_busy, drawn.p_busy, 3504),
            ),
            gpu=Gpu(mhz=444 + 954 * drawn.gpu_busy, busy=drawn.gpu_busy),
            thermal="Nominal",
        )

    def _counted(self, mw: float, elapsed_ns: int) -> float:
        """With noise, and in whole mJ."""
        noisy = mw * (1 + NOISE * self._random.uniform(-1, 1))
        return round(noisy * elapsed_ns / MW_PER_MJ_PER_NS) * MW_PER_MJ_PER_NS / elapsed_ns

    def _mean(self, began: int, ended: int) -> Draw:
        """Average power since the last call."""
        with self._lock:
            changes = list(self._changes)
            later = [index for index, (moment, _) in enumerate(changes) if moment <= ended]
            del self._changes[: later[-1] if later else 0]
        moments = [max(began, min(moment, ended)) for moment, _ in changes]
        spans = [after - before for before, after in zip(moments, [*moments[1:], ended], strict=True)]
        return _sum([(draw, span / (ended - began)) for (_, draw), span in zip(changes, spans, strict=True)])


def draw_of(unit: str | None, load: str, busy: float = 1.0) -> Draw:
    """What is drawn while `unit` runs for a share `busy` of the time under a load such as `cpu:2+memory:1@50%`."""
    parts = [(IDLE, 1.0)]
    if unit is not None:
        parts.append((UNITS.get(split_row(unit)[0].partition("@")[0], UNITS["CPU_ONLY"]), busy))
    parts += [(LOADS[what], level) for what, level in _levels(load) if what in LOADS]
    return _sum(parts)


def _levels(load: str) -> Iterator[tuple[str, float]]:
    """Kinds of competing load, each with its level times its duty."""
    for part in load.split("+"):
        what, _, amount = part.partition(":")
        level, _, duty = amount.partition("@")
        try:
            yield what, min(CORES, float(level)) * (float(duty.rstrip("%")) / 100 if duty else 1.0)
        except ValueError:
            continue


def _sum(parts: list[tuple[Draw, float]]) -> Draw:
    """The weighted sum, no more than the machine can draw."""

    def total(field: str) -> float:
        highest: float = getattr(HIGHEST, field)
        return min(highest, sum(float(getattr(draw, field)) * weight for draw, weight in parts))

    return Draw(**{field: total(field) for field in ("cpu", "gpu", "ane", "e_busy", "p_busy", "gpu_busy")})
