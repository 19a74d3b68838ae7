"""What bench, replay and a `hettop` without a terminal print: a row per unit and condition, notes below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hettop.compute_units import reference_unit
from hettop.events import NO_LOAD, split_row
from hettop.format import UNKNOWN, count, group_names, milliseconds, percent, significant
from hettop.report.explain import footnote
from hettop.report.notes import (
    SERVER,
    beside_notes,
    clock_notes,
    drift_notes,
    energy_interval,
    failure_words,
    gap_blocks,
    interruption_notes,
    power_notes,
    protocol_notes,
    spread_notes,
    token_notes,
)
from hettop.report.page import Block, Items, Paragraph, Table
from hettop.report.spikes_section import cause_notes
from hettop.session.condition import JUDGED_FROM
from hettop.session.session import Session
from hettop.session.statistics import Statistics, statistics
from hettop.stats.steady import PART, SEEN_WITHIN
from hettop.text import clean

_COLUMNS = (
    *("unit", "load", "n", "mean", "std", "min", "P50", "P90", "95% of P90", "P99", "max", "native", "inf/s"),
    *("tokens/s", "mJ/inf", "spikes"),
)
# What a narrow terminal can do without, first to go first.
_DISPENSABLE = ("std", "min", "spikes", "95% of P90", "P50", "native", "P99", "inf/s", "mJ/inf", "max", "tokens/s")


def session_blocks(session: Session, found: Sequence[str] = ()) -> Iterator[Block]:
    """Title, table and notes of a session; `found`: a paragraph for each study."""
    rows = statistics(session)
    yield Paragraph(_title(session), "muted")
    for sentence in found:
        yield Paragraph(sentence)
    if found and not rows:  # a recording of studies alone
        yield Paragraph("hettop report shows all results")
        return
    yield _table(rows) if rows else Paragraph("nothing was measured", "warning")
    yield from gap_blocks(rows)
    for text in _failures(rows):
        yield Paragraph(text, "error")
    first = (*interruption_notes(session), *clock_notes(session), *protocol_notes(session, rows), *_first_use(rows))
    then = (*token_notes(session, rows), *beside_notes(session), *power_notes(session, rows))
    yield Items(list(dict.fromkeys([*first, *then, *_unit_notes(session), *cause_notes(session), *_notes(rows)])))


def _first_use(rows: Sequence[Statistics]) -> list[str]:
    """What the first use of each unit cost, and what the framework claims of it."""
    found = []
    for row in {row.unit: row for row in rows}.values():
        compiled = (
            "" if row.cached is None else "compiled before" if row.cached else f"compiled in {_ms(row.compile_ms)}"
        )
        loaded = "" if row.load_ms is None else f"loaded in {_ms(row.load_ms)}"
        first = "" if row.first_ms is None else f"first call {_ms(row.first_ms)}"
        parts = ", ".join(filter(None, (compiled, loaded, first, _warmup(row), _plan(row))))
        found += [f"{clean(row.unit, 30)}: {parts}"] if parts else []
    return found


def _warmup(row: Statistics) -> str:
    """How a warm-up ended that was to last until the unit is steady."""
    if row.warmup_steady is None:
        return ""
    calls = len(row.warmup_ms)
    if not row.warmup_steady:
        return f"not steady within {calls} calls"
    seen = (
        f"no trend over the last {round(PART * calls)}; changes slower than about {SEEN_WITHIN} calls may not be seen"
    )
    return f"warmed up until steady, {calls} calls ({seen})"


def _plan(row: Statistics) -> str:
    plan = row.plan
    if plan is None or plan.fallback_ratio_count is None:
        return ""
    fallback = percent(plan.fallback_ratio_count)
    return (
        f"plan (predicted): {fallback} of {plan.ops} operations fall back from the {clean(plan.accelerator or '', 20)}"
    )


def _ms(value: float | None) -> str:
    return f"{milliseconds(value)} ms"


def _unit_notes(session: Session) -> list[str]:
    """What the engines had to say: how many threads the default is, which shapes were chosen; once for all units."""
    notes = (
        (clean(unit.name, 30), clean(note))
        for unit in session.units.values()
        for note in (unit.note or "").split(" · ")
        if note
    )
    return [f"{names}: {note}" for names, note in group_names(notes)]


def _title(session: Session) -> str:
    opening = session.header
    model = clean(opening.model.name or "model", 60) if opening else "model"
    if opening and opening.model.note:
        model += f" ({clean(opening.model.note, 60)})"
    where = [opening.host.chip, opening.host.os] if opening else []
    title = " · ".join([model, *(clean(text, 60) for text in where if text)])
    return f"SIMULATED · {title}" if session.simulated else title


def _table(rows: Sequence[Statistics]) -> Table:
    kept = [place for place, name in enumerate(_COLUMNS) if _tells_something(name, rows)]
    cells = [_cells(row) for row in rows]
    heading = [_COLUMNS[place] for place in kept]
    return Table(heading, [[row[place] for place in kept] for row in cells], ("unit", "load"), _DISPENSABLE)


def _tells_something(column: str, rows: Sequence[Statistics]) -> bool:
    """Whether a column that not every measurement has is of use in this one."""
    match column:
        case "load":
            return any(row.load != NO_LOAD or row.thermal for row in rows)
        case "native":
            return any(row.native_mean_ms is not None for row in rows)
        case "tokens/s":
            return any(row.tokens_per_call is not None for row in rows)
        case "mJ/inf":
            return any(row.energy_mj_per_inference is not None for row in rows)
    return True


def _cells(row: Statistics) -> tuple[str, ...]:
    thermal = f" {clean(row.thermal, 20)}" if row.thermal else ""
    return (
        clean(row.unit, 30),
        clean(row.load, 30) + thermal,
        count(row.n),
        milliseconds(row.mean_ms),
        milliseconds(row.std_ms),
        milliseconds(row.min_ms),
        milliseconds(row.p50_ms),
        milliseconds(row.p90_ms),
        _interval(row.p90_ci_ms),
        milliseconds(row.p99_ms),
        milliseconds(row.max_ms),
        milliseconds(row.native_mean_ms),
        significant(row.throughput_per_s),
        significant(row.tokens_per_s),
        significant(row.energy_mj_per_inference),
        UNKNOWN if row.spikes is None or row.spikes.n is None else count(row.spikes.n),
    )


def _interval(interval: tuple[float | None, float | None] | None) -> str:
    if interval is None:
        return UNKNOWN
    low, high = interval
    return f"{'?' if low is None else milliseconds(low)}–{'?' if high is None else milliseconds(high)}"


def _failures(rows: Sequence[Statistics]) -> list[str]:
    failed = ((clean(row.unit, 30), failure_words(row.error)) for row in rows if row.error is not None)
    return [f"{units}: {words}" for units, words in group_names(failed)]


def _notes(rows: Sequence[Statistics]) -> list[str]:
    notes = [f"{_name(row)}: {_modes(row)}" for row in rows if row.modes and len(row.modes) > 1]
    notes += [*spread_notes(rows), *drift_notes(rows)]
    notes += [f"{_name(row)}: {_paced(row)}" for row in rows if row.deadline_misses]
    notes += [f"runs on {clean(what)}: {', '.join(units)}" for what, units in _placements(rows).items()]
    unplaced = dict.fromkeys(row.unit for row in rows if row.n and not row.placed and row.backend != SERVER)
    unknown = [clean(name, 30) for name in unplaced]
    if unknown:
        notes.append(f"processor used by {', '.join(unknown)} is unknown: a unit only permits processors")
    notes += list(dict.fromkeys(f"{clean(row.unit, 30)}: {_outputs(row)}" for row in rows if _outputs(row)))
    notes += _uncompared(rows)
    notes += _energy(rows)
    notes += _frames(rows)
    few = [f"{_name(row)} {count(row.p90_needs - row.n)}" for row in rows if row.n and row.p90_needs]
    if few:
        notes.append("insufficient data for P90 (needs more samples, if they are independent): " + ", ".join(few))
    without_threshold = [_name(row) for row in rows if row.spikes is not None and row.spikes.n is None]
    if without_threshold:
        notes.append(f"spike detection needs {JUDGED_FROM} samples: {', '.join(without_threshold)}")
    needing = [f"{_name(row)} {count(row.p99_needs - row.n)}" for row in rows if row.n and row.p99_needs]
    if needing:
        notes.append("insufficient data for P99 (needs more samples, if they are independent): " + ", ".join(needing))
    notes.append(f"times in ms; {footnote('bench')}")
    return notes


def _uncompared(rows: Sequence[Statistics]) -> list[str]:
    """Units whose answers nothing speaks for: without the reference there is nothing to compare them with."""
    comparable = [row for row in rows if row.backend != SERVER]  # the text of an answer is not kept
    alone = [row for row in comparable if row.n and row.output_reference is None and not row.simulated]
    lacking: dict[str, dict[str, None]] = {}
    for row in alone:
        if not row.unit.startswith(reference_unit(row.unit)):
            lacking.setdefault(reference_unit(row.unit), {})[clean(row.unit, 30)] = None
    return [f"outputs of {', '.join(names)} were not compared with {each}" for each, names in lacking.items()]


def _energy(rows: Sequence[Statistics]) -> list[str]:
    """What the energy is of, and how much of the running time it was measured in."""
    known = [row for row in rows if row.energy_mj_per_inference is not None]
    if not known:
        return []
    rails = dict.fromkeys("+".join(row.energy_rails or ()) for row in known)
    covered = ", ".join(f"{_name(row)} {percent(row.energy_coverage)}" for row in known)
    notes = [f"mJ/inf: CPU+GPU+ANE (estimate) from {' or '.join(rails)}; power samples cover {covered} of the time"]
    intervals = [f"{_name(row)} {energy_interval(row)}" for row in known if row.energy_ci_mj]
    return notes + ([f"mJ/inf, 95% interval: {', '.join(intervals)}"] if intervals else [])


def _frames(rows: Sequence[Statistics]) -> list[str]:
    """What a screen would have missed meanwhile, where a canary ran."""
    known = [row for row in rows if row.canary_due]
    counts = ", ".join(f"{_name(row)} {row.canary_missed} of {row.canary_due}" for row in known)
    return [f"missed frames at 60 Hz: {counts}"] if known else []


def _outputs(row: Statistics) -> str:
    """A warning about outputs that a user must not overlook, or nothing."""
    reference = clean(row.output_reference or "the reference", 30)
    if row.output_not_finite:
        return f"{row.output_not_finite} output values are NaN or infinite, unlike on {reference}"
    if row.output_top1 is not None and row.output_top1 < 1:
        within = "" if row.output_top5 is None else f", within the top 5 in {percent(row.output_top5)}"
        return f"different top-1 than {reference}: equal in {percent(row.output_top1)} of rows{within}"
    if split_row(row.unit)[1] is not None and row.output_difference is not None:  # another conversion of the model
        return f"outputs differ from {reference} by at most {row.output_difference:.2g}"
    return ""


def _name(row: Statistics) -> str:
    """The unit, with its load where there is one."""
    return clean(row.unit, 30) if row.load == NO_LOAD else f"{clean(row.unit, 30)} under {clean(row.load, 30)}"


def _placements(rows: Sequence[Statistics]) -> dict[str, list[str]]:
    """What is known to run the model, to the units it runs on."""
    found: dict[str, list[str]] = {}
    for unit, placed in {row.unit: row.placed for row in rows if row.placed}.items():
        found.setdefault(placed or "", []).append(clean(unit, 30))
    return found


def _modes(row: Statistics) -> str:
    shares = ", ".join(f"{milliseconds(mode.center_ms)} ms ({percent(mode.share)})" for mode in row.modes or ())
    return f"{len(row.modes or ())} modes{' (tentative)' if row.modes_tentative else ''}: {shares}"


def _paced(row: Statistics) -> str:
    misses = row.deadline_misses
    if misses is None:
        return ""
    unfinished = f", {misses.unfinished} requests not served" if misses.unfinished else ""
    return (
        f"{misses.n} of {row.n} responses over {milliseconds(misses.limit_ms)} ms{unfinished}; response P50 "
        f"{milliseconds(row.response_p50_ms)}, P90 {milliseconds(row.response_p90_ms)} ms"
    )
