"""How often the fold says what is not so: drift, causes of spikes and modes, on the null zoo. Rows of `truth`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from benchmarks.nulls import NULLS, Null, Samples, autoregressive, states
from hettop.events import Samples as Window
from hettop.session.session import Session

Trial = Callable[[np.random.Generator], Sequence[bool]]
Case = tuple[str, Sequence[str], Trial]

LENGTHS = (5_000, 50_000, 200_000)
WINDOW = 1_000
NS = 1e6
"""Of a millisecond."""


def cases() -> Iterator[Case]:
    yield from _drift_cases()


def _drift_cases() -> Iterator[Case]:
    for name, null in {"AR .9": autoregressive(0.9), "states staying 500": states(500)}.items():
        for n in LENGTHS:
            yield f"{name}, n={n:,}", ("drift",), _drift_trial(null, n)
    for name, null in {**NULLS, "AR .998": autoregressive(0.998)}.items():
        yield f"{name}, n=50,000", ("drift",), _drift_trial(null, 50_000)


def _drift_trial(null: Null, n: int) -> Trial:
    def trial(rng: np.random.Generator) -> Sequence[bool]:
        return (drifted(null(rng, n)) is not None,)

    return trial


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
