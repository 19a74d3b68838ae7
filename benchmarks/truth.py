"""How often hettop says that something is proven where nothing is true: the null zoo through the analysis functions.

Every row is a share of false statements, to be at most 5%. `python -m benchmarks truth [--quick]`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.nulls import NULLS, Null, Samples, autoregressive, lognormal, states, true_quantile, turns
from benchmarks.plan import Plan
from benchmarks.rows import Row
from hettop import events
from hettop.analysis.budget import Budget, MeasuredEnergy, judge, judge_energy
from hettop.analysis.comparison import LEVELS, quantile_differences
from hettop.analysis.ranking import difference
from hettop.analysis.unit_samples import WALL, Measured
from hettop.session.session import Session
from hettop.session.statistics import energy_of
from hettop.stats.quantiles import early_stopping_rank, samples_needed
from hettop.stats.resampling import quantile_bounds
from hettop.studies.coexec.rates import standing

SEEDS, QUICK_SEEDS = 400, 40
MOST_FALSE = 0.05
SIZES = (200, 1000, 5000)
LEVELS_JUDGED = (0.9, 0.99)
TURN, TURNS = 50, (4, 7, 10, 20)
JUST = 1e-9
"""A limit this share below the true quantile is not met, and this share above it is met."""

POWER_WINDOWS = (1, 6, 12, 30)

Trial = Callable[[np.random.Generator], Sequence[bool]]
"""One data set: for each statement of a row, whether it was false."""


def measure(plan: Plan) -> Iterator[Row]:
    seeds = QUICK_SEEDS if plan.quick else SEEDS
    for name, statements, trial in _cases():
        found = np.array([trial(np.random.default_rng(1000 + seed)) for seed in range(seeds)])
        for statement, rate in zip(statements, found.mean(axis=0), strict=True):
            yield _row(f"{statement}: {name}", float(rate), seeds)


def _row(what: str, rate: float, seeds: int) -> Row:
    error = np.sqrt(max(rate * (1 - rate), 1 / seeds / 4) / seeds)
    return Row(what, "≤ 5%", f"{rate:.1%}", f"±{1.96 * error:.1%}", seeds, rate <= MOST_FALSE)


def _cases() -> Iterator[tuple[str, Sequence[str], Trial]]:
    for level in LEVELS_JUDGED:
        for name, null in NULLS.items():
            truth = true_quantile(null, level)
            for n in SIZES:
                if n >= samples_needed(level):
                    yield f"{name}, n={n:,}", _budget_statements(level), _budget_trial(null, n, level, truth)
    for name, null in NULLS.items():
        yield f"{name}, n=1,000", ("early stopping P90 too low",), _early_stopping_trial(null, 1000)
    for name, null in {**NULLS, "turns of their own": turns(TURN)}.items():
        for count in TURNS:
            yield f"equal units, {count} turns of {TURN}, {name}", ("order proven",), _order_trial(null, count)
    for name, null in (("AR .9", autoregressive(0.9)), ("states staying 200", states(200))):
        yield f"same twice, {name}, n=2,000", ("regression",), _comparison_trial(null, 0.0, 0.02)
    for offset in (0.02, 0.05):
        yield f"runs differ by {offset:.0%} (sd), n=2,000", ("regression",), _comparison_trial(lognormal, offset, 0.05)
    for rounds in (3, 4, 5, 8):
        yield f"no gain, {rounds} rounds", ("gain proven",), _gain_trial(rounds)
    for count in POWER_WINDOWS:
        for name, rho, ramp in (("independent", 0.0, 0.0), ("AR .7", 0.7, 0.0), ("with ramps", 0.0, 3.0)):
            what = f"power windows of 5% (sd), {name}, n={count}"
            yield what, ("energy budget met", "energy budget not met"), _energy_trial(count, rho, ramp)


def _budget_statements(level: float) -> Sequence[str]:
    name = f"P{100 * level:g}"
    return f"{name} interval misses", f"budget at {name} met", f"budget at {name} not met"


def _budget_trial(null: Null, n: int, level: float, truth: float) -> Trial:
    def trial(rng: np.random.Generator) -> Sequence[bool]:
        samples = null(rng, n)
        bounds = quantile_bounds(samples, level)
        low, high = bounds.low is None or bounds.low <= truth, bounds.high is None or truth <= bounds.high
        met = judge(_measured(samples), Budget(truth * (1 - JUST), level), paced_at=None).met
        missed = judge(_measured(samples), Budget(truth * (1 + JUST), level), paced_at=None).met
        return not (low and high), met is True, missed is False

    return trial


def _early_stopping_trial(null: Null, n: int) -> Trial:
    truth = true_quantile(null, 0.9)
    rank = early_stopping_rank(n, 0.9)
    assert rank is not None

    def trial(rng: np.random.Generator) -> Sequence[bool]:
        return (bool(np.sort(null(rng, n))[rank - 1] < truth),)

    return trial


def _order_trial(null: Null, count: int) -> Trial:
    """Two units that take `count` turns each of a process of its own, which goes on while the other one runs."""

    def trial(rng: np.random.Generator) -> Sequence[bool]:
        found = []
        for name in "AB":
            samples = null(rng, 2 * count * TURN).reshape(count, 2, TURN)[:, 0].ravel()
            found.append(replace(_measured(samples, name), turns=np.repeat(np.arange(count), TURN)))
        first, second = sorted(found, key=lambda unit: unit.mean_ms)
        return (difference(first, second).proven,)

    return trial


def _comparison_trial(null: Null, offset: float, tolerance: float) -> Trial:
    names = [name for name, level in LEVELS.items() if samples_needed(level) <= 2000]

    def trial(rng: np.random.Generator) -> Sequence[bool]:
        a, b = (_measured(null(rng, 2000) * np.exp(offset * rng.normal())) for _ in range(2))
        found = quantile_differences(a, b, names, tolerance, rng)
        return (any(quantile.regressed for quantile in found.values()),)

    return trial


def _gain_trial(rounds: int) -> Trial:
    """Together as fast as the best alone; blocks differ by 3% (sd)."""

    def trial(rng: np.random.Generator) -> Sequence[bool]:
        together, best = 100 * np.exp(0.03 * rng.normal(size=(2, rounds)))
        return (standing(list(together), list(best), list(2 * best), 0.5).proven is True,)

    return trial


def _energy_trial(count: int, rho: float, ramp: float) -> Trial:
    """A unit of 1 W and 10 mJ per inference with `count` power windows, and one more at the beginning of each turn.

    ramp: so many times its own power more at the beginning of each turn, with a time constant of 100 ms; then turns
    have at most seven windows.
    """
    turns = -(-count // 6) if ramp else 1
    per_turn = -(-count // turns) + 1

    def trial(rng: np.random.Generator) -> Sequence[bool]:
        levels = 1 + 0.05 * _stationary(rng, count + turns, rho)
        levels[::per_turn] += ramp * 0.2 * (1 - np.exp(-5))  # its mean over half a second
        energy = _energy_of(1000 * levels, per_turn)
        met, missed = (judge_energy(energy, 10 * (1 + side * JUST)).met for side in (-1, 1))
        return met is True, missed is False

    return trial


def _stationary(rng: np.random.Generator, n: int, rho: float) -> Samples:
    """AR(1) with standard deviation 1."""
    found = rng.normal(size=n)
    for k in range(1, n):
        found[k] = rho * found[k - 1] + np.sqrt(1 - rho * rho) * found[k]
    return found


def _energy_of(mw: Samples, per_turn: int) -> MeasuredEnergy:
    """What the fold of a session finds of these power windows of half a second, with a rest between turns.

    Every turn is covered from end to end: its first window has all of the ramp.
    """
    half, per_window = 500_000_000, 50
    session = Session(0, trailing=False)
    latencies = np.full(per_window, half // per_window)
    for k, each in enumerate(mw.tolist()):
        begin = half * (k + k // per_turn)
        first = k % per_turn == 0
        gaps = np.zeros(per_window, dtype=np.int64)
        samples = events.Samples(
            t=begin + half,
            unit="U",
            condition="none",
            phase="steady",
            n=per_window,
            t0=begin,
            lat_ns=latencies,
            gap_ns=gaps,
        )
        if first:
            session.fold(events.Dropped(t=begin, n=1, why="the end of a turn", unit="U"))
        session.fold(samples)
        session.fold(events.Power(t=begin + half, source="test", elapsed_ns=half, mw={"cpu": each}))
    (condition,) = session.conditions.values()
    found = energy_of(session, condition)
    assert found is not None
    low, high = found.interval_mj() or (None, None)
    return MeasuredEnergy("U", found.mj, low, high, found.windows, found.coverage)


def _measured(samples: Samples, unit: str = "U") -> Measured:
    p50, p90 = np.quantile(samples, (0.5, 0.9)).tolist()
    low, high, mean = float(samples.min()), float(samples.max()), float(samples.mean())
    return Measured(unit, "none", WALL, samples.size, samples, mean, low, high, p50, p90)
