"""A sweep in a report: what it means, curves of rate and time, tables, notes; or units under loads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hettop.analysis.comparison import LEAST_EFFECTIVE
from hettop.analysis.runs import LEVELS
from hettop.format import UNKNOWN, count, milliseconds, percent, significant
from hettop.report.explain import footnote
from hettop.report.page import Beside, Block, Items, Paragraph, Plot, Scale, Series, Spot, Table, Tone
from hettop.stats.quantiles import samples_needed
from hettop.studies.sweep.findings import (
    AXES,
    CURVE_DROP,
    CURVE_HEADING,
    CURVE_LEFT,
    FAILED,
    GOOD,
    KNEE,
    MAIN,
    POINT_DROP,
    POINT_HEADING,
    POINT_LEFT,
    Along,
    along,
    change_of,
    curve_rows,
    further_notes,
    left_out,
    loads_headline,
    point_rows,
    sweep_headline,
    under_loads,
)
from hettop.studies.sweep.result import BATCH, SweepPoint, SweepResult

TONES: dict[str, Tone] = {MAIN: "strong", GOOD: "good", FAILED: "error"}
RATE, TIME = "items/s", "ms a call"
LOADS_HEADING = ("unit", "load", "n", "mean ms", "P90 ms", "P90 change", "inf/s", "")


SENSITIVITY_HEADING = ("unit", "load", "P50 ratio", "95%", "P90 ratio", "95% ", "n")
SENSITIVITY = (
    "Sensitivity: how many times as long a call takes under the load as without, by P50 and by P90; the most sensitive "
    "first. The intervals hold together, for this session: another one may differ."
)
NO_INTERVAL = (
    "n/a: P90 needs {p90} calls, an interval {least} independent ones on both sides; raise --runs or --duration"
)


USAGE_HEADING = ("units", "load", "CPU use", "frames missed", "of", "share")
USAGE = (
    "CPU use of the whole machine (units, load and whatever else ran) and frames of a 60 Hz screen that were missed, "
    "while the units ran."
)
IN_TURNS = "units that took turns share their figures; --alone runs one after another"


def blocks(found: SweepResult) -> Iterator[Block]:
    """Headline, figures, tables, notes."""
    if under_loads(found):
        yield from _loads(found)
    else:
        yield from headline_blocks(found)
        for axis in AXES:
            yield from _plots(along(found, axis), axis)
        if found.curves:
            yield Table(CURVE_HEADING, curve_rows(found), CURVE_LEFT, CURVE_DROP)
        if found.points:
            yield Table(POINT_HEADING, point_rows(found), POINT_LEFT, POINT_DROP)
    notes = [*found.notes, *further_notes(found), *left_out(found)]
    if found.points and not under_loads(found):
        notes.append(footnote("sweep"))
    if notes:
        yield Items(notes)


def headline_blocks(found: SweepResult) -> Iterator[Block]:
    """What it comes to, in a sentence or more."""
    for text, kind in loads_headline(found.points) if under_loads(found) else sweep_headline(found):
        yield Paragraph(text, TONES.get(kind, "text"))


def _loads(found: SweepResult) -> Iterator[Block]:
    yield from headline_blocks(found)
    yield from contention_blocks(found)
    rows = [
        (
            point.unit,
            point.load or "",
            count(point.n),
            milliseconds(point.mean_ms),
            milliseconds(point.p90_ms),
            "" if (change := change_of(found.points, point)) is None else percent(change, signed=True),
            significant(point.items_per_s),
            point.error or "",
        )
        for point in found.points
    ]
    yield Table(LOADS_HEADING, rows, ("unit", "load", ""))


def contention_blocks(found: SweepResult) -> Iterator[Block]:
    """What loads do to units, and what units and loads do to the rest of the machine."""
    yield from _sensitivity(found)
    yield from _usage(found)


def _sensitivity(found: SweepResult) -> Iterator[Block]:
    """The ratios of each unit under each load; nothing where there are none."""
    if found.sensitivity:
        rows = [
            (
                each.unit,
                each.load,
                significant(each.p50_ratio),
                _interval(each.p50_ci),
                significant(each.p90_ratio),
                _interval(each.p90_ci),
                count(each.n),
            )
            for each in found.sensitivity
        ]
        yield Paragraph(SENSITIVITY)
        yield Table(SENSITIVITY_HEADING, rows, ("unit", "load"), ("n",))
        if any(each.p90_ci is None for each in found.sensitivity):
            least = NO_INTERVAL.format(p90=samples_needed(LEVELS["p90"]), least=LEAST_EFFECTIVE)
            yield Paragraph(least, "muted")


def _interval(ends: tuple[float, float] | None) -> str:
    return UNKNOWN if ends is None else f"{significant(ends[0])} to {significant(ends[1])}"


def _usage(found: SweepResult) -> Iterator[Block]:
    """A table, and a plot of missed frames against CPU use where both are known."""
    known = [each for each in found.usage if each.cpu_share is not None or each.missed_share is not None]
    if not known:
        return
    names = list(dict.fromkeys(", ".join(each.units) for each in known))
    series = [
        Series(
            name,
            [
                Spot(100 * each.cpu_share, 100 * each.missed_share, each.load)
                for each in known
                if ", ".join(each.units) == name and each.cpu_share is not None and each.missed_share is not None
            ],
            joined=False,
        )
        for name in names
    ]
    plot = Plot(series, Scale("CPU %"), Scale("missed %", from_zero=True), "Frames missed against CPU use.")
    if not plot.is_empty:
        yield plot
    yield Paragraph(USAGE)
    rows = [
        (
            ", ".join(each.units),
            each.load,
            percent(each.cpu_share),
            count(each.frames_missed),
            count(each.frames_due),
            percent(each.missed_share),
        )
        for each in known
    ]
    yield Table(USAGE_HEADING, rows, ("units", "load"), ("of",))
    if any(len(each.units) > 1 for each in known):
        yield Paragraph(IN_TURNS, "muted")


def _plots(curves: Sequence[Along], axis: str) -> Iterator[Block]:
    """Rate and time; along sizes time alone, for with the size an item grows."""
    if not curves:
        return
    if axis == BATCH:
        yield Beside(_plot(curves, axis, RATE), _plot(curves, axis, TIME))
    else:
        yield _plot(curves, axis, TIME)


def _plot(curves: Sequence[Along], axis: str, what: str) -> Plot:
    ticks = sorted({x for each in curves for x, _ in each.points})
    failed = [
        (x, f"failed on {each.name}" if len(curves) > 1 else "failed")
        for each in curves
        for x, point in each.points
        if _value(what, point) is None
    ]
    words = "Items per second" if what == RATE else "Mean time per call"
    return Plot(
        [_series(each, what) for each in curves],
        Scale("batch" if axis == BATCH else "pixels a side", ticks=ticks),
        Scale(what, from_zero=True),
        f"{words} by {axis}." + (" The knee is labelled." if what == RATE else ""),
        failed,
    )


def _series(each: Along, what: str) -> Series:
    spots = []
    for x, point in each.points:
        value = _value(what, point)
        if value is not None:
            knee = what == RATE and each.curve is not None and x == each.curve.knee
            spots.append(Spot(x, value, KNEE if knee else ""))
    return Series(each.name, spots)


def _value(what: str, point: SweepPoint) -> float | None:
    return point.items_per_s if what == RATE else point.mean_ms
