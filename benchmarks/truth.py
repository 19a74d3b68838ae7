"""How often hettop says that something is proven where nothing is true: the null zoo through the analysis functions.

Every row is a share of false statements, to be at most 5%. `python -m benchmarks truth [--quick]`. With TRUTH=word in
the environment, only the cases whose name has this word.
"""

from __future__ import annotations

import gc
import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.nulls import NULLS, Null, Samples, autoregressive, bursts, lognormal, states, true_quantile, turns
from benchmarks.plan import Plan
from benchmarks.rows import Row
from benchmarks.truth_fold import cases as cases_of_the_fold
from benchmarks.truth_looks import cases_of_looks
from hettop import events
from hettop.analysis.budget import Budget, MeasuredEnergy, judge, judge_energy
from hettop.analysis.comparison import compare
from hettop.analysis.ranking import difference
from hettop.analysis.runs import Run, RunCondition, condition_of
from hettop.analysis.unit_samples import RESPONSE, WALL, Measured
from hettop.session.session import Session
from hettop.session.statistics import energy_of
from hettop.sources.engine.frames import StateReport
from hettop.sources.engine.job import Limits, RunMode, Slots
from hettop.sources.engine.loop import Sampler
from hettop.sources.engine.schedule import block_ns
from hettop.stats.quantiles import early_stopping_rank
from hettop.stats.resampling import dependence_time, quantile_bounds
from hettop.studies.coexec.rates import standing
from tests.sources.engine.fakes import MS, FakeBackend, FakeClock, ListedOut, ScriptedState

SEEDS, QUICK_SEEDS = 400, 40
MOST_FALSE = 0.05
SIZES = {0.9: (200, 1000, 8000), 0.99: (828, 5000, 80_000)}
IN_TURNS = ((10, 10), (10, 50), (20, 50), (10, 200))
"""How many turns of how many calls."""

LEVELS_JUDGED = (0.9, 0.99)
TURN, TURNS = 50, (4, 7, 10, 20)
JUST = 1e-9
"""A limit this share below the true quantile is not met, and this share above it is met."""

POWER_WINDOWS = (1, 6, 12, 30)

Trial = Callable[[np.random.Generator], Sequence[bool]]
"""One data set: for each statement of a row, whether it was false."""


def measure(plan: Plan) -> Iterator[Row]:
    seeds = QUICK_SEEDS if plan.quick else SEEDS
    only = os.environ.get("TRUTH", "")
    for name, statements, trial in _cases():
        if only not in name:
            continue
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
            for n in SIZES[level]:
                yield f"{name}, n={n:,}", _budget_statements(level), _budget_trial(null, n, level, truth)
            for count, turn in IN_TURNS:
                yield (
                    f"{name}, {count} turns of {turn}",
                    _budget_statements(level),
                    _budget_trial(null, count * turn, level, truth, turn),
                )
    for name, null in NULLS.items():
        yield f"{name}, n=1,000", ("early stopping P90 too low",), _early_stopping_trial(null, 1000)
    for name, null in {**NULLS, "turns of their own": turns(TURN)}.items():
        for count in TURNS:
            yield f"equal units, {count} turns of {TURN}, {name}", ("order proven",), _order_trial(null, count)
    name = f"a call in 200 takes 400 ms, 30 Hz, turns of two units, n={STALLS_N:,}"
    yield name, ("budget at P99 of the response met",), _rate_trial(STALLS_N)
    yield from _comparison_cases()
    yield from cases_of_the_fold()
    yield from cases_of_looks(true_quantile)
    for rounds in (3, 4, 5, 8):
        yield f"no gain, {rounds} rounds", ("gain proven",), _gain_trial(rounds)
    for count in POWER_WINDOWS:
        for name, rho, ramp in (("independent", 0.0, 0.0), ("AR .7", 0.7, 0.0), ("with ramps", 0.0, 3.0)):
            what = f"power windows of 5% (sd), {name}, n={count}"
            yield what, ("energy budget met", "energy budget not met"), _energy_trial(count, rho, ramp)


def _budget_statements(level: float) -> Sequence[str]:
    name = f"P{100 * level:g}"
    return f"{name} interval misses", f"budget at {name} met", f"budget at {name} not met"


def _budget_trial(null: Null, n: int, level: float, truth: float, turn: int = 0) -> Trial:
    """`turn`: calls in each turn of a process that goes on while another unit has its turn; 0: in one stretch."""

    def trial(rng: np.random.Generator) -> Sequence[bool]:
        samples = null(rng, 2 * n).reshape(-1, 2, turn)[:, 0].ravel() if turn else null(rng, n)
        bounds = quantile_bounds(samples, level)
        low, high = bounds.low is None or bounds.low <= truth, bounds.high is None or truth <= bounds.high
        met = judge(_measured(samples, turn=turn), Budget(truth * (1 - JUST), level), paced_at=None).met
        missed = judge(_measured(samples, turn=turn), Budget(truth * (1 + JUST), level), paced_at=None).met
        return not (low and high), met is True, missed is False

    return trial


def _early_stopping_trial(null: Null, n: int) -> Trial:
    truth = true_quantile(null, 0.9)

    def trial(rng: np.random.Generator) -> Sequence[bool]:
        samples = null(rng, n)
        effective = max(1, int(n / dependence_time(samples, 0.9)))
        rank = early_stopping_rank(effective, 0.9)
        return (rank is not None and bool(np.sort(samples)[math.ceil(rank * n / effective) - 1] < truth),)

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


COMPARED = 2000
"""Samples of a run in a comparison."""

SAME = {
    "AR .9": autoregressive(0.9),
    "states staying 50": states(50),
    "states staying 200": states(200),
    "states staying 1000": states(1000),
    "bursts of 40": bursts(40, 0.02),
}


def _comparison_cases() -> Iterator[tuple[str, Sequence[str], Trial]]:
    """One run a side says nothing of other runs, nor of states that last as long as a run."""
    for name, null in SAME.items():
        if name == "states staying 1000":
            continue
        statements = "regression of a pair", "pair faster or slower"
        yield f"compare, same twice, {name}", statements, _pair_trial(null)
    for name, stream in STREAMS.items():
        yield (
            f"compare, token streams, {name}",
            ("regression of a pair", "pair faster or slower"),
            _stream_trial(stream),
        )
    proven = "difference proven", "sameness proven at +5%, or worse"
    for runs in (3, 5):
        for offset in (0.02, 0.05):
            yield f"compare, {runs} runs differ by {offset:.0%} (sd)", proven, _runs_trial(lognormal, offset, runs)
        for name, null in SAME.items():
            yield f"compare, {runs} runs, {name}", proven, _runs_trial(null, 0.02, runs)
        yield f"compare, {runs} runs in one of two states each", proven, _runs_trial(states(10**9), 0.002, runs)
    yield "compare, 3 and 10 runs differ by 5% (sd)", proven, _runs_trial(lognormal, 0.05, 3, 10)
    yield "compare, 4 units, 4 runs differ by 2% (sd)", proven, _runs_trial(lognormal, 0.02, 4, units=4)
    yield "compare, 4 units, 4 runs in one of two states each", proven, _runs_trial(states(10**9), 0.002, 4, units=4)


def _pair_trial(null: Null) -> Trial:
    def trial(rng: np.random.Generator) -> Sequence[bool]:
        a, b = (_run(null, rng, 0.0, 1) for _ in range(2))
        (found,) = compare([a], [b], rng, tolerance=0.02).conditions
        return found.regression, any(each.slower or each.faster for each in found.quantiles.values())

    return trial


@dataclass(frozen=True)
class Stream:
    """Gaps of `answers` answers: each has a level of its own (`sd` of the log), which depends on the one before (AR
    `rho`); later tokens are slower. Lengths are `tokens`, or exponential with that mean."""

    answers: int
    tokens: int
    sd: float
    rho: float = 0.0
    even: bool = True

    def condition(self, rng: np.random.Generator) -> RunCondition:
        parts, level = [], 0.0
        for _ in range(self.answers):
            level = self.rho * level + math.sqrt(1 - self.rho**2) * rng.normal()
            n = self.tokens if self.even else max(1, int(rng.exponential(self.tokens)))
            parts.append(10 * np.exp(self.sd * level + 0.05 * rng.normal(size=n)) * (1 + 0.002 * np.arange(n)))
        samples = np.concatenate(parts)
        return replace(condition_of(samples, samples.size), per_answer=max(1.0, samples.size / self.answers))


STREAMS = {
    "30 answers of 64": Stream(30, 64, 0.1),
    "12 answers of 64": Stream(12, 64, 0.1),
    "60 answers of 1 to 200": Stream(60, 32, 0.3, even=False),
    "60 answers of 32, AR .6": Stream(60, 32, 0.1, 0.6),
}


def _stream_trial(stream: Stream) -> Trial:
    """The same twice: answers are the unit of evidence."""

    def trial(rng: np.random.Generator) -> Sequence[bool]:
        a, b = (Run({("U", "none"): stream.condition(rng)}) for _ in range(2))
        (found,) = compare([a], [b], rng, tolerance=0.02).conditions
        return found.regression, any(each.slower or each.faster for each in found.quantiles.values())

    return trial


STALLS_N = 7000
STALL_MS, STALL_SHARE, RATE_HZ = 400.0, 1 / 200, 30.0


def _stalling(rng: np.random.Generator, n: int) -> Samples:
    return np.where(rng.random(n) < STALL_SHARE, STALL_MS, lognormal(rng, n))


def _responses(rng: np.random.Generator, n: int) -> Samples:
    """Response times of a unit that runs without a break (Lindley's recursion: a sum less its lowest value so far)."""
    services = _stalling(rng, n)
    walk = np.concatenate(([0.0], np.cumsum(services - 1e3 / RATE_HZ)))
    return np.asarray((walk - np.minimum.accumulate(walk))[:-1] + services)


def _rate_trial(n: int) -> Trial:
    """One of two units that take turns at a rate, through the sampling loop on a simulated clock."""
    period_ms = 1e3 / RATE_HZ
    budget = Budget(true_quantile(_responses, 0.99) * (1 - JUST), 0.99, RATE_HZ)
    block = block_ns(round(period_ms * MS))
    gc.freeze()  # the loop collects garbage after each turn, and is not to look through all that is there before it

    def trial(rng: np.random.Generator) -> Sequence[bool]:
        clock, out = FakeClock(), ListedOut()
        backend = FakeBackend(clock, (MS * _stalling(rng, 2 * n)).astype(int).tolist())
        slots = [(start, start + block) for start in range(MS, 3 * n * round(period_ms * MS), 2 * block)]
        orders = [(0, Slots(slots=slots))]
        state = ScriptedState(clock, orders, doing=RunMode.PAUSE, limits=Limits(runs=n))
        sampler = Sampler(backend, {}, out, state, warmup=0, rate_hz=RATE_HZ)
        sampler.first_call()
        sampler.run()
        steady = [frame for frame in out.samples if frame.phase == "steady"]
        late = np.concatenate([frame.late for frame in steady if frame.late is not None])
        samples = (late + np.concatenate([frame.latency for frame in steady])) / MS
        unserved = next(r.unfinished for r in out.reports(StateReport) if isinstance(r, StateReport) and r.done) or 0
        unit = replace(_measured(samples), series=RESPONSE, unserved=unserved)
        return (judge(unit, budget, paced_at=RATE_HZ).met is True,)

    return trial


def _runs_trial(null: Null, offset: float, before: int, after: int | None = None, units: int = 1) -> Trial:
    """Runs differ by `offset` (sd of the log) and nothing else; then B is 5% slower, the tolerance."""

    def trial(rng: np.random.Generator) -> Sequence[bool]:
        a = [_run(null, rng, offset, units) for _ in range(before)]
        b = [_run(null, rng, offset, units) for _ in range(after or before)]
        found = compare(a, b, rng).conditions
        quantiles = [each for condition in found for each in condition.quantiles.values()]
        later = compare(a, [_slower(run, 1.05) for run in b], rng).conditions
        limit = [each for condition in later for each in condition.quantiles.values()]
        return any(each.slower or each.faster for each in quantiles), any(
            each.equivalent or each.regressed or each.faster for each in limit
        )

    return trial


def _run(null: Null, rng: np.random.Generator, offset: float, units: int) -> Run:
    """Each unit differs from run to run by itself."""
    draws = [null(rng, COMPARED) * np.exp(offset * rng.normal()) for _ in range(units)]
    return Run({(f"U{index}", "none"): condition_of(samples, samples.size) for index, samples in enumerate(draws)})


def _slower(run: Run, factor: float) -> Run:
    slower = {
        key: replace(each, levels_ms={name: factor * level for name, level in each.levels_ms.items()})
        for key, each in run.conditions.items()
    }
    return replace(run, conditions=slower)


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


def _measured(samples: Samples, unit: str = "U", turn: int = 0) -> Measured:
    p50, p90 = np.quantile(samples, (0.5, 0.9)).tolist()
    low, high, mean = float(samples.min()), float(samples.max()), float(samples.mean())
    turns = np.arange(samples.size) // turn if turn else None
    return Measured(unit, "none", WALL, samples.size, samples, mean, low, high, p50, p90, turns=turns)
