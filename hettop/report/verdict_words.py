"""A verdict in sentences and cells: the same words for the terminal and for Markdown.

Pure; whatever came from a file is cleaned here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from hettop.analysis.budget import SERIES_OF, Budget, EnergyJudgement, Judgement
from hettop.analysis.ranking import BY_ENERGY, spread, tail
from hettop.analysis.start_up import ReadyJudgement, StartUp, Total
from hettop.analysis.unit_samples import NATIVE, RESPONSE, Measured
from hettop.analysis.verdict import Facts, FewTurns, Verdict
from hettop.compute_units import reference_unit
from hettop.events import FIRST_TOKENS, NO_LOAD, split_row
from hettop.format import UNKNOWN, count, group_names, milliseconds, percent, significant
from hettop.report.explain import footnote
from hettop.report.notes import failure_words, power_line, protocol_notes
from hettop.report.swift import python_snippet, swift_snippet
from hettop.session.session import Session
from hettop.stats.quantiles import CONFIDENCE, samples_needed
from hettop.stats.resampling import LEAST_VALUES, STRETCH
from hettop.text import clean
from hettop.version import __version__

HEADING = (
    "unit", "n", "mean", "P50", "P90", "min", "max", "max/min", "P90/min", "mJ", "budget", "energy", "load time",
    "first call", "runs on", "plan (predicted)", "outputs",
)  # fmt: skip
LEFT = ("unit", "budget", "energy", "runs on", "plan (predicted)", "outputs")
# What a narrow terminal can do without, first to go first.
DISPENSABLE = (
    "first call",
    "load time",
    "P50",
    "outputs",
    "plan (predicted)",
    "runs on",
    "min",
    "max",
    "mJ",
    "P90/min",
    "max/min",
)
CORE_ML_BACKENDS = ("coreml", "simulated")
UNITS_NAMED = 12  # of pairs and failures; a damaged recording can name hundreds
_ANSWER = {True: "yes", False: "no", None: "not proven"}
_SERIES = {RESPONSE: "response time", NATIVE: "native latency"}


def provenance(session: Session) -> list[str]:
    """What was measured, where, with which versions; SIMULATED first where that is so."""
    if session.header is None:
        return ["SIMULATED"] if session.simulated else []
    host, model = session.header.host, session.header.model
    frameworks = [] if session.simulated else [f"{name} {version}" for name, version in host.frameworks.items()]
    facts = [
        f"{model.name or 'model'} ({model.note})" if model.note else model.name or "model",
        f"sha256 {model.sha256[:12]}" if model.sha256 else None,
        host.chip,
        host.os,
        None if model.backend in host.frameworks else model.backend,
        *frameworks,
        f"power mode {host.power_mode}" if host.power_mode else None,
        *protocol_notes(session, []),
        f"recorded by hettop {host.hettop}" if host.hettop not in (None, __version__) else None,
        f"hettop {__version__}",
    ]
    return (["SIMULATED"] if session.simulated else []) + [clean(text, 80) for text in facts if text]


def conditions_line(verdict: Verdict) -> str:
    """Under what the samples were taken."""
    states = list(dict.fromkeys(state for unit in verdict.units for state in unit.thermal))
    thermal = ", ".join(clean(state, 20) if state else "unknown" for state in states) or "unknown"
    latency = "the framework's own time" if verdict.question.by == NATIVE else "wall time"
    budgeted = verdict.question.budget.rate_hz if verdict.question.budget else None
    back_to_back = "; measured back to back" if budgeted else ""
    paced = f"; paced at {verdict.paced_at:g} inf/s" if verdict.paced_at else back_to_back
    return f"load {clean(verdict.load, 40)}; thermal state {thermal}; {latency}{paced}"


def headline(verdict: Verdict) -> str:
    """The verdict in one sentence."""
    if not verdict.ranks.latency:
        return "No unit can be used: each failed, or its outputs are wrong." if verdict.units else ""
    if verdict.question.budget is not None:
        return _headline_of_budget(verdict, verdict.question.budget)
    units = {unit.unit: unit for unit in verdict.units}
    first = units[verdict.ranks.latency[0]]
    name = clean(first.unit, 30)
    if len(verdict.ranks.latency) == 1 or not verdict.order:
        under = "" if verdict.load == NO_LOAD else f" under {clean(verdict.load, 40)}"
        return f"{name} alone was measured{under}: mean {_ms(first.mean_ms)}, P90 {_ms(first.p90_ms)}."
    pair = verdict.order[0]
    ahead = (
        f"{_ms(pair.difference_ms)} ({percent(pair.difference_ms / first.mean_ms)}) ahead of {clean(pair.worse, 30)}"
    )
    if pair.proven:
        return f"{name} is the fastest: mean {_ms(first.mean_ms)}, {ahead}, proven."
    return f"{name} is the fastest so far, {ahead}; that is not proven, more samples may change it."


def _headline_of_budget(verdict: Verdict, budget: Budget) -> str:
    meets = f"P{budget.quantile * 100:g} at most {milliseconds(budget.limit_ms)} ms"
    names = verdict.ranks.latency
    proven = [name for name in names if (judged := verdict.judgements.get(name)) is not None and judged.met]
    if proven:
        others = f", as {'is' if len(proven) == 2 else 'are'} {', '.join(clean(name, 30) for name in proven[1:4])}"
        return f"{clean(proven[0], 30)} is proven to meet {meets}{others if len(proven) > 1 else ''}."
    open_ = [name for name in names if (judged := verdict.judgements.get(name)) is None or judged.met is None]
    if not open_:
        return f"No unit meets {meets}: proven for {'it' if len(names) == 1 else 'all of them'}."
    judged = verdict.judgements.get(open_[0])
    needs = ""
    if judged is not None and judged.needs:
        needs = f", about {_more(judged)}, may decide"
    return f"No unit is proven to meet {meets} yet: {clean(open_[0], 30)} is undecided{needs}."


def advice(verdict: Verdict) -> list[tuple[str, str, str]]:
    """Purpose, unit, reason."""
    units = {unit.unit: unit for unit in verdict.units}
    found = [*_answer(verdict), *_least_total(verdict)]
    given = verdict.advice
    if given.real_time:
        found.append(
            ("real time", given.real_time, f"lowest mean, {_ms(units[given.real_time].mean_ms)}{_lead(verdict)}")
        )
    if given.predictable:
        found.append(("predictable", given.predictable, _why_predictable(verdict)))
    if given.batch:
        unit = units[given.batch]
        found.append(
            ("batch", unit.unit, f"lowest median, {_ms(unit.p50_ms)} (~ P50 ignores outliers){_higher_rate(verdict)}")
        )
    for name in given.avoid:
        unit = units[name]
        if not verdict.facts[name].usable:
            found.append(("avoid", name, _why_unusable(verdict.facts[name])))
            continue
        found.append(("avoid", name, f"highest mean, {_ms(unit.mean_ms)}, and highest max/min, {_ratio(spread(unit))}"))
    return [(purpose, clean(unit, 30), why) for purpose, unit, why in found]


def _higher_rate(verdict: Verdict) -> str:
    """The unit with the lowest mean, where that is not the one with the lowest median and calls came back to back."""
    units = {unit.unit: unit for unit in verdict.units}
    if verdict.advice.batch is None or verdict.advice.real_time is None:
        return ""
    if verdict.paced_at is not None or verdict.question.by == NATIVE:
        return ""
    batch, fastest = units[verdict.advice.batch], units[verdict.advice.real_time]
    if fastest.mean_ms >= batch.mean_ms:
        return ""
    ours, theirs = (significant(1e3 / each.mean_ms) for each in (batch, fastest))
    what = "inf" if batch.answers is None else "tokens"
    return f"; higher rate: {clean(fastest.unit, 30)}, {theirs} against {ours} {what}/s"


def _why_predictable(verdict: Verdict) -> str:
    """The ratio of a high quantile to the median, and which units are not proven to differ by it."""
    found, ties = verdict.ranks.tails[0], verdict.advice.predictable_ties
    known = found.low is not None and found.high is not None
    interval = f"95% interval {_ratio(found.low or 0)} to {_ratio(found.high or 0)}" if known else "no 95% interval"
    not_proven = (
        f"; not proven to differ from {', '.join(clean(name, 30) for name in ties[:UNITS_NAMED])}" if ties else ""
    )
    return f"lowest P{100 * found.level:g}/P50, {_ratio(found.ratio)} ({interval}){not_proven}"


def _answer(verdict: Verdict) -> list[tuple[str, str, str]]:
    """What was asked for, if anything: which unit meets it, or that none does."""
    if not (verdict.asked_for_proof and (verdict.units or verdict.ready)):
        return []
    if not verdict.meeting:
        return [("in budget", "none", "no unit is proven to meet the budget")]
    first, *others = verdict.meeting
    are = "is" if len(others) == 1 else "are"
    too = f", as {are} {', '.join(clean(name, 30) for name in others[:UNITS_NAMED])}" if others else ""
    return [("in budget", first, f"proven to meet the budget{too}")]


def _least_total(verdict: Verdict) -> list[tuple[str, str, str]]:
    """For so many calls as was asked: the unit with the lowest total time."""
    found = verdict.totals
    if found is None or not found.units:
        return []
    first, *others = found.units
    lead = ""
    if others and found.lead_ms is not None:
        lead = f"; {_duration(found.lead_ms)} ahead of {clean(others[0].unit, 30)}"
        if found.lead_interval_ms is None:
            lead += "(insufficient starts for an interval)"
        else:
            low, high = (milliseconds(end) for end in found.lead_interval_ms)
            lead += f" ({'' if found.proven else 'not proven: '}95% interval {low} to {high} ms)"
    calls = "1 call" if found.calls == 1 else f"{count(found.calls)} calls"
    return [(calls, first.unit, f"lowest total time, start-up included, {_duration(first.ms)}{lead}")]


@dataclass(frozen=True, slots=True)
class Code:
    """How to load the model with the unit that is advised."""

    unit: str
    swift: str
    python: str


def code(verdict: Verdict, session: Session) -> Code | None:
    """Code for the unit that meets what was asked, or is the fastest where nothing was asked.

    None where no unit is advised, and where Core ML was not what ran, or was simulated: its configurations are nobody
    else's.
    """
    model = session.header.model if session.header else None
    if model is None or model.backend not in CORE_ML_BACKENDS:
        return None
    advised = next(iter(verdict.meeting), None) if verdict.asked_for_proof else verdict.advice.real_time
    function = session.header.settings.get("function") if session.header else None
    named = function if isinstance(function, str) else None
    hints = _hints(session)
    swift, python = swift_snippet(advised or "", named, hints), python_snippet(advised or "", named, hints)
    return Code(advised, swift, python) if advised and swift and python else None


def _hints(session: Session) -> dict[str, str]:
    """The optimisation hints that the measurement was given; a recording may hold anything in their place."""
    found = session.header.settings.get("hints") if session.header else None
    return {name: value for name, value in found.items() if isinstance(value, str)} if isinstance(found, dict) else {}


def _lead(verdict: Verdict) -> str:
    if not verdict.order:
        return "; no other unit was measured"
    first = verdict.order[0]
    ahead = f"; {_ms(first.difference_ms)} ahead of {clean(first.worse, 30)}"
    if first.interval_ms is None:
        return f"{ahead} (not proven: fewer than {LEAST_VALUES} independent turns of {STRETCH} calls)"
    low, high = (milliseconds(end) for end in first.interval_ms)
    surely = "" if first.proven else "not proven: "
    return f"{ahead} ({surely}{100 * first.confidence:.4g}% interval {low} to {high})"


def warnings(verdict: Verdict) -> Iterator[str]:
    """What makes the advice weak, and which units are left out of it."""
    for name in verdict.unusable[:UNITS_NAMED]:
        yield f"{clean(name, 30)} is excluded from the ranking: {_why_unusable(verdict.facts[name])}"
    for name in [unit.unit for unit in verdict.units if verdict.facts[unit.unit].unlike][:UNITS_NAMED]:
        reference = clean(verdict.facts[name].reference or UNKNOWN, 30)
        yield (
            f"outputs of {clean(name, 30)} and {reference} differ ({_outputs(verdict.facts[name])}); "
            f"measure {reference_unit(name)} too, to find which is right"
        )
    for name in [unit.unit for unit in verdict.units if _decides_otherwise(verdict.facts[unit.unit])][:UNITS_NAMED]:
        yield f"{clean(name, 30)} sometimes has a different top-1: {_outputs(verdict.facts[name])}"
    others = (row.unit for row in verdict.rows if row.n and split_row(row.unit)[1] not in (None, FIRST_TOKENS))
    variants = list(dict.fromkeys(others))
    if variants:
        named = ", ".join(clean(name, 30) for name in variants[:UNITS_NAMED])
        yield f"{named}: excluded (another way of running, or another model)"
    if verdict.few_turns is not None:
        yield _few_turns(verdict.few_turns)
    for pair in verdict.few[:UNITS_NAMED]:
        samples = "1 sample decides" if pair.samples == 1 else f"{pair.samples} samples decide"
        better, worse = clean(pair.better, 30), clean(pair.worse, 30)
        yield (
            f"{samples} the order of {better} and {worse}: without "
            f"{'it' if pair.samples == 1 else 'them'}, {worse} averages {_ms(pair.without_ms)} and "
            f"{better} {_ms(pair.better_ms)}"
        )
    if len(verdict.few) > UNITS_NAMED:
        yield f"{len(verdict.few) - UNITS_NAMED} more pairs are decided by few samples"
    states = {unit.thermal for unit in verdict.units}
    if len(states) > 1:
        yield "units were measured in different thermal states: heat may confound this"
    thinned = [clean(unit.unit, 30) for unit in verdict.units if not unit.complete]
    if thinned:
        units = ", ".join(thinned[:UNITS_NAMED])
        yield f"intervals of {units} are computed from a part of the samples, spread evenly over the run"


def _few_turns(few: FewTurns) -> str:
    if few.interleaved:
        had = "1 turn" if few.turns == 1 else f"{few.turns} turns"
        return f"{clean(few.unit, 30)} had only {had}: background activity may confound this; hint: measure longer"
    return (
        "units were not interleaved: background activity may confound this; hint: interleave them (i on the screen, "
        "--interleave for bench)"
    )


def order_lines(verdict: Verdict) -> Iterator[str]:
    """The four ranks with their formulas, those of the same order on one line; none of a single unit."""
    ranks = verdict.ranks
    if len(ranks.latency) < 2:
        return
    efficiency = (
        BY_ENERGY if ranks.efficiency_by == BY_ENERGY else "1/fastest call, as energy is not known for all units"
    )
    by_order: dict[tuple[str, ...], list[str]] = {}
    for name, formula, units in (
        ("latency", "mean", ranks.latency),
        ("stability", "max/min", ranks.stability),
        ("efficiency", efficiency, ranks.efficiency),
        ("consistency", "P90/min", ranks.consistency),
    ):
        by_order.setdefault(tuple(units[:UNITS_NAMED]), []).append(f"{name} ({formula})")
    for at, (units, names) in enumerate(by_order.items()):
        head = "best first by" if not at else "by"
        *others, last = names
        which = f"{', '.join(others)} and {last}" if others else last
        yield f"{head} {which}: {', '.join(clean(unit, 30) for unit in units)}"


def flip_lines(verdict: Verdict) -> Iterator[str]:
    """Where the order by mean is another under another load; none of a single unit."""
    if len(verdict.ranks.latency) < 2:
        return
    for flip in verdict.flips[:UNITS_NAMED]:
        surely = "" if flip.proven else ", not proven"
        yield (
            f"the order changes under {clean(flip.load, 40)}: {clean(flip.faster, 30)} is faster than "
            f"{clean(flip.slower, 30)} by {_ms(flip.difference_ms)}{surely}"
        )
    if len(verdict.flips) > UNITS_NAMED:
        yield f"{len(verdict.flips) - UNITS_NAMED} more pairs change order under other loads"
    if len(verdict.loads) > 1 and not verdict.flips:
        others = ", ".join(clean(load, 40) for load in verdict.loads if load != verdict.load)
        yield f"the order by mean is the same under {others}"


def budgets(verdict: Verdict) -> Iterator[tuple[str, list[str]]]:
    """Each budget, and each unit's standing; no `yes` and no `no` without proof."""
    budget = verdict.question.budget
    for each, judgements in ((budget, verdict.judgements), (verdict.question.also, verdict.also)):
        if each is None:
            continue
        rate = f", at {each.rate_hz:g} {'answers' if each.of else 'inf'}/s" if each.rate_hz else ""
        sure = f"{100 * verdict.question.confidence:.4g}% confidence for all units"
        of = f" of the {SERIES_OF[each.of]}" if each.of else ""
        yield (
            f"budget: P{each.quantile * 100:g}{of} at most {_ms(each.limit_ms)}{rate}, at {sure}",
            [
                _judged(judged, _missing(verdict, judged)) + _never(verdict.facts[judged.unit])
                for judged in list(judgements.values())[:UNITS_NAMED]
            ],
        )
    if verdict.goodput:
        yield (
            "goodput, answers within all limits (of later tokens by their mean):",
            [
                f"{clean(unit, 30)}: {percent(kept / of)} ({count(kept)} of {count(of)})"
                for unit, (kept, of) in list(verdict.goodput.items())[:UNITS_NAMED]
            ],
        )
    if verdict.energy is not None:
        yield (
            f"energy budget: at most {significant(verdict.question.energy_mj)} mJ/inference, at "
            f"{100 * verdict.question.confidence:.4g}% confidence for all units",
            [
                _energy(judged) + _never(verdict.facts[judged.energy.unit])
                for judged in list(verdict.energy.values())[:UNITS_NAMED]
            ],
        )
    yield from _start_up(verdict)
    if budget is None and verdict.needs:
        lacking = list(verdict.needs.items())[:UNITS_NAMED]
        yield (
            "insufficient data for P90, more samples needed:",
            [f"{clean(unit, 30)}: {count(needs)}{_dependent(verdict, unit)}" for unit, needs in lacking],
        )


def _start_up(verdict: Verdict) -> Iterator[tuple[str, list[str]]]:
    """Start-up within its limit, and the total time of the calls that were asked for."""
    starts = {start.unit: start for start in verdict.starts}
    if verdict.ready is not None and verdict.question.cold_ms is not None:
        yield (
            "start-up budget: median time to the first output at most "
            f"{_duration(verdict.question.cold_ms)}, at {percent(CONFIDENCE)} confidence",
            [_is_ready(judged, starts[judged.unit]) for judged in list(verdict.ready.values())[:UNITS_NAMED]],
        )
    if verdict.totals is not None:
        calls = verdict.totals.calls
        yield (
            f"total time of one start and {count(calls)} call{'' if calls == 1 else 's'}, with 95% intervals:",
            [_total(total) for total in verdict.totals.units[:UNITS_NAMED]],
        )
        for start in verdict.starts[:UNITS_NAMED]:
            if start.error is not None:
                yield (f"{clean(start.unit, 30)}: no total, because a start failed: {clean(start.error)}", [])


def _is_ready(judged: ReadyJudgement, start: StartUp) -> str:
    said = f"{clean(judged.unit, 30)}: {_ANSWER[judged.met]}" + (f": {clean(judged.why)}" if judged.why else "")
    if judged.median_ms is None:
        return said
    low, high = (milliseconds(end) if end is not None else UNKNOWN for end in (judged.low_ms, judged.high_ms))
    compiled = {None: "", True: ", compiled before", False: ", compiled anew"}[start.cached]
    starts = f"{count(judged.n)} start{'' if judged.n == 1 else 's'}{compiled}"
    return f"{said} (median {milliseconds(judged.median_ms)} ms, interval {low} to {high} ms, {starts})"


def _total(total: Total) -> str:
    interval = ""
    if total.low_ms is not None and total.high_ms is not None:
        interval = f" ({milliseconds(total.low_ms)} to {milliseconds(total.high_ms)} ms)"
    return f"{clean(total.unit, 30)}: {_duration(total.ms)}{interval}"


def _duration(ms: float) -> str:
    """In s from a second on, where a total may be minutes."""
    return f"{significant(ms / 1e3)} s" if ms >= 1e3 else _ms(ms)


def _energy(judged: EnergyJudgement) -> str:
    energy = judged.energy
    said = f"{clean(energy.unit, 30)}: {_ANSWER[judged.met]}" + (f": {judged.why}" if judged.why else "")
    if energy.mj is None:
        return said
    interval = ""
    if energy.low_mj is not None and energy.high_mj is not None:
        interval = f", interval {significant(energy.low_mj)} to {significant(energy.high_mj)}"
    windows = f"{count(energy.windows)} power window{'' if energy.windows == 1 else 's'}"
    covered = f", power known for {math.floor(100 * energy.coverage)}% of the time" if energy.coverage else ""
    return f"{said} ({significant(energy.mj)} mJ{interval}, {windows}{covered})"


def _never(facts: Facts) -> str:
    return "" if facts.usable else "; excluded"


def _lasting(seconds: float | None) -> str:
    if seconds is None or seconds < 1:
        return ""
    return f" ({seconds / 60:.0f} min)" if seconds >= 100 else f" ({seconds:.0f} s)"


def _dependent(verdict: Verdict, unit: str) -> str:
    """Why that many samples are not enough."""
    needed = samples_needed(0.9)
    if next(each.n for each in verdict.units if each.unit == unit) < needed:
        return ""
    return f" (samples depend on each other: effective sample size {count(verdict.effective[unit])} of {needed})"


def _missing(verdict: Verdict, judged: Judgement) -> str:
    """What would prove it; empty where it is proven, or nobody knows."""
    if judged.met is None and verdict.off_the_rate and verdict.question.budget is not None:
        return f"; measure again with --rate {verdict.question.budget.rate_hz:g}"
    return needs_words(judged)


def needs_words(judged: Judgement) -> str:
    """How many more samples may decide it; empty where it is decided, or nobody knows."""
    if not judged.needs:
        return ""
    proves = {None: "", True: " to prove it met", False: " to prove it missed"}[judged.needs_for]
    return f"; needs about {_more(judged)}{proves}"


def _more(judged: Judgement) -> str:
    """The samples that may decide it, or answers where tokens are the samples, and how long they take."""
    of = judged.needs_answers
    if of is not None:
        return f"{count(of)} more answer{'' if of == 1 else 's'}{_lasting(judged.needs_s)}"
    return f"{count(judged.needs)} more sample{'' if judged.needs == 1 else 's'}{_lasting(judged.needs_s)}"


def _judged(judged: Judgement, more: str) -> str:
    low, high = (milliseconds(end) if end is not None else UNKNOWN for end in (judged.low_ms, judged.high_ms))
    of = f" of the {_SERIES[judged.series]}" if judged.series in _SERIES else ""
    why = f": {judged.why}" if judged.why else ""
    return (
        f"{clean(judged.unit, 30)}: {_ANSWER[judged.met]}{why}{more} (interval{of} {low} to {high} ms, "
        f"{count(judged.n)} samples, effective sample size {count(judged.effective)}){_stalls(judged)}"
    )


def _stalls(judged: Judgement) -> str:
    """What a run at a rate cannot have shown."""
    if judged.series != RESPONSE or judged.seen_one_in is None:
        return ""
    return (
        f"; longest response {milliseconds(judged.longest_ms)} ms; stalls rarer than one in "
        f"{count(judged.seen_one_in)} calls cannot be excluded"
    )


def failure_lines(verdict: Verdict) -> Iterator[str]:
    failed = [(clean(unit, 30), failure_words(reason)) for unit, reason in verdict.failed.items()]
    for units, words in group_names(failed)[:UNITS_NAMED]:
        yield f"{units}: {words}"
    timed = {row.unit for row in verdict.rows if row.n and row.load == verdict.load}
    for unit in [name for name in verdict.unmeasured if name in timed][:UNITS_NAMED]:
        yield f"{clean(unit, 30)}: no native latency reported by the framework; hint: --by wall"


def unmeasured_lines(verdict: Verdict) -> Iterator[str]:
    """The units without samples under the load, which is not a failure while a measurement goes on."""
    timed = {row.unit for row in verdict.rows if row.n and row.load == verdict.load}
    missing = [clean(unit, 30) for unit in verdict.unmeasured if unit not in timed]
    if missing:
        yield f"not measured under load {clean(verdict.load, 40)}: {', '.join(missing[:UNITS_NAMED])}"


def fact_lines(verdict: Verdict, session: Session) -> Iterator[str]:
    """What is known, and what is not, of power and of where the units ran."""
    yield from power_line(session)
    if session.dropped:
        samples = "1 sample is" if session.dropped == 1 else f"{count(session.dropped)} samples are"
        yield f"{samples} missing in the recording and not included"
    for unit in verdict.units[:UNITS_NAMED]:
        evidence = verdict.facts[unit.unit].evidence
        if evidence:
            yield f"{clean(unit.unit, 30)}: {clean(evidence, 300)}"


def method_line() -> str:
    return f"times in ms; {percent(CONFIDENCE)} intervals; {footnote('decide')}"


def table_rows(verdict: Verdict) -> list[tuple[str, ...]]:
    """Cells in the order of `HEADING`, best mean first, the failed ones last; empty where nothing was asked."""
    units = {unit.unit: unit for unit in verdict.units}
    rows = [_row(verdict, units[name]) for name in (*verdict.ranks.latency, *verdict.unusable)]
    blank = [""] * (len(HEADING) - 5)
    failed = [(clean(unit, 30), "0", *blank, "failed", "", "") for unit in verdict.failed if unit not in units]
    return rows + failed[:UNITS_NAMED]


def _row(verdict: Verdict, unit: Measured) -> tuple[str, ...]:
    facts = verdict.facts[unit.unit]
    energy = verdict.energy.get(unit.unit) if verdict.energy is not None else None
    return (
        clean(unit.unit, 30),
        count(unit.n),
        milliseconds(unit.mean_ms),
        milliseconds(unit.p50_ms),
        milliseconds(unit.p90_ms),
        milliseconds(unit.min_ms),
        milliseconds(unit.max_ms),
        _ratio(spread(unit)),
        _ratio(tail(unit)),
        significant(facts.energy_mj) if facts.energy_mj is not None else "",
        "" if verdict.question.budget is None else _ANSWER[verdict.in_budget(unit.unit)],
        "" if energy is None else _ANSWER[energy.met],
        milliseconds(facts.load_ms) if facts.load_ms is not None else "",
        milliseconds(facts.first_ms) if facts.first_ms is not None else "",
        "failed" if facts.failed is not None else clean(facts.placed, 40) if facts.placed else "",
        "" if facts.fallback is None else f"{percent(facts.fallback)} of operations fall back",
        _outputs(facts),
    )


def _decides_otherwise(facts: Facts) -> bool:
    return facts.usable and not facts.unlike and facts.top1 is not None and facts.top1 < 1


def _why_unusable(facts: Facts) -> str:
    if facts.failed is not None:
        return f"it failed ({clean(facts.failed)})"
    return f"its outputs are wrong ({_outputs(facts)})"


def _outputs(facts: Facts) -> str:
    if facts.reference is None:
        return ""
    if facts.not_finite:
        return f"{facts.not_finite} values are NaN or infinite"
    decided = "" if facts.top1 is None or facts.top1 == 1 else f", different top-1 in {percent(1 - facts.top1)} of rows"
    return f"{percent(facts.difference)} off {clean(facts.reference, 30)}{decided}"


def _ms(value: float) -> str:
    return f"{milliseconds(value)} ms"


def _ratio(value: float) -> str:
    return significant(value) if math.isfinite(value) else UNKNOWN
