"""The verdict on a session: ranks, advice, their evidence, and whether a budget is proven to be met.

Pure; says nothing that the samples do not carry. How it is worded and printed is not its business.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from hettop.analysis.budget import (
    ITL,
    TTFT,
    Budget,
    EnergyJudgement,
    Judgement,
    MeasuredEnergy,
    judge,
    judge_energy,
    judge_paced,
    series_for,
)
from hettop.analysis.ranking import Advice, Neighbours, Ranks, advise, difference, neighbours, rank
from hettop.analysis.start_up import ReadyJudgement, StartUp, Totals, judge_ready, totals
from hettop.analysis.unit_samples import RESPONSE, WALL, InOrder, Measured, loads_of, main_load, measured
from hettop.events import FIRST_TOKENS, split_row
from hettop.session.condition import Condition
from hettop.session.session import Session
from hettop.session.statistics import Reason, Statistics, energy_of, statistics
from hettop.session.unit import SEVERAL_TURNS
from hettop.session.views.units import are_wrong, disagree
from hettop.stats.quantiles import CONFIDENCE, samples_needed, shared
from hettop.stats.resampling import dependence_time

MOST_IN_PAIRS = 32
"""Units that are looked at pair by pair, those with the best means; a damaged recording can name hundreds."""

RATE_TOLERANCE = 1e-3
NONE_MEASURED = "none-measured"  # the error of a unit that did not run


@dataclass(frozen=True, slots=True)
class Question:
    """What a verdict is asked: by which latency (`wall`, `native`), under which load (None: none, or the first).

    `also` is a second budget that a unit has to keep: of first tokens, where `budget` is of later ones.
    `energy_mj` is the most an inference may take. `confidence` is of all answers of one kind together: that no unit's
    standing in the budget is false, and that no place in the order is. `cold_ms`: the most that the
    median start may take to its first answer. `calls`: so many are made in all, start-up included.
    """

    by: str = WALL
    load: str | None = None
    budget: Budget | None = None
    energy_mj: float | None = None
    confidence: float = CONFIDENCE
    cold_ms: float | None = None
    calls: int | None = None
    also: Budget | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What else is known of a unit: times in ms, energy in mJ per inference, None where unknown.

    `fallback` is the share of operations that a plan does not give to the wanted accelerator. `difference` is the
    largest output difference, relative to the reference's largest value; `top1` the least agreement on the largest
    entry; `reference` the unit compared with. `wrong`: its answers are so far off that it is never advised; `unlike`:
    they are far from those of a reference that may be wrong itself. `failed`: why its engine ended, if it did.
    `evidence`: what its plan claims beside what the rails drew.
    """

    placed: str | None = None
    load_ms: float | None = None
    first_ms: float | None = None
    energy_mj: float | None = None
    energy_coverage: float | None = None
    fallback: float | None = None
    reference: str | None = None
    difference: float | None = None
    top1: float | None = None
    not_finite: int = 0
    wrong: bool = False
    unlike: bool = False
    failed: str | None = None
    evidence: str | None = None

    @property
    def usable(self) -> bool:
        """Whether anybody could ship the unit."""
        return not self.wrong and self.failed is None


@dataclass(frozen=True, slots=True)
class Verdict:
    """`units` were measured under `load`, `unmeasured` were not; `failed` maps units to the reason.

    `ranks`, `advice`, `few`, `order` and `flips` are of the units that one could ship; the others are in `unusable`.
    `ready` and `totals` judge start-up, None where that was not asked for; `starts` have the starts that they rest on.
    `paced_at` is the rate of the calls per second, None where they came back to back. `effective`: the effective sample
    size for P90 of the units in `needs`, where no budget was asked for. Maps have a unit's name as key.
    """

    question: Question
    load: str
    loads: tuple[str, ...]
    units: tuple[Measured, ...]
    facts: Mapping[str, Facts]
    ranks: Ranks
    advice: Advice
    few: tuple[FewSamples, ...]
    order: tuple[Neighbours, ...]
    flips: tuple[Flip, ...]
    judgements: Mapping[str, Judgement]
    energy: Mapping[str, EnergyJudgement] | None
    needs: Mapping[str, int]
    failed: Mapping[str, Reason]
    unmeasured: tuple[str, ...]
    rows: tuple[Statistics, ...]
    few_turns: FewTurns | None = None
    paced_at: float | None = None
    effective: Mapping[str, int] = field(default_factory=dict)
    starts: tuple[StartUp, ...] = ()
    ready: Mapping[str, ReadyJudgement] | None = None
    totals: Totals | None = None
    also: Mapping[str, Judgement] = field(default_factory=dict)
    """By `question.also`, for each unit."""
    goodput: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Answers within the limits of first and later tokens, and of how many, by unit; empty without such limits."""

    @property
    def asked_for_proof(self) -> bool:
        asked = (self.question.budget, self.question.energy_mj, self.question.cold_ms)
        return any(each is not None for each in asked)

    @property
    def meeting(self) -> tuple[str, ...]:
        """The units proven to meet all that was asked for, best mean first; without samples, the first ready first."""
        names = self.ranks.latency if self.units else tuple(self.ready or ())
        return tuple(unit for unit in names if self.asked_for_proof and self._meets(unit))

    @property
    def missed_by_all(self) -> bool:
        """Whether every unit is proven to miss a requirement, or cannot be used."""
        names = {*(unit.unit for unit in self.units), *(self.ready or ())}
        return bool(names) and all(self._misses(unit) for unit in names)

    @property
    def unusable(self) -> tuple[str, ...]:
        """Measured units that cannot be used: they failed, or their outputs are wrong."""
        return tuple(unit.unit for unit in self.units if not self.facts[unit.unit].usable)

    @property
    def settled(self) -> bool:
        """Whether more samples would add nothing: all units judged, or the fastest one proven."""
        if not self.units:
            return False
        usable = [unit.unit for unit in self.units if self.facts[unit.unit].usable]
        answers = [self.in_budget(unit) for unit in usable if unit in self.judgements]
        answers += [self.energy[unit].met for unit in usable if self.energy is not None and unit in self.energy]
        if self.asked_for_proof:
            return all(met is not None for met in answers)
        return not any(unit in self.needs for unit in usable) and all(pair.proven for pair in self.order[:1])

    @property
    def off_the_rate(self) -> bool:
        """Whether the budget is about calls at another rate than that of the samples."""
        wanted = self.question.budget.rate_hz if self.question.budget else None
        return wanted is not None and (
            self.paced_at is None or not math.isclose(self.paced_at, wanted, rel_tol=RATE_TOLERANCE)
        )

    def in_budget(self, unit: str) -> bool | None:
        """Whether the unit keeps both budgets of its latency, where there are two; None: unproven."""
        judged = [self.judgements] if self.question.also is None else [self.judgements, self.also]
        found = [each[unit].met if unit in each else None for each in judged]
        return False if False in found else None if None in found else True

    def _meets(self, unit: str) -> bool:
        if unit in self.facts and not self.facts[unit].usable:
            return False
        if self.ready is not None and (unit not in self.ready or self.ready[unit].met is not True):
            return False
        in_time = self.question.budget is None or self.in_budget(unit) is True
        return in_time and (self.energy is None or (unit in self.energy and self.energy[unit].met is True))

    def _misses(self, unit: str) -> bool:
        if unit in self.facts and not self.facts[unit].usable:
            return True
        in_time = self.in_budget(unit)
        ready = self.ready[unit].met if self.ready is not None and unit in self.ready else None
        energy = self.energy[unit].met if self.energy is not None and unit in self.energy else None
        return False in (in_time, ready, energy)


def verdict(
    session: Session,
    question: Question,
    in_order: InOrder,
    rng: np.random.Generator,
    rows: Sequence[Statistics] | None = None,
    *,
    starts: Sequence[StartUp] = (),
) -> Verdict:
    """The verdict on what the session holds. `rng` draws the resamples: the same seed gives the same verdict.

    rows: the session's statistics, where the caller has them already. starts: what is known of start-up.
    """
    load = question.load or main_load(session)
    rows = statistics(session) if rows is None else rows
    units = measured(session, load, in_order, question.by)
    facts = {unit: _facts(session, unit, load, rows) for unit in session.units}
    usable = [unit for unit in units if facts[unit.unit].usable]
    usable.sort(key=lambda unit: unit.mean_ms)
    paired = usable[:MOST_IN_PAIRS]
    ranks = rank(usable, {name: fact.energy_mj for name, fact in facts.items()})
    judgements = _judgements(session, question, question.budget, load, in_order)
    lacking = _lacking_p90(units) if question.budget is None else {}
    loads = loads_of(session)
    others = {
        other: [unit for unit in measured(session, other, in_order, question.by) if facts[unit.unit].usable]
        for other in loads
        if other != load
    }
    return Verdict(
        question=question,
        load=load,
        loads=tuple(loads),
        units=tuple(units),
        facts=facts,
        ranks=ranks,
        advice=_advice(usable, units, ranks, facts),
        few=decided_by_few(paired),
        order=neighbours(paired, shared(question.confidence, len(paired) - 1)),
        flips=flips(paired, others, question.confidence),
        judgements=judgements,
        energy=_energy(session, question, load, [unit.unit for unit in units]),
        needs=_needs(judgements) if question.budget else {name: lack.needs for name, lack in lacking.items()},
        failed=_failed(rows),
        unmeasured=_unmeasured(session, units),
        rows=tuple(rows),
        few_turns=_few_turns(session, usable),
        paced_at=_rate(session) if _paced(session, load) else None,
        effective={name: lack.effective for name, lack in lacking.items()},
        starts=tuple(starts),
        ready=_ready(starts, question.cold_ms, question.confidence),
        totals=None if question.calls is None else totals(_shippable(starts, facts), question.calls, rng),
        also=_judgements(session, question, question.also, load, in_order),
        goodput=_goodput(session, question, load),
    )


def _ready(starts: Sequence[StartUp], limit_ms: float | None, confidence: float) -> dict[str, ReadyJudgement] | None:
    """The first ready first."""
    if limit_ms is None:
        return None
    found = [judge_ready(start, limit_ms, shared(confidence, len(starts))) for start in starts]
    found.sort(key=lambda each: math.inf if each.median_ms is None else each.median_ms)
    return {each.unit: each for each in found}


def _shippable(starts: Sequence[StartUp], facts: Mapping[str, Facts]) -> list[StartUp]:
    return [start for start in starts if start.unit not in facts or facts[start.unit].usable]


def _advice(usable: Sequence[Measured], units: Sequence[Measured], ranks: Ranks, facts: Mapping[str, Facts]) -> Advice:
    """Among the units that one could ship: however fast the others are, they are to be avoided."""
    given = advise(usable, ranks)
    unusable = [unit.unit for unit in units if not facts[unit.unit].usable]
    return replace(given, avoid=(*unusable, *given.avoid))


def _judgements(
    session: Session, question: Question, budget: Budget | None, load: str, in_order: InOrder
) -> dict[str, Judgement]:
    if budget is None:
        return {}
    series = series_for(budget, paced=_paced(session, load) and budget.of != ITL, by=question.by)
    units = _rows(session, load, in_order, series, budget)
    rate = _rate(session)
    confidence = shared(question.confidence, len(units) * (1 if question.also is None else 2))
    if series != RESPONSE:
        return {unit.unit: judge(unit, budget, paced_at=rate, confidence=confidence) for unit in units}
    services = {unit.unit: unit for unit in _rows(session, load, in_order, WALL, budget)}
    return {
        unit.unit: judge_paced(unit, services[unit.unit], budget, paced_at=rate, confidence=confidence)
        for unit in units
    }


def _rows(session: Session, load: str, in_order: InOrder, series: str, budget: Budget) -> list[Measured]:
    """The units' samples that the budget is of: a unit's first tokens are a row beside it, under its name here."""
    if budget.of != TTFT:
        return measured(session, load, in_order, series)
    rows = measured(session, load, in_order, series, variants=True)
    return [replace(row, unit=unit) for row in rows for unit, name in (split_row(row.unit),) if name == FIRST_TOKENS]


def _goodput(session: Session, question: Question, load: str) -> dict[str, tuple[int, int]]:
    limits = {each.of: each.limit_ms for each in (question.budget, question.also) if each is not None and each.of}
    if not limits:
        return {}
    found = {
        unit: each.within(limits.get(TTFT), limits.get(ITL))
        for (unit, of), each in session.answers.items()
        if of == load
    }
    return {unit: (kept, of) for unit, (kept, of) in found.items() if of}


def _paced(session: Session, load: str) -> bool:
    return any(key.load == load and condition.paced for key, condition in session.conditions.items())


def _rate(session: Session) -> float | None:
    """Arrivals a second, as the session's last control said or its settings do."""
    if session.control is not None and session.control.rate_hz is not None:
        return session.control.rate_hz
    told = session.header.settings.get("rate_hz") if session.header else None
    return float(told) if isinstance(told, (int, float)) and not isinstance(told, bool) else None


def _energy(session: Session, question: Question, load: str, units: Sequence[str]) -> dict[str, EnergyJudgement] | None:
    """Judged by intervals that are true together, of all units and thermal states."""
    if question.energy_mj is None:
        return None
    mine = {name: [c for c in session.conditions.values() if c.key[:2] == (name, load) and c.wall.n] for name in units}
    confidence = shared(question.confidence, sum(map(len, mine.values())))
    found = {name: _measured_energy(session, name, conditions, confidence) for name, conditions in mine.items()}
    return {name: judge_energy(energy, question.energy_mj) for name, energy in found.items()}


def _measured_energy(session: Session, unit: str, conditions: Sequence[Condition], confidence: float) -> MeasuredEnergy:
    """Mean over thermal states by their samples; the fewest windows that one of them has."""
    figures = [energy_of(session, condition) for condition in conditions]
    known = [figure for figure in figures if figure is not None]
    if not known or len(known) < len(figures):
        return MeasuredEnergy(unit)
    counts = [condition.wall.n for condition in conditions]
    intervals = [figure.interval_mj(confidence) or (None, None) for figure in known]
    return MeasuredEnergy(
        unit,
        mj=_mean_over(counts, [figure.mj for figure in known]),
        low_mj=_mean_over(counts, [low for low, _ in intervals]),
        high_mj=_mean_over(counts, [high for _, high in intervals]),
        windows=min(figure.windows for figure in known),
        coverage=_mean_over(counts, [figure.coverage for figure in known]),
    )


def _needs(judgements: Mapping[str, Judgement]) -> dict[str, int]:
    """Further samples of the units that lack some for the budget."""
    return {name: judged.needs for name, judged in judgements.items() if judged.needs is not None}


@dataclass(frozen=True, slots=True)
class Lack:
    """So many more samples give a reliable P90; those that there are count as `effective` independent ones."""

    needs: int
    effective: int


def _lacking_p90(units: Sequence[Measured]) -> dict[str, Lack]:
    found = {}
    for unit in units:
        if unit.samples_ms.size:
            time = dependence_time(unit.samples_ms, 0.9)
            lacking = math.ceil(samples_needed(0.9) * time) - unit.n
            if unit.samples_ms.size < samples_needed(0.9) * time and lacking > 0:
                found[unit.unit] = Lack(lacking, max(1, int(unit.n / time)))
    return found


@dataclass(frozen=True, slots=True)
class FewTurns:
    """The unit that had the fewest turns, where that is too few; `interleaved`: whether units took turns at all."""

    unit: str
    turns: int
    interleaved: bool


def _few_turns(session: Session, units: Sequence[Measured]) -> FewTurns | None:
    """None where every unit took several turns, and where there is nothing to compare."""
    turns = {unit.unit: session.units[unit.unit].turns for unit in units}
    if len(turns) < 2 or min(turns.values()) >= SEVERAL_TURNS:
        return None
    fewest = min(turns, key=lambda unit: turns[unit])
    interleaving = session.control is not None and session.control.mode == "interleave"
    return FewTurns(fewest, turns[fewest], interleaved=interleaving or turns[fewest] > 1)


def _failed(rows: Sequence[Statistics]) -> dict[str, Reason]:
    return {row.unit: row.error for row in rows if row.error is not None and row.error.kind != NONE_MEASURED}


def _unmeasured(session: Session, units: Sequence[Measured]) -> tuple[str, ...]:
    """The units that did not fail and yet have no samples under the verdict's load."""
    there = {unit.unit for unit in units}
    known = {name: unit for name, unit in session.units.items() if split_row(name)[1] is None}
    return tuple(name for name, unit in known.items() if name not in there and unit.error is None)


def _facts(session: Session, unit: str, load: str, rows: Sequence[Statistics]) -> Facts:
    mine = [row for row in rows if row.unit == unit and row.load == load]
    known = session.units[unit]
    outputs = known.outputs.outputs if known.outputs is not None and known.outputs.error is None else []
    relative = [o.max_abs / o.largest for o in outputs if o.max_abs is not None and o.largest]
    agreements = [output.top1 for output in outputs if output.top1 is not None]
    told = mine[0] if mine else next(row for row in rows if row.unit == unit)
    plan = known.plan if known.plan is not None and known.plan.error is None else None
    return Facts(
        placed=told.placed,
        load_ms=told.load_ms,
        first_ms=told.first_ms,
        energy_mj=_mean_over([row.n for row in mine], [row.energy_mj_per_inference for row in mine]),
        energy_coverage=_mean_over([row.n for row in mine], [row.energy_coverage for row in mine]),
        fallback=plan.fallback_ratio_count if plan else None,
        reference=known.outputs.reference if known.outputs is not None and outputs else None,
        difference=max(relative, default=None),
        top1=min(agreements, default=None),
        not_finite=sum(output.not_finite for output in outputs),
        wrong=are_wrong(known.outputs),
        unlike=disagree(known.outputs),
        failed=None if known.error is None else known.error.message,
        evidence=told.evidence,
    )


def _mean_over(counts: Sequence[int], values: Sequence[float | None]) -> float | None:
    """Mean over thermal states by their samples; None as soon as one is unknown."""
    known = [value for value in values if value is not None]
    total = sum(counts)
    if not known or len(known) < len(values) or not total:
        return None
    return sum(n * value for n, value in zip(counts, known, strict=True)) / total


@dataclass(frozen=True, slots=True)
class Flip:
    """Under `load` the unit `faster` has the lower mean, by `difference_ms`; under the verdict's load `slower` has.

    `proven` when both differences exclude 0, with 95% confidence for all pairs and loads together.
    """

    load: str
    faster: str
    slower: str
    difference_ms: float
    proven: bool


def flips(
    main: Sequence[Measured], others: Mapping[str, Sequence[Measured]], confidence: float = CONFIDENCE
) -> tuple[Flip, ...]:
    """Every pair of units whose order under one of the other loads is not that of `main`."""
    found = []
    confidence = shared(confidence, math.comb(len(main), 2) * len(others))
    for load, units in others.items():
        there = {unit.unit: unit for unit in units}
        ranked = sorted((unit for unit in main if unit.unit in there), key=lambda unit: unit.mean_ms)
        for better, worse in combinations(ranked, 2):
            if better.mean_ms < worse.mean_ms and there[worse.unit].mean_ms < there[better.unit].mean_ms:
                now = difference(there[worse.unit], there[better.unit], confidence)
                proven = now.proven and difference(better, worse, confidence).proven
                found.append(Flip(load, worse.unit, better.unit, now.difference_ms, proven))
    return tuple(found)


FEW_SHARE = 0.01


@dataclass(frozen=True, slots=True)
class FewSamples:
    """Without the `samples` slowest of `worse` its mean is `without_ms`, below the mean of `better`, `better_ms`."""

    better: str
    worse: str
    samples: int
    better_ms: float
    worse_ms: float
    without_ms: float


def decided_by_few(units: Sequence[Measured]) -> tuple[FewSamples, ...]:
    """The pairs whose order by mean flips without max(1, 1%) of the worse unit's slowest samples, or fewer.

    `samples` is the least number that flips the pair. Units whose samples are not all there are not judged.
    """
    ranked = sorted((unit for unit in units if unit.complete), key=lambda unit: unit.mean_ms)
    without = {unit.unit: _means_without_slowest(unit) for unit in ranked}
    found = []
    for better, worse in combinations(ranked, 2):
        flips = np.flatnonzero(without[worse.unit] < better.mean_ms)
        if flips.size and worse.mean_ms > better.mean_ms:
            fewest = int(flips[0])
            found.append(
                FewSamples(
                    better=better.unit,
                    worse=worse.unit,
                    samples=fewest + 1,
                    better_ms=better.mean_ms,
                    worse_ms=worse.mean_ms,
                    without_ms=float(without[worse.unit][fewest]),
                )
            )
    return tuple(found)


def _means_without_slowest(unit: Measured) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The means without 1, 2, … max(1, 1%) of the slowest samples; none when no sample would be left."""
    n = unit.samples_ms.size
    few = min(max(1, int(FEW_SHARE * n)), n - 1)
    slowest = np.sort(unit.samples_ms)[::-1][:few]
    return np.asarray((unit.samples_ms.sum() - np.cumsum(slowest)) / (n - np.arange(1, few + 1)))
