"""The null zoo: latencies whose truth is known, for each kind of dependence that a device shows.

Every generator gives `n` latencies in ms with a median near 10, stationary from the first one on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt
from scipy.signal import lfilter

Samples = npt.NDArray[np.float64]
Null = Callable[[np.random.Generator, int], Samples]

MEDIAN_MS = 10.0
WIDTH = 0.1
"""Standard deviation of the log latency."""


def lognormal(rng: np.random.Generator, n: int) -> Samples:
    return np.asarray(MEDIAN_MS * np.exp(WIDTH * rng.normal(size=n)))


def bimodal(rng: np.random.Generator, n: int) -> Samples:
    return np.asarray(lognormal(rng, n) * np.where(rng.random(n) < 0.4, 1.5, 1.0))


def ties(rng: np.random.Generator, n: int) -> Samples:
    """A clock of 1 ms steps."""
    return np.asarray(np.round(lognormal(rng, n)))


def autoregressive(rho: float) -> Null:
    """AR(1) of the log latency with correlation `rho` between neighbours."""

    def draw(rng: np.random.Generator, n: int) -> Samples:
        noise = rng.normal(scale=np.sqrt(1 - rho * rho), size=n)
        noise[0] = rng.normal()
        return np.asarray(MEDIAN_MS * np.exp(WIDTH * lfilter([1.0], [1.0, -rho], noise)))

    return draw


def states(stay: int, ratio: float = 1.5) -> Null:
    """Two states, equally likely, each left after `stay` calls on average."""

    def draw(rng: np.random.Generator, n: int) -> Samples:
        flips = rng.random(n) < 1 / stay
        flips[0] = rng.random() < 0.5
        slow = np.cumsum(flips) % 2
        return np.asarray(lognormal(rng, n) * np.where(slow, ratio, 1.0))

    return draw


def bursts(length: int, share: float, ratio: float = 5.0) -> Null:
    """`share` of the calls take `ratio` times as long, `length` calls in a row each time."""

    def draw(rng: np.random.Generator, n: int) -> Samples:
        starts = rng.random(n + length) < share / length
        covered = np.convolve(starts, np.ones(length))[length : length + n] > 0
        return np.asarray(lognormal(rng, n) * np.where(covered, ratio, 1.0))

    return draw


def turns(per_turn: int, spread: float = 0.03) -> Null:
    """Every turn of `per_turn` calls has a level of its own."""

    def draw(rng: np.random.Generator, n: int) -> Samples:
        levels = np.exp(spread * rng.normal(size=-(-n // per_turn)))
        return np.asarray(lognormal(rng, n) * np.repeat(levels, per_turn)[:n])

    return draw


def waves(period: int, height: float = 0.1) -> Null:
    """A slow wave of random phase."""

    def draw(rng: np.random.Generator, n: int) -> Samples:
        phase = rng.random()
        return np.asarray(lognormal(rng, n) * (1 + height * np.sin(2 * np.pi * (np.arange(n) / period + phase))))

    return draw


NULLS: Mapping[str, Null] = {
    "iid lognormal": lognormal,
    "iid bimodal": bimodal,
    "ties": ties,
    "AR .5": autoregressive(0.5),
    "AR .9": autoregressive(0.9),
    "AR .98": autoregressive(0.98),
    "states staying 50": states(50),
    "states staying 200": states(200),
    "states staying 1000": states(1000),
    "bursts of 40": bursts(40, 0.02),
    "bursts of 250": bursts(250, 0.02),
    "bursts of 250, 3%": bursts(250, 0.03),
    "wave of 2000": waves(2000),
}


def true_quantile(null: Null, q: float, seed: int = 1) -> float:
    """The q-quantile of a stationary null, from twenty million calls: two million have some 160 bursts of 250."""
    rng = np.random.default_rng(seed)
    return float(np.quantile(np.concatenate([null(rng, 1_000_000) for _ in range(20)]), q))
