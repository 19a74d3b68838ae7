"""The evidence of a verdict as a picture: each unit's P90 and P99 with intervals, against the budget if there is one.

`evidence_of` makes the data, `evidence_lines` draws it in cells of a terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hettop.format import UNKNOWN, milliseconds, short_count, unit_name
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, fit, line, runs
from hettop.report.terminal.plane import Axis
from hettop.text import clean

if TYPE_CHECKING:
    from hettop.analysis.unit_samples import Measured
    from hettop.analysis.verdict import Verdict

PROVEN, MISSED, UNDECIDED, FASTEST, LEADING, SLOWER, EXCLUDED = (
    "proven", "misses it", "undecided", "fastest", "fastest so far", "slower, proven", "excluded",
)  # fmt: skip
_MARKS: Mapping[str, Span] = {
    PROVEN: (glyphs.DONE, "good"),
    FASTEST: (glyphs.DONE, "good"),
    MISSED: (glyphs.FAILED, "error"),
    EXCLUDED: (glyphs.FAILED, "error"),
    SLOWER: (glyphs.DOWN, "muted"),
    UNDECIDED: ("?", "warning"),
    LEADING: ("?", "warning"),
}
_LEVELS = (0.9, 0.99)
_NAME_CELLS = 12
_FIGURES, _STANDING = 29, 16
_NARROWEST_PLOT = 16
_TICK_EVERY = 12


@dataclass(frozen=True, slots=True)
class Bound:
    """A quantile in ms with its interval; None: too few samples for that end."""

    level: float
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class UnitEvidence:
    """One unit: its quantiles, how it stands in a word or two, and what a proof lacks, where it stands without one."""

    unit: str
    bounds: tuple[Bound, ...]
    standing: str
    lacks: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The verdict in one sentence, a row for each unit, best mean first, and the budget if there is one."""

    sentence: str
    rows: tuple[UnitEvidence, ...]
    limit_ms: float | None = None
    level: float | None = None


def evidence_of(verdict: Verdict) -> Evidence:
    """The evidence for what a verdict says."""
    from hettop.report.verdict_words import headline

    units = {unit.unit: unit for unit in verdict.units}
    budget = verdict.question.budget
    names = [*verdict.ranks.latency, *verdict.unusable]
    rows = []
    for name in names:
        standing = _standing(verdict, name)
        lacks = _lacks(verdict, name) if standing in (UNDECIDED, LEADING) else ""
        rows.append(UnitEvidence(name, tuple(_bounds(verdict, units[name])), standing, lacks))
    return Evidence(
        headline(verdict), tuple(rows), budget.limit_ms if budget else None, budget.quantile if budget else None
    )


def _bounds(verdict: Verdict, unit: Measured) -> Iterator[Bound]:
    """P90, P99 and the percentile of the budget; that one by the judgement itself.

    A judgement of response times stands alone: the others would be of the calls.
    """
    from hettop.analysis.budget import quantile_interval_of

    budget, judged = verdict.question.budget, verdict.judgements.get(unit.unit)
    if budget is not None and judged is not None and judged.series != unit.series:
        yield Bound(budget.quantile, judged.quantile_ms, judged.low_ms, judged.high_ms)
        return
    for level in sorted({*_LEVELS, *([budget.quantile] if budget else [])}):
        if budget is not None and judged is not None and level == budget.quantile:
            yield Bound(level, judged.quantile_ms, judged.low_ms, judged.high_ms)
        else:
            yield Bound(level, *quantile_interval_of(unit, level))


def _standing(verdict: Verdict, name: str) -> str:
    if name in verdict.unusable:
        return EXCLUDED
    judged = verdict.judgements.get(name)
    if verdict.question.budget is not None:
        return {True: PROVEN, False: MISSED, None: UNDECIDED}[judged.met if judged is not None else None]
    if name == verdict.ranks.latency[0]:
        return "" if not verdict.order else FASTEST if verdict.order[0].proven else LEADING
    # Slower than the fastest by a chain of neighbours: proven where all of its links are, which hold together.
    place = verdict.ranks.latency.index(name)
    before = [pair.proven for pair in verdict.order[:place]]
    return SLOWER if len(before) == place and all(before) else UNDECIDED


def _lacks(verdict: Verdict, name: str) -> str:
    """What a proof needs: of the budget more samples, of the order more turns or samples."""
    from hettop.stats.resampling import LEAST_VALUES

    if verdict.question.budget is not None:
        judged = verdict.judgements.get(name)
        if judged is None or not judged.needs:
            return ""
        if judged.needs_answers is not None:
            return f"{short_count(judged.needs_answers)} more answers"
        return f"{short_count(judged.needs)} more calls"
    place = max(1, verdict.ranks.latency.index(name))
    open_ = next((pair for pair in verdict.order[:place] if not pair.proven), None)
    if open_ is None:  # of many units, not all are compared
        return "not compared"
    return f"under {LEAST_VALUES} turns" if open_.interval_ms is None else "order may differ"


def evidence_lines(evidence: Evidence, width: int) -> list[Line]:
    """The picture: two lines or more for each unit, an axis, and what the marks mean."""
    values = [
        each
        for row in evidence.rows
        for bound in row.bounds
        for each in (bound.value, bound.low, bound.high)
        if each is not None
    ]
    if not values:
        return []
    short = width < _NAME_CELLS + _NARROWEST_PLOT + _FIGURES + _STANDING
    figures = 0 if short and width < 60 else _FIGURES
    columns = max(1, width - _NAME_CELLS - figures - _STANDING)
    limit = evidence.limit_ms
    axis = Axis.around([*values, *([limit] if limit is not None else [])])
    shown: list[Line] = []
    for row in evidence.rows:
        mark = _MARKS.get(row.standing, (" ", "muted"))
        for i, bound in enumerate(row.bounds):
            name = clean(unit_name(row.unit, short=True), _NAME_CELLS - 1) if not i else ""
            standing = (f"{mark[0]} {row.standing}", mark[1]) if not i else (row.lacks if i == 1 else "", "muted")
            spans = line(
                (f"{name:<{_NAME_CELLS}}", "strong"),
                *_drawn(bound, axis, columns, limit),
                (f"  {_figures(bound):<{figures - 2}}" if figures else "", "text"),
                standing,
            )
            shown.append(fit(spans, width))
    return [*shown, *_axis_lines(evidence, axis, columns, width)]


def _column(value: float | None, axis: Axis, columns: int) -> int | None:
    share = None if value is None else axis.share(value)
    return None if share is None else min(columns - 1, int(share * columns))


def _drawn(bound: Bound, axis: Axis, columns: int, limit: float | None) -> Line:
    """One interval with its value, and the budget as a line through it."""
    characters, inks = [" "] * columns, ["muted"] * columns
    at, low, high = (_column(each, axis, columns) for each in (bound.value, bound.low, bound.high))
    known = [each for each in (low, at, high) if each is not None]
    ink = _ink(bound.level)
    if known:
        for column in range(min(known), max(known) + 1):
            characters[column], inks[column] = glyphs.AXIS, ink
        if low is not None:
            characters[low] = glyphs.LEFT_END
        if high is not None:
            characters[high] = glyphs.AXIS_TICK
        elif max(known) + 1 < columns:
            characters[max(known) + 1], inks[max(known) + 1] = glyphs.ABOVE, ink
    budget = _column(limit, axis, columns)
    if budget is not None:
        characters[budget], inks[budget] = glyphs.MEDIAN, "accent"
    if at is not None:
        characters[at], inks[at] = _mark(bound.level), ink
    return runs(characters, inks)


def _mark(level: float) -> str:
    """Filled up to P90, hollow above: different characters in ASCII, too."""
    return glyphs.NOTE if level <= _LEVELS[0] else glyphs.ENDED


def _ink(level: float) -> str:
    return "low" if level <= _LEVELS[0] else "high"


def _name(level: float) -> str:
    return f"P{100 * level:g}"


def _figures(bound: Bound) -> str:
    if bound.value is None and bound.low is None:
        return f"{_name(bound.level)} {UNKNOWN}"
    return f"{_name(bound.level)} {milliseconds(bound.value)}{interval_text(bound.low, bound.high)}"


def interval_text(low: float | None, high: float | None) -> str:
    """` (2.61-2.65)`, ` (from 2.61)` where the upper end is not known; empty without any end."""
    if low is None and high is None:
        return ""
    if low is None or high is None:
        return f" (from {milliseconds(low)})" if high is None else f" (to {milliseconds(high)})"
    return f" ({milliseconds(low)}-{milliseconds(high)})"


def _axis_lines(evidence: Evidence, axis: Axis, columns: int, width: int) -> list[Line]:
    rule, labels = [glyphs.AXIS] * columns, [" "] * (columns + _NAME_CELLS)
    for value, label in axis.ticks(max(2, columns // _TICK_EVERY)):
        column = _column(value, axis, columns)
        if column is None:
            continue
        start = _NAME_CELLS + min(max(0, column - len(label) // 2), columns - len(label))
        if start >= _NAME_CELLS and not "".join(labels[start - 1 : start + len(label) + 1]).strip():
            rule[column] = glyphs.AXIS_DOWN
            labels[start : start + len(label)] = label
    rest = "  ms" + (", logarithmic" if axis.log else "")
    budget: Sequence[Span] = ()
    if evidence.limit_ms is not None and evidence.level is not None:
        budget = (
            (f"   {glyphs.MEDIAN} ", "accent"),
            (f"budget {_name(evidence.level)} at most {milliseconds(evidence.limit_ms)} ms", "muted"),
        )
    levels = sorted({bound.level for row in evidence.rows for bound in row.bounds})
    names: list[Span] = [(f"{_mark(level)} {_name(level)}  ", _ink(level)) for level in levels]
    is_open = any(bound.high is None for row in evidence.rows for bound in row.bounds)
    meaning = "with interval" + (f", {glyphs.ABOVE} its end not known yet" if is_open else "")
    key = line(*names, (meaning, "muted"), *budget)
    return [
        fit(line((" " * _NAME_CELLS, "text"), ("".join(rule), "edge"), (rest, "muted")), width),
        fit(line(("".join(labels), "muted")), width),
        fit(key, width),
    ]
