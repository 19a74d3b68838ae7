"""The zoomed table of units: for each a block with its full violin, all percentiles and all that is known of it.

Pure functions: a `UnitsView` and a size in, lines out.
"""

from __future__ import annotations

from collections.abc import Sequence

from hettop.format import UNKNOWN, count, milliseconds, percent, significant
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, fit, line, runs, width_of, wrapped
from hettop.session.views.structs import Percentile, UnitRow, UnitsView
from hettop.stats.axes import resampled
from hettop.text import clean
from hettop.tui.canvas import Canvas
from hettop.tui.panels.unit_table import (
    Drawn,
    Pointing,
    details_of,
    in_sight,
    is_beyond,
    name_line,
    proven,
    reasons,
    violin_axis,
    violin_strip,
    why_failed,
)

_NAME = 18
_TALLEST = 5  # lines of a violin
_GOOD_VIOLIN = 3
"""Lines of a violin that are worth more than the details of units that are not under the cursor."""

_INDENT = 2


def violin_values(width: int) -> int:
    """How many values a violin can show in a panel of this width."""
    return 2 * (width - _INDENT)


def large_units(view: UnitsView, width: int, height: int, pointing: Pointing, *, braille: bool) -> Drawn:
    """The blocks as exactly `height` lines of `width` cells; that of the cursor, else the active one, is in sight.

    Where the height is short of it, only that unit has its details.
    """
    foot = [*proven(view, width), *_besides(view, width), *_absent(view, width)][: max(0, height // 3)]
    axis = [_axis(view, width)] if any(row.violin for row in view.rows) else []
    drawn_units = sum(bool(row.violin) for row in view.rows)
    room = height - len(foot) - len(axis)
    pointed = pointing.cursor or next((row.unit for row in view.rows if row.active), None)
    texts = {row.unit: _texts(row, width, pointing, details=True) for row in view.rows}
    if sum(len(lines) for lines in texts.values()) + _GOOD_VIOLIN * drawn_units > room:
        texts = {row.unit: _texts(row, width, pointing, details=row.unit == pointed) for row in view.rows}
    needed = sum(len(lines) for lines in texts.values())
    violin = max(1, min(_TALLEST, (room - needed) // max(1, drawn_units)))
    rows: list[tuple[Line, str | None]] = []
    for row in view.rows:
        block = texts[row.unit]
        block[2:2] = _violin(row, view, width, violin, braille=braille) if row.violin else []
        rows += [(drawn, row.unit) for drawn in block]
    hidden = max(0, len(rows) - room)
    rows = in_sight(rows, room, pointed, heading=False)
    rows += [(drawn, None) for drawn in (*axis, *foot)]
    rows += [(fit((), width), None)] * (height - len(rows))
    return Drawn([drawn for drawn, _ in rows], [unit for _, unit in rows], hidden)


def _texts(row: UnitRow, width: int, pointing: Pointing, *, details: bool) -> list[Line]:
    """What is known of a unit as text; the violin is drawn after the first two lines."""
    placed = f" on {clean(row.placed, 24)}" if row.placed else ""
    waits = "" if row.n or row.state != "running" else ", no samples yet"
    state = line(
        (f"{clean(row.state)}{placed}{waits}", "muted"), (f"  {clean(row.warning)}" if row.warning else "", "warning")
    )
    head: Line = (*name_line(row, _NAME, pointing), *state)
    if not row.n:
        why = [(text, "error") for text in wrapped(why_failed(row), width - 4)] if row.error is not None else []
        log = [(clean(text), "muted") for text in row.error.log] if row.error is not None else []
        return [fit(head, width), *(fit(line((" " * 4, "text"), span), width) for span in (*why, *log))]
    rows = [
        (*head, ("  ", "text"), *_sentence(row, width - width_of(head) - 2)),
        line((" " * _INDENT, "text"), *_percentiles(row, width - _INDENT)),
        line((" " * _INDENT, "text"), *_moments(row)),
    ]
    if details:
        rows += [line((" " * 4, "text"), detail) for detail in details_of(row, width)]
    elif row.energy_mj is None and row.energy_lacking:  # the details have it
        words = f"energy {UNKNOWN}: {clean(row.energy_lacking)}"
        rows += [line((" " * 4, "text"), (text, "muted")) for text in wrapped(words, width - 4)]
    if row.error is not None:
        rows += [line((" " * 4, "text"), (text, "error")) for text in wrapped(why_failed(row), width - 4)]
    return [fit(each, width) for each in rows]


def _sentence(row: UnitRow, room: int) -> Line:
    """How much it did, and how far from the best it is; shorter where there is less room."""
    words = f"{count(row.n)} samples, {significant(row.throughput_per_s)} inferences/s"
    short = f"n {count(row.n)}, {significant(row.throughput_per_s)} inf/s"
    best = row.difference == 0
    distance, short_distance = "", ""
    if row.difference is not None:
        distance = ", best mean" if best else f", mean {significant(1 + row.difference)} times the best"
        short_distance = ", best mean" if best else f", {significant(1 + row.difference)}x the best"
    if len(words + distance) > room:
        words, distance = short, short_distance if len(short + short_distance) <= room else ""
    return line((words, "text"), (distance, "good" if best else "text"))


def _percentiles(row: UnitRow, room: int) -> Line:
    """P50 to P99.9, each with its value or what it lacks where that fits, and the maximum."""
    given = row.further or (Percentile(0.5, row.p50_ms), Percentile(0.9, row.p90_ms))
    known = tuple(each for each in given if each.ms is not None)
    choices = (_percentile_spans(row, shown, lacks=lacks) for shown, lacks in ((given, True), (given, False)))
    return next((drawn for drawn in choices if width_of(drawn) <= room), _percentile_spans(row, known, lacks=False))


def _percentile_spans(row: UnitRow, given: Sequence[Percentile], *, lacks: bool) -> Line:
    spans = []
    for each in given:
        lacking = f"{UNKNOWN} ({count(each.further)} more samples)" if each.further and lacks else UNKNOWN
        spans += [
            (f"P{each.q * 100:g} ", "muted"),
            (
                f"{milliseconds(each.ms) if each.ms is not None else lacking}  ",
                "text" if each.ms is not None else "muted",
            ),
        ]
    return line(*spans, ("max ", "muted"), (f"{milliseconds(row.max_ms)} ms", "text"))


def _moments(row: UnitRow) -> Line:
    missed = "" if row.missed is None else f"{percent(row.missed)} of the paced calls missed the budget"
    figures = [
        ("mean ", milliseconds(row.mean_ms)),
        ("min ", milliseconds(row.min_ms)),
        ("std ", f"{milliseconds(row.std_ms)} ms"),
        ("spikes ", count(row.spikes)),
        ("", missed),
        ("energy ", f"{significant(row.energy_mj)} mJ" if row.energy_mj is not None else UNKNOWN),
        ("net ", f"{significant(row.net_mj)} mJ" if row.net_mj is not None else ""),
    ]
    return line(*(span for name, text in figures if text for span in ((name, "muted"), (f"{text}  ", "text"))))


def _violin(row: UnitRow, view: UnitsView, width: int, height: int, *, braille: bool) -> list[Line]:
    """The density on the common axis, mirrored where it has several lines; marked are the median, P90 and P99."""
    columns = width - _INDENT
    margin = (" " * _INDENT, "text")
    ink = "low" if row.active else "muted"
    low, high = view.violin_low_ms, view.violin_high_ms
    span = high - low or 1.0
    if height < 2:
        median = None if row.p50_ms is None else (row.p50_ms - low) / span
        strip = violin_strip(row.violin, median, columns, ink, beyond=is_beyond(row, view))
        return [fit((margin, *strip), width)]
    canvas = Canvas(columns, height, braille=braille)
    for x, share in enumerate(resampled(row.violin, canvas.wide)):
        half = round(share * canvas.high / 2)
        if share > _FAINTEST:
            canvas.column(x, canvas.high // 2 + max(half, 1), canvas.high // 2 - half)
    marks = [(row.p99_ms, glyphs.GUIDE), (row.p90_ms, glyphs.GUIDE), (row.p50_ms, glyphs.MEDIAN)]
    rows: list[Line] = []
    for at_row, cells in enumerate(canvas.lines()):
        inks = [ink] * columns
        for value, glyph in marks:
            at = -1 if value is None else int((value - low) / span * columns)
            if 0 <= at < columns:
                cells[at], inks[at] = glyph, "strong"
        if at_row == height // 2 and is_beyond(row, view):
            cells[-1], inks[-1] = glyphs.ABOVE, "mid"
        rows.append(fit((margin, *runs(cells, inks)), width))
    return rows


_FAINTEST = 0.004  # of the fullest column: below it a dot would claim more than one sample in a few hundred


def _axis(view: UnitsView, width: int) -> Line:
    return fit(
        line((" " * _INDENT, "text"), *violin_axis(view.violin_low_ms, view.violin_high_ms, width - _INDENT)), width
    )


def _besides(view: UnitsView, width: int) -> list[Line]:
    return [fit(line((text, "strong")), width) for beside in view.beside for text in wrapped(clean(beside, 400), width)]


def _absent(view: UnitsView, width: int) -> list[Line]:
    """Units that cannot run here, with the reason in full."""
    return [
        fit(line((text, "muted")), width)
        for why, names in reasons(view).items()
        for text in wrapped(f"{', '.join(names)}: {why}", width)
    ]
