"""Error rates of hettop's statistics on data whose truth is known: how often they warn falsely, and miss.

Run: python benchmarks/stats_error_rates.py [--seeds 200]. Prints a Markdown table; docs/method/statistics.md holds one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # so that it runs from a checkout, too

from benchmarks.truth_fold import drifted, named_causes
from hettop.session import causes
from hettop.stats.histogram import Histogram, bucket_middle
from hettop.stats.modes import find_modes, find_modes_weighted
from hettop.stats.quantiles import interval_of
from hettop.stats.resampling import resampled_levels
from hettop.stats.spikes import fence_of_histogram, fence_of_samples
from tests.session.storms import Storm

Samples = npt.NDArray[np.float64]
Row = tuple[str, str, str]
Shape = Callable[[np.random.Generator, int], Samples]

DEFAULT_SEEDS = 200
SPIKES_PER_RUN = 10
COVERAGE_RUNS_PER_SEED = 20
COMPARISONS_PER_SEED = 5
QUANTILES = (0.1, 0.5, 0.9, 0.989, 0.99, 0.999)


def normal(rng: np.random.Generator, n: int) -> Samples:
    return np.asarray(rng.normal(1.8e6, 5e4, n))


def lognormal(rng: np.random.Generator, n: int) -> Samples:
    return np.asarray(1.8e6 * np.exp(rng.normal(0, 0.1, n)))


def skewed(rng: np.random.Generator, n: int) -> Samples:
    return np.asarray(1.5e6 + rng.gamma(2.0, 5e4, n))


def mixture(rng: np.random.Generator, n: int, shares: list[float], medians_ms: list[float], sigma: float) -> Samples:
    part = rng.choice(len(shares), n, p=shares)
    return np.asarray(np.array(medians_ms)[part] * 1e6 * np.exp(rng.normal(0, sigma, n)))


def bimodal(rng: np.random.Generator, n: int) -> Samples:
    return mixture(rng, n, [0.6, 0.4], [1.70, 1.89], 0.012)


def trimodal(rng: np.random.Generator, n: int) -> Samples:
    return mixture(rng, n, [0.4, 0.35, 0.25], [1.5, 1.68, 1.9], 0.02)


def close_trimodal(rng: np.random.Generator, n: int) -> Samples:
    """Neighbours 3.7 standard deviations apart, where two equal peaks have a valley of .37."""
    return mixture(rng, n, [0.4, 0.3, 0.3], [1.5, 1.66, 1.837], 0.0275)


def lopsided_bimodal(rng: np.random.Generator, n: int) -> Samples:
    return mixture(rng, n, [0.85, 0.15], [1.7, 1.93], 0.02)


def far_bimodal(rng: np.random.Generator, n: int) -> Samples:
    """One sample in five takes twice as long: beyond the spike fence of the rest."""
    return mixture(rng, n, [0.8, 0.2], [1.7, 3.4], 0.03)


def sticky_bimodal(rng: np.random.Generator, n: int) -> Samples:
    """Stays in a mode for 50 samples on average, as a clock that changes its step does."""
    state = np.cumsum(rng.random(n) < 1 / 50) % 2
    return np.asarray(np.where(state == 0, 1.70e6, 1.89e6) * np.exp(rng.normal(0, 0.012, n)))


def stalls(rng: np.random.Generator, n: int) -> Samples:
    return np.asarray(np.where(rng.random(n) < 0.01, 138e6, 1.8e6 * np.exp(rng.normal(0, 0.03, n))))


def heavy_tail(rng: np.random.Generator, n: int) -> Samples:
    return np.asarray(5e5 * (1 + rng.pareto(1.5, n)))


def correlated(rng: np.random.Generator, n: int, rho: float) -> Samples:
    """Log-normal latencies whose logs are AR(1), stationary from the start."""
    from scipy.signal import lfilter

    noise = rng.normal(0, np.sqrt(1 - rho * rho), n)
    noise[0] /= np.sqrt(1 - rho * rho)
    return np.asarray(1.8e6 * np.exp(0.05 * lfilter([1.0], [1.0, -rho], noise)))


SPIKE_SHAPES: dict[str, Shape] = {
    "normal": normal,
    "log-normal": lognormal,
    "skewed": skewed,
    "bimodal": bimodal,
    "sticky bimodal": sticky_bimodal,
}
ONE_MODE_SHAPES: dict[str, Shape] = {
    "normal": normal,
    "log-normal": lognormal,
    "skewed": skewed,
    "autocorrelation .6": lambda rng, n: correlated(rng, n, 0.6),
    "autocorrelation .9": lambda rng, n: correlated(rng, n, 0.9),
}
MANY_MODES_SHAPES: dict[str, tuple[Shape, int]] = {
    "2 of 2, 9 sd apart": (bimodal, 2),
    "3 of 3, 6 sd apart": (trimodal, 3),
    "3 of 3, 3.7 sd apart": (close_trimodal, 3),
    "2 of 2, 6 sd apart, 85 and 15 %": (lopsided_bimodal, 2),
    "2 of 2, the second one sample in five at twice the latency": (far_bimodal, 2),
}


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %"


def interval_rows(seeds: int) -> Iterator[Row]:
    n, q, true_log = 100, 0.9, 1.2815515655446004  # the standard normal's P90
    runs = seeds * COVERAGE_RUNS_PER_SEED
    for name, rho in (("independent samples", 0.0), ("autocorrelation .6", 0.6)):
        truth = 1.8e6 * np.exp(0.05 * true_log)
        hits = dict.fromkeys(("order statistics", "bootstrap"), 0)
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            for _ in range(COVERAGE_RUNS_PER_SEED):
                samples = np.sort(correlated(rng, n, rho))
                low, high = interval_of(samples, q)
                hits["order statistics"] += low is not None and high is not None and low <= truth <= high
                spread = np.quantile(resampled_levels(samples, [q], 1, 500, rng), (0.025, 0.975))
                hits["bootstrap"] += bool(spread[0] <= truth <= spread[1])
        for method, count in hits.items():
            yield "95 % interval of P90, n = 100: coverage", f"{method}, {name}", percent(count, runs)


def spike_rows(seeds: int) -> Iterator[Row]:
    n = 1000
    rules: dict[str, Callable[[Samples], float]] = {
        "hettop, samples": lambda x: fence_of_samples(x) or np.inf,
        "hettop, histogram": lambda x: fence_of_histogram(histogram_of(x)) or np.inf,
        "mean + 3 sd": lambda x: float(x.mean() + 3 * x.std()),
        "Tukey 1.5 IQR": lambda x: float(np.quantile(x, 0.75) * 2.5 - 1.5 * np.quantile(x, 0.25)),
    }
    for rule, limit in rules.items():
        false, recall = {}, {}
        for name, shape in SPIKE_SHAPES.items():
            false[name], found = 0, 0
            for seed in range(seeds):
                rng = np.random.default_rng(seed)
                calm = shape(rng, n)
                false[name] += int((calm > limit(calm)).sum())
                spikes = np.median(calm) * np.exp(rng.uniform(np.log(1.6), np.log(80), SPIKES_PER_RUN))
                found += int((spikes > limit(np.concatenate((calm, spikes)))).sum())
            recall[name] = 100 * found / (seeds * SPIKES_PER_RUN)
        per_ten_thousand = ", ".join(f"{1e4 * count / (n * seeds):.1f}" for count in false.values())
        yield f"spikes: false per 10,000 ({', '.join(SPIKE_SHAPES)})", rule, per_ten_thousand
        yield (
            "spikes: recall, 1 % of samples at 1.6 to 80 x median",
            rule,
            f"{min(recall.values()):.1f} to {max(recall.values()):.1f} %",
        )


def small_sample_spike_rows(seeds: int) -> Iterator[Row]:
    for n in (20, 50, 100):
        rates = {}
        for name, shape in SPIKE_SHAPES.items():
            runs = (shape(np.random.default_rng((seed, n)), n) for seed in range(seeds * 20))
            rates[name] = sum(int((x > (fence_of_samples(x) or np.inf)).sum()) for x in runs) / (seeds * 20 * n)
        text = ", ".join(f"{1e4 * rate:.1f}" for rate in rates.values())
        yield "spikes: false per 10,000, same shapes, short runs", f"n = {n}", text


def mode_rows(seeds: int) -> Iterator[Row]:
    for n in (100, 300, 1000):
        for name, (shape, expected) in MANY_MODES_SHAPES.items():
            runs = [shape(np.random.default_rng(seed), n) for seed in range(seeds)]
            found = [find_modes(run) for run in runs]
            right = [modes for modes in found if len(modes.modes) == expected]
            firm = sum(not modes.tentative for modes in right)
            through = sum(modes_through_histogram(run) == expected for run in runs)
            measured = f"{percent(len(right), seeds)} ({percent(firm, seeds)}; {percent(through, seeds)})"
            yield f"modes: {name} (firmly; through the histogram)", f"n = {n}", measured
        rates = []
        for shape in ONE_MODE_SHAPES.values():
            found = [find_modes(shape(np.random.default_rng(seed), n)) for seed in range(seeds)]
            several = [modes for modes in found if len(modes.modes) > 1]
            rates.append(f"{percent(len(several), seeds)} ({percent(sum(not m.tentative for m in several), seeds)})")
        yield f"modes: false second one (firmly) on {', '.join(ONE_MODE_SHAPES)}", f"n = {n}", ", ".join(rates)


def modes_through_histogram(samples: Samples) -> int:
    index, counts = histogram_of(samples).nonzero()
    return len(find_modes_weighted(bucket_middle(index), counts).modes)


def comparison_rows(seeds: int) -> Iterator[Row]:
    from scipy.stats import mannwhitneyu

    n, runs = 400, seeds * COMPARISONS_PER_SEED
    for name, rho, shift in (
        ("same, independent", 0.0, 1.0),
        ("same, autocorrelation .6", 0.6, 1.0),
        ("2 % slower, autocorrelation .6", 0.6, 1.02),
    ):
        told_apart = dict.fromkeys(("P50, blocks of 20", "P90, blocks of 20", "P50, single samples", "Mann-Whitney"), 0)
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            for _ in range(COMPARISONS_PER_SEED):
                a, b = correlated(rng, n, rho), shift * correlated(rng, n, rho)
                told_apart["P50, blocks of 20"] += excludes_zero(a, b, 0.5, 20, rng)
                told_apart["P90, blocks of 20"] += excludes_zero(a, b, 0.9, 20, rng)
                told_apart["P50, single samples"] += excludes_zero(a, b, 0.5, 1, rng)
                told_apart["Mann-Whitney"] += bool(mannwhitneyu(a, b).pvalue < 0.05)
        for method, count in told_apart.items():
            yield f"comparison, 400 a side, {name}: told apart", method, percent(count, runs)


def excludes_zero(a: Samples, b: Samples, q: float, block: int, rng: np.random.Generator) -> bool:
    low, high = np.quantile(
        resampled_levels(b, [q], block, 500, rng) - resampled_levels(a, [q], block, 500, rng), (0.025, 0.975)
    )
    return not low <= 0 <= high


def histogram_rows(seeds: int) -> Iterator[Row]:
    shapes: dict[str, Shape] = {"normal": normal, "bimodal": bimodal, "heavy tail": heavy_tail, "1 % at 138 ms": stalls}
    for name, shape in shapes.items():
        worst = 0.0
        for seed in range(seeds):
            samples = shape(np.random.default_rng(seed), 10_000).astype(np.int64)
            estimates = histogram_of(samples).quantiles(QUANTILES)
            for exact, estimate in zip(np.quantile(samples, QUANTILES).tolist(), estimates, strict=True):
                worst = max(worst, abs((estimate or 0.0) / exact - 1))
        yield "histogram: worst error of P10, P50, P90, P98.9, P99, P99.9", name, f"{100 * worst:.2f} %"
    for size in (1, 64, 256, 1024):
        batch = normal(np.random.default_rng(0), size).astype(np.int64)
        yield "histogram: cost per value (this machine)", f"batches of {size}", f"{nanoseconds_per_value(batch):.0f} ns"


def nanoseconds_per_value(batch: npt.NDArray[np.int64]) -> float:
    hist, rounds, best = Histogram(), 500, float("inf")
    for _ in range(5):
        start = time.perf_counter_ns()
        for _ in range(rounds):
            hist.add(batch)
        best = min(best, (time.perf_counter_ns() - start) / (rounds * batch.size))
    return best


def histogram_of(samples: npt.NDArray[np.floating] | npt.NDArray[np.integer]) -> Histogram:
    hist = Histogram()
    hist.add(samples.astype(np.int64))
    return hist


def state_rows(seeds: int) -> Iterator[Row]:
    """The fence where there are several states, against one fence for all of them."""
    shapes: dict[str, Shape] = {
        "60 and 40 %, 11 % apart": bimodal,
        "one in five at twice the latency": far_bimodal,
        "one in twelve at twice the latency": lambda rng, n: mixture(rng, n, [0.92, 0.08], [1.7, 3.4], 0.03),
        "halves, one at twice the latency": lambda rng, n: mixture(rng, n, [0.5, 0.5], [1.7, 3.4], 0.03),
        "60 and 40 %, one at three times the latency": lambda rng, n: mixture(rng, n, [0.6, 0.4], [1.0, 3.0], 0.05),
        "the simulated GPU unit": simulated_gpu,
        "Pareto 1.5 (no states, heavy tail)": heavy_tail,
    }
    rules: dict[str, Callable[[Samples], float]] = {
        "per state": lambda x: fence_of_samples(x) or np.inf,
        "one for all": one_fence,
    }
    for n in (100, 300, 1000):
        for name, shape in shapes.items():
            told = []
            for limit in rules.values():
                false = found = 0
                for seed in range(seeds):
                    rng = np.random.default_rng(seed)
                    calm = shape(rng, n)
                    false += int((calm > limit(calm)).sum())
                    stalls = np.quantile(calm, 0.99) * np.exp(rng.uniform(np.log(1.6), np.log(40), n // 100))
                    found += int((stalls > limit(np.concatenate((calm, stalls)))).sum())
                told.append(f"{1e4 * false / (n * seeds):.1f} and {percent(found, seeds * (n // 100))}")
            yield (
                f"fence, {name}: false per 10,000 and recall (with one fence for all)",
                f"n = {n}",
                f"{told[0]} ({told[1]})",
            )


def one_fence(samples: Samples) -> float:
    logs = np.log(samples)
    median = float(np.median(logs))
    return max(float(np.exp(median + 10 * np.median(np.abs(logs - median)))), 1.5 * float(np.median(samples)))


def simulated_gpu(rng: np.random.Generator, n: int) -> Samples:
    """Two modes 11 % apart that come in blocks of six, and a third in one call of a hundred."""
    from hettop.sources.engine.backends.simulated import M2

    modes = M2["CPU_AND_GPU"].modes
    odds = np.cumsum([mode.share for mode in modes])
    mode, found = modes[0], np.empty(n)
    for i in range(n):
        if rng.random() < 1 / mode.stay:
            mode = modes[int(np.searchsorted(odds, rng.random() * odds[-1]))]
        found[i] = mode.floor_ms + (mode.median_ms - mode.floor_ms) * np.exp(mode.sigma * rng.standard_normal())
    return 1e6 * found


def drift_rows(seeds: int) -> Iterator[Row]:
    shapes: dict[str, Shape] = {
        "log-normal, sd 5 %": lambda rng, n: correlated(rng, n, 0.0),
        "bimodal": bimodal,
        "sticky bimodal": sticky_bimodal,
        "close trimodal": close_trimodal,
        "1 % at 138 ms": stalls,
        "autocorrelation .6": lambda rng, n: correlated(rng, n, 0.6),
        "autocorrelation .9": lambda rng, n: correlated(rng, n, 0.9),
        "log-normal, sd 30 %": lambda rng, n: np.asarray(1.8e6 * np.exp(rng.normal(0, 0.3, n))),
    }
    step_at, n = 3000, 12_000
    for name, shape in shapes.items():
        false, late = 0, []
        for seed in range(seeds):
            samples = shape(np.random.default_rng(seed), n)
            false += drifted(samples / 1e6) is not None
            samples[step_at:] *= 1.196
            at = drifted(samples / 1e6)
            late += [] if at is None or at < step_at else [at - step_at]
        median, most = np.quantile(late, (0.5, 0.95)).tolist()
        measured = (
            f"{percent(false, seeds)}; {percent(len(late), seeds)} after {median:.0f} samples, 95 % after {most:.0f}"
        )
        yield f"drift: false alarms in {n:,} samples; a step of 19.6 % found", name, measured


def cause_rows(seeds: int) -> Iterator[Row]:
    """Whole sessions of 90 s in which everything happens that may disturb, through the fold."""
    chance = sum(
        bool(named_causes(storm, storm.random_spikes(int(storm.rng.integers(5, 120)))))
        for storm in map(Storm, range(seeds))
    )
    yield "causes of spikes: any named although spikes come by chance", "5 to 120 spikes", percent(chance, seeds)
    bursts = sum(bool(named_causes(storm, in_bursts(storm))) for storm in map(Storm, range(seeds)))
    yield "causes of spikes: any named although spikes come by chance", "bursts of 8 in .4 s", percent(bursts, seeds)
    stalls = sum(
        bool(named_causes(storm, storm.random_spikes(25), (600_000_000, 1_200_000_000)))
        for storm in map(Storm, range(seeds))
    )
    yield "causes of spikes: any named although spikes come by chance", "stalls of .6 to 1.2 s", percent(stalls, seeds)
    for cause in (*causes.OF_MACHINE, *causes.OF_ENGINE):
        found = others = 0
        for storm in map(Storm, range(seeds)):
            named = named_causes(storm, sorted(storm.spikes_of(cause, 0.8) + storm.random_spikes(10)))
            found += cause in named
            others += bool(named - {cause})
        half = sum(cause in named_causes(storm, half_of(storm, cause)) for storm in map(Storm, range(seeds)))
        measured = f"{percent(found, seeds)} ({percent(others, seeds)}); of half of the spikes {percent(half, seeds)}"
        happened = len(Storm(0).at[cause])
        words = f"{causes.CAUSES[cause].words}, {happened} times"
        yield "causes of spikes: the right one named (another, too)", words, measured


def half_of(storm: Storm, cause: int) -> list[int]:
    """Spikes of which half were caused by `cause`."""
    caused = storm.spikes_of(cause, 0.8)
    return sorted(caused + storm.random_spikes(len(caused)))


def in_bursts(storm: Storm) -> list[int]:
    """A dozen times, eight spikes in a row."""
    return sorted(t + 50 * i for t in storm.random_spikes(12) for i in range(8))


PARTS = (
    interval_rows,
    spike_rows,
    small_sample_spike_rows,
    state_rows,
    cause_rows,
    mode_rows,
    drift_rows,
    comparison_rows,
    histogram_rows,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=DEFAULT_SEEDS, help="independent data sets per case (%(default)s)")
    parser.add_argument("--parts", nargs="*", help="which of them: interval, spike, state, mode, drift, cause … (all)")
    asked = parser.parse_args()
    seeds, wanted = asked.seeds, [f"{name}_rows" for name in asked.parts or ()]
    print("| what | case | measured |\n|---|---|---|")
    for part in PARTS if not wanted else [part for part in PARTS if part.__name__ in wanted]:
        start = time.perf_counter()
        for row in part(seeds):
            print("| " + " | ".join(row) + " |", flush=True)
        print(f"{part.__name__}: {time.perf_counter() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
