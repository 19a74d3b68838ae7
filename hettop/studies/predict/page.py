"""Predictors in a report: how far off they are, estimates against measurements, all rows, the fitted lines."""

from __future__ import annotations

from collections.abc import Iterator

from hettop.events import NO_LOAD
from hettop.format import UNKNOWN, count, milliseconds, percent, significant
from hettop.report.page import Block, Items, Paragraph, Plot, Scale, Series, Spot, Table
from hettop.studies.predict.result import LAYERS, MACS, OFFLINE, Accuracy, PredictResult

WORDS = {MACS: "line by MACs", LAYERS: "lines by type of layer", OFFLINE: "measured without load"}
ACCURACY = ("predictor", "load", "median error", "worst", "network", "n")
ROWS = ("network", "load", "measured ms", "by MACs ms", "off", "by layers ms", "off ", "unseen", "")
FITS = ("type", "layers", "a ms", "b ms/GMAC", "c ms/GB")
METHOD = (
    "each network is predicted by fits to the others, without load; off: |estimate - measured| / measured; time: mean "
    "of the middle half of the calls; unseen: layers of a type that no other network has"
)
SPREAD = "errors are of this machine, these networks and this session; no interval is known for so few networks"


def blocks(found: PredictResult) -> Iterator[Block]:
    """Sentences, the errors of each predictor under each load, the plot, the rows, the lines, notes."""
    for text, tone in _headline(found):
        yield Paragraph(text, "strong" if tone else "text")
    if found.accuracy:
        yield Table(ACCURACY, [_accuracy(each) for each in found.accuracy], ("predictor", "load", "network"), ("n",))
    yield from _plot(found)
    if found.rows:
        yield Table(ROWS, _rows(found), ("network", "load", ""), ("unseen",))
    if found.fits:
        yield Paragraph("Lines over all networks without load: t = a + b MACs + c bytes of a layer.")
        yield Table(FITS, _fits(found), ("type",))
    rest = [f"{count(found.rest_n)} further rows are not kept in the recording"] if found.rest_n else []
    yield Items([*found.notes, *rest, METHOD, SPREAD, "synthetic weights"])


def _headline(found: PredictResult) -> Iterator[tuple[str, bool]]:
    """Idle first, then each load; whether it is the main sentence."""
    by_load: dict[str, list[Accuracy]] = {}
    for each in found.accuracy:
        by_load.setdefault(each.load, []).append(each)
    for load, all_of in by_load.items():
        where = "Without load" if load == NO_LOAD else f"Under {load}"
        words = ", ".join(
            f"{WORDS.get(each.predictor, each.predictor)} {percent(each.median_error)}" for each in all_of
        )
        yield (
            f"{where} estimates are off by (median of {count(all_of[0].networks)} networks): {words}.",
            load == NO_LOAD,
        )
    if not by_load:
        yield "Insufficient data: nothing was predicted.", True


def _accuracy(each: Accuracy) -> tuple[str, ...]:
    return (
        WORDS.get(each.predictor, each.predictor),
        each.load,
        percent(each.median_error),
        percent(each.worst_error),
        each.worst,
        count(each.networks),
    )


def _plot(found: PredictResult) -> Iterator[Block]:
    """The estimates by layers against what was measured, for each load, with the line on which they are equal."""
    loads = list(dict.fromkeys(row.load for row in found.rows))
    series = []
    for load in loads:
        known = [row for row in found.rows if row.load == load and row.actual_ms and row.estimates_ms.get(LAYERS)]
        spots = [Spot(row.estimates_ms[LAYERS], row.actual_ms or 0.0) for row in known]
        series.append(Series(load, sorted(spots, key=lambda spot: spot.x), joined=False))
    values = [value for each in series for spot in each.spots for value in (spot.x, spot.y)]
    if values:
        ends = (min(values), max(values))
        series.append(Series("equal", [Spot(end, end) for end in ends], dots=False, tone="muted"))
        caption = "Measured time against the estimate by layers, both axes logarithmic."
        yield Plot(series, Scale("estimate ms", log=True), Scale("measured ms", log=True), caption)


def _rows(found: PredictResult) -> list[tuple[str, ...]]:
    return [
        (
            row.network,
            row.load,
            milliseconds(row.actual_ms),
            milliseconds(row.estimates_ms.get(MACS)),
            percent(row.errors.get(MACS)),
            milliseconds(row.estimates_ms.get(LAYERS)),
            percent(row.errors.get(LAYERS)),
            UNKNOWN if row.unseen is None else percent(row.unseen),
            row.error or "",
        )
        for row in found.rows
    ]


def _fits(found: PredictResult) -> list[tuple[str, ...]]:
    return [
        (
            fit.op or "all types",
            count(fit.layers),
            *(significant(value) for value in (fit.a_ms, fit.b_ms_per_gmac, fit.c_ms_per_gbyte)),
        )
        for fit in found.fits
    ]
