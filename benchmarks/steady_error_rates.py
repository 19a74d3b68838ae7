"""Error rates of the end of a warm-up and of the warning of a slower clock, on data whose truth is known.

Run: python benchmarks/steady_error_rates.py [--seeds 200]. Prints the tables of docs/method/statistics.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # so that it runs from a checkout, too

from hettop.stats.clock import REPORTS, clock_loss, has_lost
from hettop.stats.steady import TOLERANCE, steady_at

Values = npt.NDArray[np.float64]
Noise = Callable[[np.random.Generator], Values]

DEFAULT_SEEDS = 200
MOST = 1000
MINUTES, SECONDS_A_SESSION, LOSS_AT = 60, 600, 300


def correlated(rng: np.random.Generator) -> Values:
    """Spread 5 %, autocorrelation .6."""
    found = rng.standard_normal(MOST)
    for i in range(1, MOST):
        found[i] = 0.6 * found[i - 1] + 0.8 * found[i]
    return np.asarray(0.05 * found)


def sticky(rng: np.random.Generator) -> Values:
    """Two modes a fifth apart, each lasting some 20 calls."""
    state = np.cumsum(rng.random(MOST) < 0.05) % 2
    return np.asarray(0.02 * rng.standard_normal(MOST) + 0.2 * state)


NOISES: Mapping[str, Noise] = {
    "2 %": lambda rng: np.asarray(0.02 * rng.standard_normal(MOST)),
    "10 %": lambda rng: np.asarray(0.10 * rng.standard_normal(MOST)),
    "5 %, autocorrelation .6": correlated,
    "two modes": lambda rng: np.asarray(0.02 * rng.standard_normal(MOST) + 0.2 * (rng.random(MOST) < 0.3)),
    "two sticky modes": sticky,
}


def shapes() -> Iterator[tuple[str, Values]]:
    """Excess over what is steady, call by call."""
    calls = np.arange(MOST)
    yield "steady from the start", np.zeros(MOST)
    yield "10 calls 1.5 times as slow", np.where(calls < 10, 0.5, 0.0)
    for share, decay in ((0.2, 20), (0.5, 20), (2.0, 20), (0.2, 60), (0.5, 60)):
        yield f"+{share:.0%}, falling to 1/e in {decay} calls", np.asarray(share * np.exp(-calls / decay))
    yield "rising by 20 %, 60 calls", np.asarray(0.2 * (1 - np.exp(-calls / 60)))


def warm_up_cell(excess: Values, noise: Noise, seeds: int) -> str:
    """How often the warm-up ends too early, the median of calls too many, how often it ends at its cap."""
    left = np.abs(excess - excess[-1]) / (1 + excess[-1])
    truth = int(np.flatnonzero(left <= TOLERANCE)[0])
    ends = []
    for seed in range(seeds):
        values = 2e6 * np.exp(noise(np.random.default_rng(seed))) * (1 + excess)
        ends.append(steady_at([round(value) for value in values.tolist()]))
    early = sum(end is not None and end < truth for end in ends) / seeds
    late = float(np.median([(end or MOST) - truth for end in ends]))
    return f"{early:.1%}, {late:.0f}, {sum(end is None for end in ends) / seeds:.1%}"


def reports(seed: int, seconds: int) -> list[int]:
    """The canary's fixed work: 2 % of spread, one report in ten disturbed."""
    rng = np.random.default_rng(seed)
    times = 320_000 * (1 + 0.02 * rng.standard_normal(seconds)) * np.where(rng.random(seconds) < 0.1, 1.3, 1.0)
    return [round(value) for value in times.tolist()]


def warned_at(times: list[int]) -> int | None:
    ends = range(2 * REPORTS, len(times) + 1)
    return next((end for end in ends if has_lost(clock_loss(times[:REPORTS], times[end - REPORTS : end]))), None)


def clock_rows(seeds: int) -> Iterator[tuple[str, str]]:
    hours = max(1, seeds // 10)  # an hour is 3,600 looks
    false = sum(warned_at(reports(seed, MINUTES * 60)) is not None for seed in range(hours))
    yield f"false warning in an hour ({hours} hours)", f"{false / hours:.1%}"
    for loss in (0.06, 0.1, 0.2):
        after = []
        for seed in range(seeds):
            times = reports(seed, SECONDS_A_SESSION)
            end = warned_at([*times[:LOSS_AT], *(round(value / (1 - loss)) for value in times[LOSS_AT:])])
            after.append(None if end is None else end - LOSS_AT)
        found = [seconds for seconds in after if seconds is not None]
        told = f"found in {len(found) / seeds:.1%}, after {np.median(found):.0f} s" if found else "never found"
        yield f"clock {loss:.0%} slower", told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=DEFAULT_SEEDS, help="independent data sets per case (%(default)s)")
    seeds = parser.parse_args().seeds
    print("| warm-up | " + " | ".join(NOISES) + " |\n|---|" + "---|" * len(NOISES))
    for name, excess in shapes():
        cells = [warm_up_cell(excess, noise, seeds) for noise in NOISES.values()]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    print("\n| clock | measured |\n|---|---|")
    for name, told in clock_rows(seeds):
        print(f"| {name} | {told} |", flush=True)


if __name__ == "__main__":
    main()
