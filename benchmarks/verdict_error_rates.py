"""Error rates of comparisons of two runs on correlated data whose truth is known; `benchmarks.truth` has the rest.

Run: python benchmarks/verdict_error_rates.py [--seeds 200]. Prints a Markdown table; docs/method/verdict.md holds one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # so that it runs from a checkout, too

from scipy.signal import lfilter

from hettop.analysis.quantile_differences import QuantileDifference, quantile_differences
from hettop.analysis.runs import LEVELS
from hettop.stats.quantiles import samples_needed

Samples = npt.NDArray[np.float64]
Row = tuple[str, str, str]

DEFAULT_SEEDS = 200
MEMORIES = (0.0, 0.6, 0.9)
WIDTH = 0.1  # standard deviation of the log latency


def latencies(rng: np.random.Generator, n: int, rho: float, median_ms: float = 2.5) -> Samples:
    """Log-normal, autocorrelated by `rho` (AR 1), after a start long enough to be forgotten."""
    noise = rng.normal(0, np.sqrt(1 - rho * rho), n + 200)
    return np.asarray(median_ms * np.exp(WIDTH * lfilter([1.0], [1.0, -rho], noise)[200:]))


def comparison_rows(seeds: int) -> Iterator[Row]:
    for rho in MEMORIES:
        for n in (200, 700, 2000):
            alarms = held = 0
            for seed in range(seeds):
                rng = np.random.default_rng(seed)
                found = differences(latencies(rng, n, rho), latencies(rng, n, rho), 0.0, rng)
                alarms += any(quantile.regressed for quantile in found.values())
                held += found["p50"].ci_ms[0] <= 0 <= found["p50"].ci_ms[1]
            what = f"same twice, n = {n}, autocorrelation {rho:g}"
            yield (
                what,
                "false regression at tolerance 0; coverage of the P50 interval",
                f"{percent(alarms, seeds)}; {percent(held, seeds)}",
            )
    for slower, tolerance in ((1.05, 0.0), (1.05, 0.02), (1.05, 0.05), (1.1, 0.05)):
        hits = 0
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            found = differences(latencies(rng, 2000, 0.6), slower * latencies(rng, 2000, 0.6), tolerance, rng)
            hits += any(quantile.regressed for quantile in found.values())
        what = f"{slower - 1:.0%} slower, n = 2000, autocorrelation 0.6"
        yield what, f"regression found at tolerance {tolerance:.0%}", percent(hits, seeds)


def differences(a: Samples, b: Samples, tolerance: float, rng: np.random.Generator) -> dict[str, QuantileDifference]:
    names = [name for name, level in LEVELS.items() if a.size >= samples_needed(level) or name == "p50"]
    return quantile_differences(a, b, names, tolerance, rng)


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=DEFAULT_SEEDS, help="independent data sets per case (%(default)s)")
    seeds = parser.parse_args().seeds
    print("| case | what | measured |\n|---|---|---|")
    for row in comparison_rows(seeds):
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
