"""Sessions and series for judging: Table 4's, and correlated ones whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hettop import events
from hettop.analysis.unit_samples import WALL, Measured
from hettop.session.session import Session
from tests.streams import MS, header, window

Samples = npt.NDArray[np.float64]


def correlated(rng: np.random.Generator, n: int, rho: float) -> Samples:
    """Standard normal AR(1) series."""
    from scipy.signal import lfilter

    noise = rng.normal(0, np.sqrt(1 - rho * rho), n + 200)
    return np.asarray(lfilter([1.0], [1.0, -rho], noise)[200:])


def latencies(rng: np.random.Generator, n: int, rho: float, median_ms: float = 2.5) -> Samples:
    """Log-normal latencies in ms, 10% wide, correlated by `rho`."""
    return np.asarray(median_ms * np.exp(0.1 * correlated(rng, n, rho)))


def stream_of(
    samples_ms: Mapping[str, Sequence[float] | Samples], *, load: str = "none", t0: int = 0, turns: int = 1
) -> list[events.AnyEvent]:
    """Steady windows, one of each unit in each turn."""
    found: list[events.AnyEvent] = []
    for turn in range(turns):
        for unit, values in samples_ms.items():
            begin, end = (len(values) * place // turns for place in (turn, turn + 1))
            part = window([round(value * MS) for value in values[begin:end]], unit=unit, load=load, t0=t0)
            t0 = part.t + 1000
            found.append(part)
    return found


def session_of(*streams: Sequence[events.AnyEvent], opening: events.Header | None = None) -> Session:
    session = Session()
    session.fold(opening or header())
    for stream in streams:
        for event in stream:
            session.fold(event)
    return session


def unit_of(
    samples_ms: Sequence[float] | Samples,
    *,
    unit: str = "CPU_ONLY",
    load: str = "none",
    series: str = WALL,
    turn: int = 0,
) -> Measured:
    """`turn`: samples in each turn; 0: turns are not known."""
    values = np.asarray(samples_ms, dtype=np.float64)
    return Measured(
        unit=unit,
        load=load,
        series=series,
        n=values.size,
        samples_ms=values,
        mean_ms=float(values.mean()),
        min_ms=float(values.min()),
        max_ms=float(values.max()),
        p50_ms=float(np.quantile(values, 0.5)),
        p90_ms=float(np.quantile(values, 0.9)),
        turns=np.arange(values.size) // turn if turn else None,
    )


def write(path: Path, *streams: Sequence[events.AnyEvent], opening: events.Header | None = None) -> Path:
    """The streams as a recording."""
    lines = [opening or header(), *(event for stream in streams for event in stream)]
    path.write_bytes(b"".join(events.encode(event) + b"\n" for event in lines))
    return path


def powered(unit: str, mw: Sequence[float], t0: int = 0) -> list[events.AnyEvent]:
    """A second at 10 W, which is too early to count for an interval, and one at each power; 10 ms an inference."""
    second = 10**9
    stream: list[events.AnyEvent] = []
    for k, each in enumerate([10_000.0, *mw]):
        end = t0 + (k + 1) * second
        stream.append(window([10 * MS] * 100, t0=end - second, gap=0, unit=unit))
        stream.append(events.Power(t=end, source="test", elapsed_ns=second, mw={"cpu": each}))
    return stream
