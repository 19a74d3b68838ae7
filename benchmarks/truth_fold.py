"""How often the fold says what is not so: drift, causes of spikes and modes, on the null zoo. Rows of `truth`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from benchmarks.nulls import NULLS, Null, Samples, autoregressive, states
from hettop.events import Samples as Window
from hettop.session import causes
from hettop.session.session import Session
from hettop.stats.causes import Verdict
from hettop.stats.modes import find_modes
from tests.session.storms import SECONDS, Storm, folded

Spikes = Callable[[Storm], list[int]]
"""When there are spikes, ms."""

Trial = Callable[[np.random.Generator], Sequence[bool]]
Case = tuple[str, Sequence[str], Trial]

LENGTHS = (5_000, 50_000, 200_000)
WINDOW = 1_000
NS = 1e6
"""Of a millisecond."""


def cases() -> Iterator[Case]:
    yield from _drift_cases()
    yield from _cause_cases()
    yield from _mode_cases()


def _drift_cases() -> Iterator[Case]:
    for name, null in {
        "AR .9": autoregressive(0.9),
        "states staying 500": states(500),
        "states staying 1,000": states(1000),
    }.items():
        for n in LENGTHS:
            yield f"{name}, n={n:,}", ("drift",), _drift_trial(null, n)
    for name, null in {**NULLS, "AR .998": autoregressive(0.998)}.items():
        yield f"{name}, n=50,000", ("drift",), _drift_trial(null, 50_000)


def _drift_trial(null: Null, n: int) -> Trial:
    def trial(rng: np.random.Generator) -> Sequence[bool]:
        return (drifted(null(rng, n)) is not None,)

    return trial


def _mode_cases() -> Iterator[Case]:
    for name, null in {f"AR {rho:g}": autoregressive(rho) for rho in (0.9, 0.98, 0.998)}.items():
        for n in (300, 1_000, 5_000, 10_000):
            yield f"{name}, n={n:,}", ("several modes, firm",), _mode_trial(null, n)


def _mode_trial(null: Null, n: int) -> Trial:
    def trial(rng: np.random.Generator) -> Sequence[bool]:
        found = find_modes(null(rng, n) * NS)
        return (len(found.modes) > 1 and not found.tentative,)

    return trial


def _cause_cases() -> Iterator[Case]:
    spikes: dict[str, Spikes] = {
        "random spikes": lambda storm: storm.random_spikes(int(storm.rng.integers(5, 120))),
        "spikes and events denser early": _denser_early,
        "bursts of spikes": lambda storm: sorted(t + 50 * i for t in storm.random_spikes(12) for i in range(8)),
        **{f"a spike each {ms / 1000:g} s": _periodic(ms) for ms in (1_000, 1_500, 2_000, 2_500)},
    }
    for name, draw in spikes.items():
        yield name, ("a cause of spikes",), _cause_trial(draw)


def _cause_trial(draw: Spikes) -> Trial:
    def trial(rng: np.random.Generator) -> Sequence[bool]:
        storm = Storm(int(rng.integers(1 << 30)))
        return (bool(named_causes(storm, draw(storm))),)

    return trial


def _denser_early(storm: Storm) -> list[int]:
    """Both fall to 1/e in 20 s."""
    end = SECONDS * 1000
    for cause, n in ((causes.MINOR, 300), (causes.SWITCH, 120), (causes.LOAD, 12), (causes.COLLECTION, 12)):
        storm.at[cause] = _falling(storm, n, end)
    return _falling(storm, 60, end)


def _falling(storm: Storm, n: int, end: int) -> list[int]:
    drawn = 2_000 + storm.rng.exponential(20_000, n)
    return sorted(int(t) for t in drawn if t < end)


def _periodic(interval_ms: int) -> Spikes:
    def draw(storm: Storm) -> list[int]:
        first = 2_000 + int(storm.rng.integers(0, interval_ms))
        return [t + int(storm.rng.integers(0, 10)) for t in range(first, SECONDS * 1000, interval_ms)]

    return draw


def named_causes(storm: Storm, spikes: list[int], slow_ns: tuple[int, int] = (35_000_000, 45_000_000)) -> set[int]:
    session = folded(storm.events(spikes, slow_ns))
    (condition,) = session.conditions.values()
    judged = condition.found.judged(session.causes.of(condition.key.unit))
    return {cause for cause, each in judged.items() if each.verdict is Verdict.MORE}


def drifted(samples: Samples) -> int | None:
    """How many of the samples, in ms, had come when a session that folds them reported drift; None if it did not."""
    session = Session(raw_limit=0, trailing=False)
    latencies = np.round(samples * NS).astype(np.int64)
    t0 = 0
    for begin in range(0, len(latencies), WINDOW):
        part = latencies[begin : begin + WINDOW]
        t = t0 + int(part.sum())
        gaps = np.zeros(len(part), dtype=np.int64)
        session.fold(
            Window(t=t, unit="U", condition="none", phase="steady", t0=t0, n=len(part), gap_ns=gaps, lat_ns=part)
        )
        t0 = t
    (condition,) = session.conditions.values()
    found = condition.drift.found()
    return None if found is None else int(np.searchsorted(np.cumsum(latencies), found.known_ns)) + 1
