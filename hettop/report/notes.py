"""Notes below a result: power, placement, drift, clock, protocol, tokens per second, and variants beside a row.

Pure; whatever came from a file is cleaned here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from hettop.events import NO_LOAD, row_name, split_row
from hettop.format import UNKNOWN, clock, count, milliseconds, percent, significant
from hettop.report.answers import answer_notes
from hettop.report.page import Block, Paragraph, Table
from hettop.session.answers import gives_answers
from hettop.session.beside import beside, sentence
from hettop.session.power_summary import power_summary
from hettop.session.session import Session
from hettop.session.states import FALSE_ALARMS
from hettop.session.statistics import IdleGap, Reason, Statistics
from hettop.session.tokens import PREFILL, TokensPerCall, tokens_per_call
from hettop.stats.clock import has_lost
from hettop.stats.resampling import LEAST_VALUES
from hettop.stats.spikes import WIDE_TIMES
from hettop.text import clean
from hettop.units import NS_PER_S

CORE_ML, SERVER = "coreml", "server"
WORTH_SAYING = 2


def failure_words(error: Reason) -> str:
    """Why something failed, with the hint in parentheses."""
    return clean(error.message) + (f" ({clean(error.hint)})" if error.hint else "")


def power_line(session: Session) -> list[str]:
    """Why there is no power of this run, and what fixes that, or that power was reported twice; else nothing."""
    line = power_summary(session).line
    return [*([] if line is None else [clean(line, 400)]), *_overlap_notes(session)]


def energy_notes(rows: Sequence[Statistics]) -> list[str]:
    """Why some have no energy although there was power."""
    return [f"mJ/inf {UNKNOWN} of {name(row)}: {clean(row.energy_reason)}" for row in rows if row.energy_reason]


def energy_interval(row: Statistics) -> str:
    """The 95% interval of the energy per inference in mJ, or why there is none."""
    if row.energy_ci_mj is None:
        windows = row.energy_windows or 0
        return UNKNOWN if windows >= LEAST_VALUES else f"{UNKNOWN} ({windows} of {LEAST_VALUES} power windows)"
    low, high = row.energy_ci_mj
    return f"{significant(low)} to {significant(high)}"


def evidence_notes(rows: Sequence[Statistics]) -> list[str]:
    """What each unit's plan claims beside what the rails drew; why there is no plan; why no native time."""
    found = [f"{name(row)}: {clean(row.evidence, 300)}" for row in rows if row.n and row.evidence]
    by_unit = {row.unit: row for row in rows if row.n}
    for unit, row in by_unit.items():
        if row.plan_reason and not row.evidence:  # which says it
            found.append(f"{clean(unit, 30)}: no plan: {clean(row.plan_reason)}")
    silent = [name(row) for row in rows if row.n and row.native_mean_ms is None and row.backend == CORE_ML]
    if silent:
        why = "this coremltools does not report them, or reported impossible values"
        found.append(f"native times of {', '.join(silent)} are missing: {why}")
    return found


def interruption_notes(session: Session) -> list[str]:
    """Which units' processes were stopped, and that the machine slept, as nobody sees in the samples."""
    found = []
    for unit in session.units.values():
        words = interruption_words(unit, "its process")
        found += [f"{clean(unit.name, 30)}: {each}; the samples around it are left out" for each in words]
    return found


class InterruptionCounts(Protocol):
    """How often something was stopped and the machine slept, and how long these lasted in all."""

    @property
    def stops(self) -> int: ...

    @property
    def stopped_ns(self) -> int: ...

    @property
    def sleeps(self) -> int: ...

    @property
    def slept_ns(self) -> int: ...


def interruption_words(counts: InterruptionCounts, who: str) -> list[str]:
    """Such as `<who> was stopped once, for about 3.2 s in all`, and the same of the machine's sleep."""
    found = []
    for times, ns, what in (
        (counts.stops, counts.stopped_ns, f"{who} was stopped"),
        (counts.sleeps, counts.slept_ns, "the machine slept"),
    ):
        if times:
            lasted = f", for about {ns / NS_PER_S:.1f} s in all" if ns else ""
            often = "once" if times == 1 else f"{count(times)} times"
            found.append(f"{what} {often}{lasted}")
    return found


def interruption_counts(counts: InterruptionCounts) -> dict[str, Any]:
    """The same numbers as fields of a JSON document."""
    return {
        "stops": counts.stops,
        "stopped_s": counts.stopped_ns / NS_PER_S,
        "sleeps": counts.sleeps,
        "slept_s": counts.slept_ns / NS_PER_S,
    }


def interruptions_document(session: Session) -> list[dict[str, Any]]:
    """The same for a document, one entry for each unit that was interrupted."""
    return [
        {"unit": clean(unit.name), **interruption_counts(unit)}
        for unit in session.units.values()
        if unit.stops or unit.sleeps
    ]


def power_notes(session: Session, rows: Sequence[Statistics]) -> list[str]:
    """All of it, most important first."""
    return [*power_line(session), *energy_notes(rows), *evidence_notes(rows)]


def _overlap_notes(session: Session) -> list[str]:
    """How many power samples overlap others."""
    n = session.energy.overlapping
    return [f"{n:,} power samples overlap others: each moment is counted once"] if n else []


def name(row: Statistics) -> str:
    """The unit, with its load where there is one."""
    return clean(row.unit, 30) if row.load == NO_LOAD else f"{clean(row.unit, 30)} under {clean(row.load, 30)}"


def dependence_notes(rows: Sequence[Statistics]) -> list[str]:
    """Where samples depend so much on each other that intervals are markedly wider than their number suggests."""
    dependent = [row for row in rows if row.p90_effective_n is not None and row.n > WORTH_SAYING * row.p90_effective_n]
    sizes = ", ".join(f"{name(row)} {count(row.p90_effective_n)} of {count(row.n)}" for row in dependent)
    return [f"samples depend on each other; effective sample size for P90: {sizes}"] if dependent else []


def spread_notes(rows: Sequence[Statistics]) -> list[str]:
    """Which units' latencies spread too widely to detect spikes, with what to look at instead."""
    found = []
    for row in rows:
        if row.spikes is None or row.spikes.fence_ms is None or not row.p50_ms:
            continue
        times = row.spikes.fence_ms / row.p50_ms
        if times > WIDE_TIMES:
            found.append(
                f"{name(row)}: latencies spread too widely to detect spikes: the threshold is {significant(times)}x "
                "the median; use P99 or P99.9"
            )
    return found


def drift_notes(rows: Sequence[Statistics]) -> list[str]:
    """A sentence for each condition whose level has moved; nothing for the others."""
    return [_note(row, row.drift) for row in rows if row.drift is not None]


def _note(row: Statistics, drift: dict[str, float]) -> str:
    name = clean(row.unit, 30) + ("" if row.load == NO_LOAD else f" under {clean(row.load, 30)}")
    change = percent(drift["after_ms"] / drift["before_ms"] - 1, signed=True)
    moved = f"{milliseconds(drift['before_ms'])} → {milliseconds(drift['after_ms'])} ms ({change})"
    since = f"sample {count(round(drift['from_sample']))}, {clock(round(drift['from_s'] * NS_PER_S))}"
    now = f"{milliseconds(drift['now_ms'])} ms at the end"
    return f"{name} drifted: median {moved} from {since} on, {now}, {FALSE_ALARMS}"


def clock_notes(session: Session) -> list[str]:
    """A sentence if the clock was slower at the end of something measured than at its beginning; else nothing."""
    worst = session.canary.worst
    if worst is None or not has_lost(worst[1]):
        return []
    situation, loss = worst
    units = ", ".join(clean(unit, 30) for unit in situation.units) or "nothing"
    load = "" if situation.load == NO_LOAD else f" under {clean(situation.load, 40)}"
    return [
        f"the clock is {percent(loss)} slower than at the start of {units}{load} (measured by fixed "
        "canary work): part of any change may come from the machine"
    ]


SIDE_BY_SIDE = ("unit", "load")
GAP_HEADING = ("unit", "load", "idle before, ms", "n", "P50", "P90")
FEW = 8
"""Bins of fewer samples are in JSON alone: their P90 is their slowest sample."""


def beside_notes(session: Session) -> list[str]:
    """A sentence on each variant, and what the variants are."""
    recorded = session.header.settings.get("variants") if session.header else None
    what = recorded if isinstance(recorded, dict) else {}
    known = {str(name): each.get("words") for name, each in what.items() if isinstance(each, dict)}
    notes = [f"~{clean(name, 20)}: {clean(str(words), 120)}" for name, words in known.items() if words]
    return notes + [clean(sentence(each), 300) for each in beside(session)]


def beside_document(session: Session) -> list[dict[str, Any]]:
    """The same for programs; empty without variants."""
    return [
        {
            "unit": each.unit,
            "variant": each.variant,
            "load": each.load,
            "thermal": each.thermal,
            "n": list(each.n),
            "change": {
                level: {"share": change.share, "ci": [change.low, change.high]}
                for level, change in each.changes.items()
            },
        }
        for each in beside(session)
    ]


def gap_rows(rows: Sequence[Statistics]) -> list[tuple[str, ...]]:
    """A row for each bin of pauses, where calls came at a rate; elsewhere, pauses are the scheduler's."""
    if not any(row.deadline_misses for row in rows):
        return []
    return [
        (clean(row.unit, 30), clean(row.load, 30), gap_words(gap), count(gap.n), *_quantiles(gap))
        for row in rows
        for gap in row.idle_gap or ()
        if gap.n >= FEW
    ]


def gap_blocks(rows: Sequence[Statistics]) -> list[Block]:
    """The curve as a table, below a sentence that says what it is; empty where calls did not come at a rate."""
    cells = gap_rows(rows)
    if not cells:
        return []
    return [
        Paragraph("Latency in ms by idle time before the call; the first call of each turn counts here, too."),
        Table(GAP_HEADING, cells, SIDE_BY_SIDE, ("load",)),
    ]


def gap_words(gap: IdleGap) -> str:
    """`below 0.1`, `10 to 30`, `3000 and more`."""
    if gap.from_ms == 0:
        return f"below {gap.to_ms:g}"
    return f"{gap.from_ms:g} and more" if gap.to_ms is None else f"{gap.from_ms:g} to {gap.to_ms:g}"


def _quantiles(gap: IdleGap) -> tuple[str, str]:
    return milliseconds(gap.p50_ms), milliseconds(gap.p90_ms)


FIGURES = {
    "mean_ms": "mean",
    "min_ms": "minimum",
    "p90_ms": "P90",
    "p90_early_stopping_ms": "P90 by early stopping",
}
"""What may be a protocol's figure, and how it is called."""

OPTIONS = {
    "warmup": "--warmup",
    "until_steady": "--warmup auto",
    "runs": "--runs",
    "duration_ns": "--duration",
    "rest_ns": "--rest",
    "rate_hz": "--rate",
    "interleave": "--interleave",
    "load": "--load",
}


@dataclass(frozen=True, slots=True)
class FollowedProtocol:
    """`overridden` has the options that were set against the protocol, by the names of the settings."""

    name: str
    words: str
    figures: tuple[str, ...]
    overridden: dict[str, Any]


def followed(session: Session) -> FollowedProtocol | None:
    """The protocol of a session, if its header names one."""
    recorded = session.header.settings.get("protocol") if session.header else None
    if not isinstance(recorded, dict) or not isinstance(recorded.get("name"), str):
        return None
    figures, overridden, words = (recorded.get(key) for key in ("figures", "overridden", "words"))
    return FollowedProtocol(
        name=recorded["name"],
        words=words if isinstance(words, str) else "",
        figures=tuple(each for each in FIGURES if each in figures) if isinstance(figures, list) else (),
        overridden={key: each for key, each in overridden.items() if key in OPTIONS}
        if isinstance(overridden, dict)
        else {},
    )


def protocol_notes(session: Session, rows: Sequence[Statistics]) -> list[str]:
    """Which protocol, what of it was overridden, and its figures for each unit; nothing without one."""
    protocol = followed(session)
    if protocol is None:
        return []
    name = clean(protocol.name, 20)
    changed = ", ".join(_option(key, value) for key, value in protocol.overridden.items())
    notes = [f"protocol {name} ({clean(protocol.words, 80)})" + (f", overridden by {changed}" if changed else "")]
    results = [f"{_condition(row)} {', '.join(_figures(row, protocol.figures))}" for row in rows if row.n]
    return notes + ([f"results by {name}: {'; '.join(results)}"] if results and protocol.figures else [])


def protocol_document(session: Session, rows: Sequence[Statistics]) -> dict[str, Any] | None:
    """The same for programs; None without a protocol."""
    protocol = followed(session)
    if protocol is None:
        return None
    return {
        "name": protocol.name,
        "figures": list(protocol.figures),
        "overridden": protocol.overridden,
        "results": [
            {"unit": row.unit, "load": row.load, "n": row.n, **{each: getattr(row, each) for each in protocol.figures}}
            for row in rows
        ],
    }


def _condition(row: Statistics) -> str:
    return clean(row.unit, 30) if row.load == NO_LOAD else f"{clean(row.unit, 30)} under {clean(row.load, 30)}"


def _figures(row: Statistics, names: Sequence[str]) -> list[str]:
    return [f"{FIGURES[name]} {milliseconds(getattr(row, name))} ms" for name in names]


def _option(name: str, value: object) -> str:
    """`--runs 20`, `--rest 0s`, `--interleave`."""
    if value is True:
        return OPTIONS[name]
    if name.endswith("_ns") and isinstance(value, int | float):
        return f"{OPTIONS[name]} {value / NS_PER_S:g}s"
    return f"{OPTIONS[name]} {clean(str(value), 40)}"


OF_WHAT = "tokens/s are for one sequence, from the median call"
APART = "prefill and decode run in separate processes: decode does not continue from prefill's state"

Situation = tuple[str, str | None]


def token_notes(session: Session, rows: Sequence[Statistics]) -> list[str]:
    """A sentence on each unit and condition, and how the tokens were counted; nothing for other models."""
    if gives_answers(session):
        return answer_notes(session, rows)
    per_call = tokens_per_call(session)
    if per_call is None or per_call.prefill is None:
        return []
    counted = f"tokens per call: {count(per_call.prefill)} in prefill, {count(per_call.decode)} in decode"
    by = f", by {clean(per_call.by, 100)}" if per_call.by else ""
    return [*_sentences(per_call, rows), f"{counted}{by}; {OF_WHAT}", APART]


def tokens_document(session: Session) -> dict[str, Any] | None:
    """The same for programs: tokens of one sequence in a call, and how that is known."""
    per_call = tokens_per_call(session)
    if per_call is None:
        return None
    return {"prefill": per_call.prefill, "decode": per_call.decode, "by": per_call.by, "prefill_variant": PREFILL}


def _sentences(per_call: TokensPerCall, rows: Sequence[Statistics]) -> Iterator[str]:
    for unit in dict.fromkeys(split_row(row.unit)[0] for row in rows):
        sides = [row for row in rows if row.unit in (unit, row_name(unit, PREFILL))]
        measured = dict.fromkeys((row.load, row.thermal) for row in sides if row.n)
        for situation in measured or {(sides[0].load, sides[0].thermal): None}:
            prefill = _row(sides, row_name(unit, PREFILL), situation)
            decode = _row(sides, unit, situation)
            yield f"{_name(unit, situation)}: {_sentence(per_call, prefill, decode)}"


def _row(rows: Sequence[Statistics], name: str, situation: Situation) -> Statistics | None:
    """The row's statistics there; those of an unmeasured row have the reason."""
    own = [row for row in rows if row.unit == name]
    found = (row for row in own if (row.load, row.thermal) == situation or not row.n)
    return next(found, None)


def _sentence(per_call: TokensPerCall, prefill: Statistics | None, decode: Statistics | None) -> str:
    first = UNKNOWN
    if prefill is not None and decode is not None and prefill.n and decode.n:
        first = f"{milliseconds(prefill.p50_ms)} ms + {milliseconds(decode.p50_ms)} ms"
    return (
        f"prefill {_side(per_call.prefill, prefill)}, decode {_side(per_call.decode, decode)}; "
        f"first token after a {count(per_call.prefill or 0)}-token prompt: {first}"
    )


def _side(tokens: int | None, row: Statistics | None) -> str:
    if row is None or not row.n:
        why = row.error.message if row is not None and row.error is not None else "not measured under this condition"
        return f"{UNKNOWN} ({clean(why)})"
    rate = f"{significant(row.tokens_per_s)} tokens/s"
    return rate if tokens == 1 else f"{count(tokens)} tokens in {milliseconds(row.p50_ms)} ms ({rate})"


def _name(unit: str, situation: Situation) -> str:
    load, thermal = situation
    under = "" if load == NO_LOAD else f" under {clean(load, 30)}"
    return f"{clean(unit, 30)}{under}{f' ({clean(thermal, 20)})' if thermal else ''}"
