"""A recording as sections of a page: provenance, latency, history, power, method.

Pure; numbers come from the fold and the history, and what is not known is `n/a`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from hettop.events import NO_LOAD, Header
from hettop.format import UNKNOWN, clock, count, milliseconds, percent, significant
from hettop.report.conditions import loads_section
from hettop.report.explain import explanation
from hettop.report.notes import (
    beside_notes,
    clock_notes,
    dependence_notes,
    drift_notes,
    energy_interval,
    energy_notes,
    evidence_notes,
    gap_blocks,
    power_line,
    protocol_notes,
    spread_notes,
    token_notes,
)
from hettop.report.page import Block, Facts, Items, Page, Paragraph, Section, Table
from hettop.report.pictures import histogram_figures, history_figure, power_figure, violin_figure
from hettop.report.session_history import SessionHistory
from hettop.report.spikes_section import spikes_section
from hettop.session.session import Session
from hettop.session.statistics import Statistics, statistics

LATENCY = ("unit", "load", "thermal", "n", "mean", "std", "min", "P50", "P90", "95% of P90", "P99", "P99.9", "max")
PACE = (
    *("unit", "load", "n", "inf/s", "spikes", "threshold", "native mean", "response P50", "response P90", "misses"),
    "frames missed",
)
STARTS = (
    *("unit", "compiling", "loading", "first call", "warm-up calls", "slowest warm-up", "peak memory, MB", "runs on"),
)
WORDS = ("unit", "load", "thermal", "runs on", "rail")
SIDE_BY_SIDE = ("unit", "load")
HAPPENINGS_SHOWN = 40
LONGEST_SETTING = 120


@dataclass(slots=True)
class RecordingReport:
    """One recording, read to its end: its name, the folded session, its history, and what is damaged in it."""

    name: str
    session: Session = field(default_factory=Session)
    history: SessionHistory = field(default_factory=SessionHistory)
    damage: Sequence[str] = ()
    verdict: Section | None = None
    """The verdict, if there is one: it comes first."""
    studies: Sequence[Section] = ()
    """What studies of the model found."""


def page_of(recordings: Sequence[RecordingReport]) -> Page:
    """The report on one recording, or on several beside each other and then one after the other."""
    simulated = any(one.session.simulated for one in recordings)
    if len(recordings) == 1:
        return Page(_title(recordings[0].session), simulated, list(_chapter(recordings[0], 2)))
    sections = [_side_by_side(recordings)]
    for one in recordings:
        mark = "SIMULATED: " if one.session.simulated else ""
        sections += [Section(f"{mark}{one.name}", [Paragraph(_title(one.session))]), *_chapter(one, 3)]
    return Page(f"{len(recordings)} recordings", simulated, sections)


def _chapter(recording: RecordingReport, level: int) -> Iterator[Section]:
    session = recording.session
    rows = statistics(session)
    if session.studies.all and not rows:
        yield from _studies_alone(recording, level)
        return
    if recording.verdict is not None:
        yield Section(recording.verdict.title, recording.verdict.blocks, level)
    yield Section("Latency", list(_latency(session, rows)), level)
    if (under_load := loads_section(rows)) is not None:
        yield Section(under_load.title, under_load.blocks, level)
    if (found := spikes_section(session, level)) is not None:
        yield found
    yield Section("Course", list(_history(recording)), level)
    yield from _studies(recording, level)
    yield Section("Starts and placement", list(_starts(rows)), level)
    yield Section("Power and energy", list(_power(recording, rows)), level)
    yield Section("What was measured", [_provenance(recording)], level)
    yield Section("Method", list(_method(recording)), level)


def _studies_alone(recording: RecordingReport, level: int) -> Iterator[Section]:
    """Of a recording in which nothing ran but studies of the model: no latencies, no history, no power."""
    yield from _studies(recording, level)
    yield Section("What was measured", [_provenance(recording)], level)
    yield Section("Method", list(_made(recording)), level)


def _studies(recording: RecordingReport, level: int) -> Iterator[Section]:
    return (Section(each.title, each.blocks, level) for each in recording.studies)


def _title(session: Session) -> str:
    header = session.header
    if header is None:
        return "a session without a header"
    parts = [header.model.name or "model", header.host.chip, header.host.os]
    return " · ".join(text for text in parts if text)


def _provenance(recording: RecordingReport) -> Facts:
    session = recording.session
    header = session.header or Header(t=0, format="", version=(1, 0))
    host, model = header.host, header.model
    known = {
        "model": model.name,
        "note": model.note,
        "sha256": model.sha256,
        "inputs": ", ".join(session.inputs or model.inputs),
        "parameters": None if model.parameters is None else count(model.parameters),
        "MACs": None if model.macs is None else count(model.macs),
        "backend": model.backend,
        "chip": host.chip,
        "cores": None if host.cores is None else count(host.cores),
        "memory": None if host.memory_mb is None else f"{count(host.memory_mb)} MB",
        "OS": host.os,
        "power mode": host.power_mode,
        "hettop": host.hettop,
        "Python": host.python,
        "frameworks": ", ".join(f"{name} {version}" for name, version in host.frameworks.items()),
        "recorded": header.wall,
        "lasted": clock(session.t),
        "samples": count(session.samples) if session.samples or not session.studies.all else "none: studies only",
        "protocol": "; ".join(protocol_notes(session, [])),
        "settings": _settings(header),
        "recording": f"{recording.name} (format {header.version[0]}.{header.version[1]}, id {header.id or UNKNOWN})",
    }
    return Facts([(name, text) for name, text in known.items() if text])


def _settings(header: Header) -> str:
    parts = [
        f"{name} {value}"[:LONGEST_SETTING]
        for name, value in header.settings.items()
        if value not in (None, {}, []) and name not in ("protocol", "variants", "tokens", "absent")
    ]
    return "; ".join(parts)


def _latency(session: Session, rows: Sequence[Statistics]) -> Iterator[Block]:
    measured = [row for row in rows if row.n]
    for warning in session.header.host.warnings if session.header else ():
        yield Paragraph(warning, tone="warning")
    for warning in clock_notes(session):
        yield Paragraph(warning, tone="warning")
    for row in rows:
        if row.error is not None:
            hint = f" ({row.error.hint})" if row.error.hint else ""
            yield Paragraph(f"{row.unit}: {row.error.message}{hint}", tone="warning")
    if not measured:
        yield Paragraph("No steady samples.", tone="warning")
        return
    yield Paragraph("Steady samples, in ms; intervals are 95%.")
    yield _table(LATENCY, [_latency_row(row) for row in measured])
    yield from violin_figure(session)
    yield _table(PACE, [_pace_row(row) for row in measured])
    yield from gap_blocks(measured)
    notes = [*protocol_notes(session, measured), *token_notes(session, rows), *beside_notes(session)]
    notes += [*dependence_notes(measured), *_modes(measured), *spread_notes(measured), *drift_notes(measured)]
    notes += _needs(measured)
    if notes:
        yield Items(notes)
    yield from histogram_figures(session)


def _latency_row(row: Statistics) -> tuple[str, ...]:
    low, high = row.p90_ci_ms or (None, None)
    interval = f"{'?' if low is None else milliseconds(low)}–{'?' if high is None else milliseconds(high)}"
    figures = (row.mean_ms, row.std_ms, row.min_ms, row.p50_ms, row.p90_ms)
    return (
        *(row.unit, row.load, row.thermal or "", count(row.n)),
        *(milliseconds(value) for value in figures),
        interval,
        *(milliseconds(value) for value in (row.p99_ms, row.p999_ms, row.max_ms)),
    )


def _pace_row(row: Statistics) -> tuple[str, ...]:
    spikes, misses = row.spikes, row.deadline_misses
    return (
        *(row.unit, row.load, count(row.n), significant(row.throughput_per_s)),
        UNKNOWN if spikes is None else count(spikes.n),
        UNKNOWN if spikes is None else milliseconds(spikes.fence_ms),
        _known(row.native_mean_ms),
        _known(row.response_p50_ms),
        _known(row.response_p90_ms),
        "" if misses is None else f"{count(misses.n)} over {milliseconds(misses.limit_ms)} ms",
        f"{count(row.canary_missed)} of {count(row.canary_due)}" if row.canary_due else "",
    )


def _known(value: float | None) -> str:
    """Empty where it is unknown: a column that nobody fills is left out."""
    return "" if value is None else significant(value)


def _modes(rows: Sequence[Statistics]) -> Iterator[str]:
    for row in rows:
        if row.modes and len(row.modes) > 1:
            shares = ", ".join(f"{milliseconds(mode.center_ms)} ms ({percent(mode.share)})" for mode in row.modes)
            tentative = " (tentative)" if row.modes_tentative else ""
            yield f"{_name(row)} has {len(row.modes)} modes{tentative}: {shares}"


def _needs(rows: Sequence[Statistics]) -> Iterator[str]:
    for row in rows:
        short = [(name, needs) for name, needs in (("P90", row.p90_needs), ("P99", row.p99_needs)) if needs]
        if short:
            lacking = ", ".join(f"{name} needs {count(needs - row.n)} more samples" for name, needs in short)
            yield f"{_name(row)}: {lacking}"


def _history(recording: RecordingReport) -> Iterator[Block]:
    history = recording.history
    shown = history.happenings[:HAPPENINGS_SHOWN]
    yield from history_figure(history, len(shown))
    if history.not_drawn:
        yield Paragraph(f"{len(history.not_drawn)} more units are not shown.")
    yield Items([f"{clock(each.t, 1)} {each.text}" for each in shown], numbered=True)
    more = history.more_happened + len(history.happenings) - len(shown)
    if more:
        yield Paragraph(f"{count(more)} more events are in the recording.")
    if recording.session.dropped:
        yield Paragraph(
            f"{count(recording.session.dropped)} samples were dropped and are not included.", tone="warning"
        )


def _starts(rows: Sequence[Statistics]) -> Iterator[Block]:
    table = [
        (
            *(row.unit, _compiling(row), milliseconds(row.load_ms), milliseconds(row.first_ms)),
            count(len(row.warmup_ms)),
            milliseconds(max(row.warmup_ms, default=None)),
            significant(row.peak_memory_mb),
            row.placed or "unknown",
        )
        for row in {row.unit: row for row in rows}.values()
    ]
    yield Paragraph("Load time and first call, in ms; not part of the distribution.")
    yield _table(STARTS, table)


def _compiling(row: Statistics) -> str:
    """Empty for what is not compiled."""
    if row.cached is None:
        return ""
    return "before" if row.cached else milliseconds(row.compile_ms)


def _power(recording: RecordingReport, rows: Sequence[Statistics]) -> Iterator[Block]:
    session = recording.session
    for text in power_line(session):
        yield Paragraph(f"{text[0].upper()}{text[1:]}.", tone="warning" if session.captured else "text")
    yield from _evidence(rows)
    if session.power is None:
        return
    yield Paragraph(f"Source: {session.power.source}. A rail that was not measured is {UNKNOWN}.")
    yield from power_figure(recording.history)
    known = [row for row in rows if row.energy_mj_per_inference is not None]
    reasons = energy_notes(rows)
    if reasons:
        yield Items(reasons)
    if not known:
        if not reasons and not session.captured:
            yield Paragraph(
                f"Energy per inference: {UNKNOWN}: no power sample covers the steady samples of a single unit."
            )
        return
    heading = ("unit", "load", "mJ/inference", "95% interval", "net of idle", "covered", "inferences/J", "rails")
    table = [
        (
            *(row.unit, row.load, significant(row.energy_mj_per_inference), energy_interval(row)),
            *(significant(row.energy_net_mj_per_inference), percent(row.energy_coverage)),
            *(significant(row.inferences_per_joule), "+".join(row.energy_rails or ()) or UNKNOWN),
        )
        for row in known
    ]
    yield Table(heading, table, left=("unit", "load", "rails"))
    yield Paragraph("CPU+GPU+ANE (estimate), not the whole machine; covered: share of time with power samples.")


def _evidence(rows: Sequence[Statistics]) -> Iterator[Block]:
    """What the plans claim beside what the rails drew, and what is missing of both."""
    notes = evidence_notes(rows)
    if notes:
        yield Items(notes)


def _method(recording: RecordingReport) -> Iterator[Block]:
    rows = statistics(recording.session)
    exact = all(row.exact for row in rows if row.n)
    samples = "all raw samples" if exact else "raw samples up to 100,000 per condition, beyond that within 0.4%"
    yield from explanation()
    yield Paragraph(f"Quantiles of this recording use {samples}.")
    yield from _made(recording)


def _made(recording: RecordingReport) -> Iterator[Block]:
    """What of the recording is not in it."""
    if recording.damage:
        yield Paragraph(f"Damage in the recording: {'; '.join(recording.damage)}.", tone="warning")


def _side_by_side(recordings: Sequence[RecordingReport]) -> Section:
    """The medians and P90 of each condition in every recording; which differences are proven is another question."""
    by_condition: dict[tuple[str, str], dict[int, Statistics]] = {}
    for place, one in enumerate(recordings):
        for row in statistics(one.session):
            if row.n:
                by_condition.setdefault((row.unit, row.load), {})[place] = row
    letters = [chr(ord("A") + place) if place < 26 else str(place + 1) for place in range(len(recordings))]
    heading = (*SIDE_BY_SIDE, *(f"{figure} of {letter}" for figure in ("P50", "P90", "max") for letter in letters))
    rows = [
        (
            *key,
            *(
                milliseconds(getattr(found[place], figure)) if place in found else UNKNOWN
                for figure in ("p50_ms", "p90_ms", "max_ms")
                for place in range(len(recordings))
            ),
        )
        for key, found in by_condition.items()
    ]
    names = [
        f"{letter}: {'SIMULATED: ' if one.session.simulated else ''}{one.name} · {_title(one.session)}"
        for letter, one in zip(letters, recordings, strict=True)
    ]
    note = Paragraph("In ms, without significance tests; `hettop compare A B` tests the differences.")
    mixed = len({one.session.simulated for one in recordings}) > 1
    warning = [Paragraph("Some recordings are SIMULATED and not comparable with the others.", tone="warning")]
    compared: list[Block] = [_table(heading, rows), note] if rows else []
    return Section("Side by side", [Items(names), *(warning if mixed else []), *compared])


def _table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Without the columns in which no row has anything to say."""
    kept = [place for place in range(len(heading)) if any(row[place] for row in rows)]
    if all(row[1] == NO_LOAD for row in rows) and heading[1] == "load":
        kept = [place for place in kept if place != 1]
    return Table([heading[place] for place in kept], [[row[place] for place in kept] for row in rows], left=WORDS)


def _name(row: Statistics) -> str:
    return row.unit if row.load == NO_LOAD else f"{row.unit} under {row.load}"
