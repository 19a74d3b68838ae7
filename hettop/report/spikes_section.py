"""Spikes in words: which there were, and which events are correlated with them, for report and headless table.

Pure; numbers come from the fold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hettop.events import NO_LOAD
from hettop.format import UNKNOWN, clock, count, milliseconds, percent, significant
from hettop.report.page import Block, Items, Paragraph, Section, Table
from hettop.session.condition import Condition
from hettop.session.session import Session
from hettop.session.views.spikes import CauseRow, SpikeRow, cause_rows, spikes, unwatched
from hettop.text import clean

TITLE = "Spikes"
LISTED = 12
SMALLEST_P = 1e-4
EVENTS = "events at the same time"


def spikes_section(session: Session, level: int = 2) -> Section | None:
    """None where there was no spike."""
    spiked = [condition for condition in session.conditions.values() if condition.spikes]
    if not spiked:
        return None
    return Section(TITLE, list(_blocks(session, spiked)), level)


def cause_notes(session: Session) -> list[str]:
    """A sentence for each condition in which something goes with spikes; nothing where it may all be chance."""
    notes = []
    for condition in session.conditions.values():
        if condition.spikes and (named := [row for row in cause_rows(session, condition) if row.more]):
            found = ", ".join(f"{row.words}{row.whose} ({_shares(row)})" for row in named)
            notes.append(f"spikes of {_name(condition)} correlate with: {found}")
    return notes


def _blocks(session: Session, spiked: Sequence[Condition]) -> Iterator[Block]:
    yield Items([_sentence(session, condition) for condition in spiked])
    for condition in spiked:
        rows = [row for row in cause_rows(session, condition) if row.p is not None]
        if rows:
            yield Paragraph(f"{_name(condition)}, {_spikes(condition.found.evidence())}:")
            yield _causes(rows)
    yield Paragraph(
        "At spikes: share of spikes during which the event was present. Otherwise: share expected at "
        "other moments of the same ten seconds. p: probability of as many by chance. Correlation is not "
        "proof of a cause." + (" Latencies are SIMULATED, events are of the real host." if session.simulated else "")
    )
    yield from _list(spikes(session, None, None, session.t).rows)


def _spikes(n: int) -> str:
    return "1 spike" if n == 1 else f"{count(n)} spikes at least a second apart"


def _sentence(session: Session, condition: Condition) -> str:
    """What is to be said in a sentence."""
    rows = cause_rows(session, condition)
    named = [row for row in rows if row.more]
    tested = any(row.p is not None and row.verdict == "not significant" for row in rows)
    if named:
        found = "; ".join(
            f"{row.words}{row.whose} (at {percent(row.inside)} of spikes, {percent(row.outside)} otherwise)"
            for row in named
        )
        words = f"correlated with {found}"
    elif tested:
        words = "no significant correlation"
    else:
        words = "insufficient data: too few spikes, or at a fixed interval"
    missing = unwatched(session, condition.key)
    lacking = f" (not observed: {', '.join(missing)})" if missing else ""
    return f"{_name(condition)}: {_counted(condition.spikes)}, {words}{lacking}"


def _counted(n: int) -> str:
    return "1 spike" if n == 1 else f"{count(n)} spikes"


def _causes(rows: Sequence[CauseRow]) -> Table:
    table = [(row.words, percent(row.inside), percent(row.outside), _p(row.p), row.verdict) for row in rows]
    return Table(("candidate", "at spikes", "otherwise", "p", "verdict"), table, left=("candidate", "verdict"))


def _list(rows: Sequence[SpikeRow]) -> Iterator[Block]:
    """The largest of the last minute."""
    largest = sorted(rows, key=lambda row: -row.latency_ms)[:LISTED]
    if not largest:
        return
    yield Paragraph("Largest spikes of the last minute, and the most recent of each condition:")
    table = [
        (
            clock(row.end_ns, 2),
            milliseconds(row.latency_ms),
            UNKNOWN if row.times_median is None else f"{significant(row.times_median)}",
            row.unit if row.load == NO_LOAD else f"{row.unit} under {row.load}",
            ", ".join(row.causes) or "none observed",
        )
        for row in largest
    ]
    yield Table(("when", "ms", "x median", "unit", EVENTS), table, left=("unit", EVENTS))


def _shares(row: CauseRow) -> str:
    return f"{percent(row.inside)} of them, {percent(row.outside)} otherwise"


def _p(p: float | None) -> str:
    if p is None:
        return UNKNOWN
    return f"< {SMALLEST_P:.4f}" if p < SMALLEST_P else f"{p:.2g}"


def _name(condition: Condition) -> str:
    key = condition.key
    load = "" if key.load == NO_LOAD else f" under {clean(key.load, 40)}"
    thermal = f" ({clean(key.thermal, 20)})" if key.thermal else ""
    return f"{clean(key.unit, 30)}{load}{thermal}"
