"""A budget, and whether units are proven to meet it: a percentile of the latency, or energy per inference.

Pure. `None` is undecided: yes and no need evidence that excludes the other.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hettop.analysis.unit_samples import NATIVE, RESPONSE, WALL, Measured
from hettop.errors import HettopError
from hettop.stats.quantiles import CONFIDENCE, quantile_interval, samples_needed, shared
from hettop.stats.resampling import LEAST_VALUES, STRETCH, Bounds, bounds_of_effective, dependence_time, turn_time

DEFAULT_QUANTILE = 0.99

LEAST_EFFECTIVE = 20
"""Independent samples that a `no` needs: with fewer, it is unknown how much the samples depend on each other."""

LEAST_TURNS = LEAST_VALUES
TURNS_COUNT_AS = 100
"""Samples in turns that another unit's turns part count as so many, or as one of `STRETCH` calls if those are more."""

LEAST_COVERAGE = 0.8
"""Share of the samples' time that power readings must cover before an energy budget is judged."""

LEAST_WINDOWS = LEAST_VALUES
"""Power windows that a judgement needs: of fewer, a mean has no interval (five on one side of it are chance in 6%)."""

ENERGY_MARGIN = 0.05
"""Power sources state no error. It is common to all windows, so their spread does not show it: an interval this near to
the limit, relatively, is on neither side of it."""

RULE_OF_THREE = 3
"""What occurs in one of n / 3 independent calls is among n of them in 95% of runs: (1 - 3 / n)^n is about .05."""

FURTHEST = 10_000_000
"""Above this, the number of missing samples is not reported."""

_TIME = re.compile(
    r"(?P<value>[0-9]*\.?[0-9]+)(?P<suffix>s|ms|us|µs|μs)?(?:@p(?P<percentile>[0-9]{1,4}(?:\.[0-9]+)?))?"
)
_MS = {None: 1.0, "s": 1e3, "ms": 1.0, "us": 1e-3, "µs": 1e-3, "μs": 1e-3}  # micro sign and Greek mu
_ENERGY = re.compile(r"(?P<value>[0-9]*\.?[0-9]+)(?P<suffix>J|mJ|uJ|µJ|μJ)?")
_MJ = {None: 1.0, "J": 1e3, "mJ": 1.0, "uJ": 1e-3, "µJ": 1e-3, "μJ": 1e-3}


@dataclass(frozen=True, slots=True)
class Budget:
    """The `quantile` of latencies is to be at most `limit_ms`; with `rate_hz`, of response times at that rate.

    of: `ITL` or `TTFT` for a token stream.
    """

    limit_ms: float
    quantile: float = DEFAULT_QUANTILE
    rate_hz: float | None = None
    of: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One unit against a budget. `met` None: unproven, for the reason in `why`.

    `quantile_ms` is the sample quantile, `low_ms` and `high_ms` its bounds; `effective` the independent samples that
    `n` are worth. `needs`: further samples that may decide it, `needs_s`: how long they take; None if decided or
    unknown. `needs_for`: whether they would prove it met or missed, if they go on as they did; None if unknown.
    `needs_answers`: how many answers they are, where a sample is a token of one.
    """

    unit: str
    series: str
    met: bool | None
    why: str
    n: int
    effective: int
    quantile_ms: float | None = None
    low_ms: float | None = None
    high_ms: float | None = None
    needs: int | None = None
    needs_s: float | None = None
    needs_for: bool | None = None
    needs_answers: int | None = None
    unserved: int = 0
    longest_ms: float | None = None
    seen_one_in: int | None = None


ITL, TTFT = "itl", "ttft"
"""What a budget of token streams is about: inter-token latency, or the time to the first token."""

SERIES_OF = {ITL: "inter-token latency", TTFT: "time to the first token"}
BOTH = "write 50ms@p99:itl,500ms@p90:ttft"


def parse_budgets(text: str | None, rate_hz: float | None) -> tuple[Budget, ...]:
    """One budget as `parse_budget` reads it, or those of token streams: `50ms@p99:itl`, `500ms@p90:ttft`, or both with
    a comma between. A rate is of answers, and so about first tokens. Raises HettopError (`usage`)."""
    if text is None or ":" not in text:
        found = parse_budget(text, rate_hz)
        return () if found is None else (found,)
    budgets: dict[str, Budget] = {}
    for part in text.split(","):
        limit, _, of = part.strip().rpartition(":")
        if of not in SERIES_OF or of in budgets:
            raise HettopError("usage", f"invalid budget: {text[:60]!r}", BOTH)
        budget = parse_budget(limit, rate_hz if of == TTFT else None)
        if budget is not None:
            budgets[of] = replace(budget, of=of)
    return tuple(budgets[of] for of in SERIES_OF if of in budgets)


def parse_budget(text: str | None, rate_hz: float | None) -> Budget | None:
    """`16ms@p99`, `16ms`, `16` (ms), or nothing but a rate, whose period is the limit. Raises HettopError (`usage`)."""
    if text is None:
        return None if rate_hz is None else Budget(1e3 / rate_hz, rate_hz=rate_hz)
    found = _TIME.fullmatch(text.strip())
    if found is None:
        raise HettopError(
            "usage", f"invalid budget: {text[:60]!r}", "write 16ms@p99 or 500us@p90 (a bare number is ms)"
        )
    level = DEFAULT_QUANTILE if found["percentile"] is None else _level(found["percentile"])
    limit = float(found["value"]) * _MS[found["suffix"]]
    if not (0 < limit < math.inf and 0 < level <= 0.9999):
        raise HettopError(
            "usage", f"invalid budget: {text[:60]!r}", "write a time above 0 and a percentile up to p99.99"
        )
    return Budget(limit, level, rate_hz)


def _level(percentile: str) -> float:
    """`99` and `99.9` in percent; `999` is P99.9, as statistics name it."""
    if percentile == "999":
        return 0.999
    return round(float(percentile) / 100, 8)


def parse_energy(text: str) -> float:
    """`5mJ`, or a bare number of mJ, in mJ. Raises HettopError (`usage`)."""
    found = _ENERGY.fullmatch(text.strip())
    limit = float(found["value"]) * _MJ[found["suffix"]] if found else 0.0
    if not 0 < limit < math.inf:
        raise HettopError(
            "usage", f"invalid energy budget: {text[:60]!r}", "write 5mJ (a bare number is mJ per inference)"
        )
    return limit


def judge(unit: Measured, budget: Budget, *, paced_at: float | None, confidence: float = CONFIDENCE) -> Judgement:
    """Whether the unit is proven to meet the budget. `paced_at` is the rate at which its samples were taken, if any.

    yes: the upper bound of the quantile is within the limit, from as many independent samples as that percentile needs
    (`samples_needed`); no: the lower bound is beyond it, or so many calls are that no kind of dependence explains it.
    """
    if not unit.samples_ms.size:
        return Judgement(unit.unit, unit.series, None, "its samples were not kept", unit.n, 0)
    evidence = _evidence(unit, budget.quantile)
    served = evidence.bounds(unit.samples_ms, unit.n, budget.quantile, confidence)
    arrivals, never_ms = _with_unserved(unit, budget)
    n = unit.n + unit.unserved
    bounds = evidence.bounds(arrivals, n, budget.quantile, confidence) if unit.unserved else served
    if _beyond(unit.samples_ms, served, budget, confidence):
        met, why = False, ""
    elif _beyond_whatever_the_dependence(unit, budget, confidence):
        beyond = float((unit.samples_ms > budget.limit_ms).mean())
        met, why = (
            False,
            f"{100 * beyond:.3g}% of the samples are above the limit, {100 * (1 - budget.quantile):.3g}% may be",
        )
    elif not _right_series(unit, budget, paced_at):
        met, why = None, f"it was not measured at {budget.rate_hz:g} inf/s"
    else:
        met = _proves(bounds, budget) or None
        why = "" if met else _why_not_proven(unit, budget, bounds, served, evidence)
    level = float(np.quantile(arrivals, budget.quantile))
    needs = needs_for = None
    if met is None and _right_series(unit, budget, paced_at):
        needs = _further(arrivals, n, budget, evidence, confidence)
        needs_for = None if needs is None else bool((arrivals <= budget.limit_ms).mean() >= budget.quantile)
    elif met is None:
        needs = samples_for(budget.quantile, in_turns=not evidence.in_one_stretch)  # all of them at that rate
    return Judgement(
        unit=unit.unit,
        series=unit.series,
        met=met,
        why=why,
        n=unit.n,
        effective=bounds.effective,
        quantile_ms=level if bounds.n >= samples_needed(budget.quantile) and level <= unit.max_ms else None,
        low_ms=served.low,
        high_ms=bounds.high if bounds.high is not None and bounds.high < never_ms else None,
        needs=needs,
        needs_s=None if needs is None else needs / budget.rate_hz if budget.rate_hz else needs * unit.mean_ms / 1e3,
        needs_for=needs_for,
        needs_answers=math.ceil(needs * unit.answers / unit.n) if needs is not None and unit.answers else None,
        unserved=unit.unserved,
        longest_ms=unit.max_ms,
        seen_one_in=unit.n // RULE_OF_THREE or None,
    )


def quantile_interval_of(unit: Measured, q: float) -> tuple[float | None, float | None, float | None]:
    """The unit's q-quantile in ms and both ends of its 95% interval, each None where there are too few samples.

    Of the samples that are kept in order: the quantile of all samples may lie outside of an interval of the last ones.
    """
    if not unit.samples_ms.size:
        return None, None, None
    bounds = _evidence(unit, q).bounds(unit.samples_ms, unit.n, q, CONFIDENCE)
    value = float(np.quantile(unit.samples_ms, q))
    return (value if unit.n >= samples_needed(q) else None), bounds.low, bounds.high


P90 = 0.9


@dataclass(frozen=True, slots=True)
class Evidence:
    """What samples are worth: `time` of them, in a row, carry as much as one independent sample, as far as is seen."""

    time: float
    in_one_stretch: bool
    least: float | None = None
    """So many samples count as one at least, where that does not follow from stretches and turns."""

    def effective(self, n: int) -> int:
        """How many independent samples `n` of them are worth; see `STRETCH` and `TURNS_COUNT_AS`."""
        usual = STRETCH if self.in_one_stretch else min(STRETCH, n / TURNS_COUNT_AS)
        least = usual if self.least is None else self.least
        return max(1, int(n / max(self.time, least)))

    def bounds(self, samples: npt.NDArray[np.float64], n: int, q: float, confidence: float) -> Bounds:
        """Of `n` samples, of which these are all or evenly spaced ones."""
        return bounds_of_effective(samples, q, min(samples.size, self.effective(n)), confidence)


def samples_for(q: float, *, in_turns: bool) -> int:
    """Samples below which no q-quantile is proven to be within a limit."""
    needed = samples_needed(q)
    return needed if in_turns and needed <= TURNS_COUNT_AS else STRETCH * needed


def _evidence(unit: Measured, q: float) -> Evidence:
    time = dependence_time(unit.samples_ms, q)
    if unit.answers:
        return _evidence_of_answers(unit, unit.answers, q)
    if unit.turns is None or np.unique(unit.turns).size < LEAST_TURNS:
        return Evidence(time, in_one_stretch=True)
    return Evidence(max(time, turn_time(unit.samples_ms, unit.turns, q)), in_one_stretch=False)


def _evidence_of_answers(unit: Measured, answers: int, q: float) -> Evidence:
    """The tokens of an answer count as one sample at most, and so do the answers of `STRETCH` calls.

    With all the dependence of tokens on each other and on their position they carry no less than that (the design
    effect of clusters is at most their size: Kish, Survey Sampling, 1965, section 5.4). Answers may depend on each
    other: by the series of their medians, in the order in which they were asked for.
    """
    in_answer = max(1.0, unit.n / answers)
    together = max(1.0, STRETCH * answers / max(unit.calls, 1))
    if unit.turns is None:
        return Evidence(1.0, in_one_stretch=True, least=STRETCH * in_answer)
    numbers, answer = np.unique(unit.turns, return_inverse=True)
    order = np.argsort(answer, kind="stable")
    starts = np.searchsorted(answer[order], np.arange(numbers.size))
    medians = np.array([np.median(part) for part in np.split(unit.samples_ms[order], starts[1:])])
    return Evidence(dependence_time(medians, q) * in_answer, in_one_stretch=False, least=in_answer * together)


def _why_not_proven(unit: Measured, budget: Budget, bounds: Bounds, served: Bounds, evidence: Evidence) -> str:
    if _proves(served, budget):
        return f"{unit.unserved:,} of {unit.n + unit.unserved:,} arrivals were not served"
    needed = samples_needed(budget.quantile)
    if bounds.effective >= needed and bounds.low is not None and bounds.low > budget.limit_ms:
        return f"effective sample size {bounds.effective}, but proving it missed needs {LEAST_EFFECTIVE}"
    if bounds.effective >= needed:
        return "the limit lies within the interval"
    if unit.answers:
        return f"{unit.answers:,} answers count as {bounds.effective} samples, but this percentile needs {needed}"
    stretch = f"; in one stretch, {STRETCH} calls count as one sample" if evidence.in_one_stretch else ""
    return f"effective sample size {bounds.effective}, but this percentile needs {needed}{stretch}"


def _beyond(samples: npt.NDArray[np.float64], bounds: Bounds, budget: Budget, confidence: float) -> bool:
    """By the lower bound with half of the error, as well where the upper one does not exist and leaves it all."""
    if bounds.effective < LEAST_EFFECTIVE:
        return False
    low = bounds.low
    if bounds.high is None:
        low = bounds_of_effective(samples, budget.quantile, bounds.effective, shared(confidence, 2)).low
    return low is not None and low > budget.limit_ms


def _beyond_whatever_the_dependence(unit: Measured, budget: Budget, confidence: float) -> bool:
    """Where the budget is met, 1 - q of the calls are beyond the limit, and 1 / error times that share of a session's
    calls are so in at most `error` of sessions (Markov's inequality)."""
    if unit.samples_ms.size < LEAST_EFFECTIVE:
        return False
    beyond = float((unit.samples_ms > budget.limit_ms).mean())
    return beyond * (1 - confidence) / 2 > 1 - budget.quantile


def _proves(bounds: Bounds, budget: Budget) -> bool:
    enough = bounds.effective >= samples_needed(budget.quantile)
    return enough and bounds.high is not None and bounds.high <= budget.limit_ms


def _with_unserved(unit: Measured, budget: Budget) -> tuple[npt.NDArray[np.float64], float]:
    """The samples and, after them, the unserved arrivals as slower than all others; and the time these are given."""
    samples = unit.samples_ms
    never_ms = 2 * max(unit.max_ms, float(samples.max()), budget.limit_ms)
    unserved = math.ceil(unit.unserved * samples.size / unit.n)
    infinite = math.ceil(samples.size * (1 - budget.quantile) / budget.quantile) + 1  # the percentile is among them
    return np.append(samples, np.full(min(unserved, infinite, FURTHEST), never_ms)), never_ms


def judge_paced(
    response: Measured, service: Measured, budget: Budget, *, paced_at: float | None, confidence: float = CONFIDENCE
) -> Judgement:
    """As `judge`, by response times; where those prove nothing, service times may still prove a `no`.

    A response takes at least as long as its service. A growing backlog makes responses so dependent on each other that
    they are worth few independent samples, when their services alone are over the limit all the time.
    """
    confidence = shared(confidence, 2)
    judged = judge(response, budget, paced_at=paced_at, confidence=confidence)
    if judged.met is None and judge(service, budget, paced_at=paced_at, confidence=confidence).met is False:
        return replace(judged, met=False, why="the service time alone exceeds the limit", needs=None, needs_s=None)
    return judged


@dataclass(frozen=True, slots=True)
class MeasuredEnergy:
    """Energy of a unit in mJ per inference with its interval, by the spread of so many power windows; None: unknown."""

    unit: str
    mj: float | None = None
    low_mj: float | None = None
    high_mj: float | None = None
    windows: int = 0
    coverage: float | None = None


@dataclass(frozen=True, slots=True)
class EnergyJudgement:
    """A unit against an energy budget. `met` None: unproven, for the reason in `why`."""

    energy: MeasuredEnergy
    met: bool | None
    why: str = ""


def judge_energy(energy: MeasuredEnergy, limit_mj: float) -> EnergyJudgement:
    """Yes and no need the whole interval on one side of the limit, and `ENERGY_MARGIN` between them."""
    why = _why_no_energy(energy)
    if why or energy.low_mj is None or energy.high_mj is None:
        return EnergyJudgement(energy, None, why)
    if energy.high_mj <= (1 - ENERGY_MARGIN) * limit_mj:
        return EnergyJudgement(energy, True)
    if energy.low_mj >= (1 + ENERGY_MARGIN) * limit_mj:
        return EnergyJudgement(energy, False)
    if energy.low_mj <= limit_mj <= energy.high_mj:
        return EnergyJudgement(energy, None, "the limit lies within the interval")
    return EnergyJudgement(
        energy, None, f"the interval is within {ENERGY_MARGIN:.0%} of the limit, and power sources state no error"
    )


def _why_no_energy(energy: MeasuredEnergy) -> str:
    if energy.mj is None or energy.coverage is None:
        return "its energy is unknown"
    if energy.coverage < LEAST_COVERAGE:
        return f"power is known for {math.floor(100 * energy.coverage)}% of the time, {LEAST_COVERAGE:.0%} are needed"
    if energy.windows < LEAST_WINDOWS:
        return f"too few power windows: {energy.windows} of {LEAST_WINDOWS}"
    if energy.low_mj is None:
        return f"{energy.windows} power windows depend too much on each other; measure longer"
    return ""


def series_for(budget: Budget | None, *, paced: bool, by: str) -> str:
    """What a budget is about: paced samples have a response time, the others the latency that was asked for."""
    if budget is not None and paced and by == WALL:
        return RESPONSE
    return NATIVE if by == NATIVE else WALL


def _right_series(unit: Measured, budget: Budget, paced_at: float | None) -> bool:
    if budget.rate_hz is None:
        return True
    return unit.series == RESPONSE and paced_at is not None and math.isclose(paced_at, budget.rate_hz, rel_tol=1e-3)


def _further(
    samples: npt.NDArray[np.float64], taken: int, budget: Budget, evidence: Evidence, confidence: float
) -> int | None:
    """Samples still to take, if they go on as they did, before the limit is outside the quantile's interval."""
    share_within = float((samples <= budget.limit_ms).mean())

    def settles(n: int) -> bool:
        effective = evidence.effective(n)
        low, high = quantile_interval(effective, budget.quantile, confidence)
        within = share_within * effective
        if effective >= samples_needed(budget.quantile) and high is not None and within >= high:
            return True
        return effective >= LEAST_EFFECTIVE and low is not None and within < low - 1

    if taken > FURTHEST:
        return None
    enough = taken
    while not settles(enough):
        enough *= 2
        if enough > FURTHEST:
            return None
    too_few = enough // 2
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        enough, too_few = (middle, too_few) if settles(middle) else (enough, middle)
    return max(1, enough - taken)
