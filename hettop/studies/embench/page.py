"""A run of EmBench in a report: time against MACs, rate by batch, the Pareto front, shares by operation, the rows."""

from __future__ import annotations

from collections.abc import Iterator

from hettop.format import count, milliseconds, percent, significant
from hettop.report.page import Block, Items, Paragraph, Plot, Scale, Series, Spot, Table
from hettop.studies.embench.findings import best_rates
from hettop.studies.embench.result import EmBenchResult, NetRow, TimeFit

FEW_OPS = 4
LEAST_R2 = 0.5
"""Below it, MACs explain less than half of the variance of the times."""
HEADING = ("network", "unit", "batch", "MACs M", "min ms", "P50 ms", "items/s", "mJ", "x line", "")
DROP = ("P50 ms", "x line", "MACs M")


def blocks(found: EmBenchResult) -> Iterator[Block]:
    """What it comes to, the paper's four figures, all rows, notes."""
    for fit in found.fits:
        yield Paragraph(headline(fit), "strong")
    yield from _time_plot(found)
    yield from _batch_plot(found)
    yield from _front_plot(found)
    yield from _shares(found)
    if found.rows:
        yield Table(HEADING, [_row(row) for row in found.rows], ("network", "unit", ""), DROP)
    notes = list(found.notes)
    unpublished = dict.fromkeys(row.network for row in found.rows if row.top1_percent is None)
    if unpublished:
        notes.append(f"no published top-1 accuracy, so not in the figure of accuracy: {', '.join(unpublished)}")
    if found.rest_n:
        notes.append(f"{count(found.rest_n)} further rows are not kept in the recording")
    yield Items(
        [*notes, "min: the shortest call, as EmBench reports; x line: measured over fitted time", "synthetic weights"]
    )


def headline(fit: TimeFit) -> str:
    """How well MACs predict the time, in a sentence."""
    if fit.exponent <= 0 or fit.r2 < LEAST_R2:
        return (
            f"{fit.unit}: over {fit.networks} networks no line of time against MACs fits "
            f"(MACs^{fit.exponent:.2f}, R² {fit.r2:.2f})"
        )
    off = max(fit.worst_factor, 1 / fit.worst_factor) if fit.worst_factor else 1.0
    direction = "slower" if fit.worst_factor > 1 else "faster"
    return (
        f"{fit.unit}: over {fit.networks} networks time grows with MACs^{fit.exponent:.2f} (R² {fit.r2:.2f}); "
        f"{fit.worst} is {off:.1f} times {direction} than its MACs suggest"
    )


def _time_plot(found: EmBenchResult) -> Iterator[Block]:
    series = []
    for unit in _units(found):
        rows = [row for row in found.rows if row.unit == unit and row.batch == 1 and row.min_ms]
        spots = [Spot(row.macs / 1e6, row.min_ms or 0.0, row.network if len(rows) <= 12 else "") for row in rows]
        series.append(Series(unit, sorted(spots, key=lambda spot: spot.x), joined=False))
    plot = Plot(series, Scale("MACs M", log=True), Scale("ms", log=True), "Shortest call against MACs, batch 1.")
    if not plot.is_empty:
        yield plot


def _batch_plot(found: EmBenchResult) -> Iterator[Block]:
    """Of networks with several batches, on the first unit that has them."""
    series = []
    for unit in _units(found):
        for name in dict.fromkeys(row.network for row in found.rows):
            rows = [row for row in found.rows if row.unit == unit and row.network == name and row.items_per_s]
            if len(rows) > 1:
                spots = [Spot(row.batch, row.items_per_s or 0.0) for row in rows]
                series.append(Series(name if len(_units(found)) == 1 else f"{name} {unit}", spots))
    if series:
        ticks = sorted({row.batch for row in found.rows})
        yield Plot(series, Scale("batch", ticks=ticks), Scale("items/s", log=True), "Items per second by batch.")


def _front_plot(found: EmBenchResult) -> Iterator[Block]:
    for unit, front in found.front.items():
        rows = best_rates([row for row in found.rows if row.unit == unit and row.top1_percent is not None])
        on, off = ([row for row in rows if (row.network in front) is kept] for kept in (True, False))
        spots = [Spot(row.items_per_s or 0.0, row.top1_percent or 0.0, row.network) for row in on]
        behind = [Spot(row.items_per_s or 0.0, row.top1_percent or 0.0, hollow=True) for row in off]
        series = [
            Series("on the front", sorted(spots, key=lambda spot: spot.x)),
            Series("dominated", behind, joined=False),
        ]
        yield Plot(
            series,
            Scale("items/s", log=True),
            Scale("top-1 %"),
            f"{unit}: published accuracy against rate. On the Pareto front: {', '.join(front)}.",
        )


def _shares(found: EmBenchResult) -> Iterator[Block]:
    if not found.shares:
        return
    rows = []
    for each in found.shares:
        parts = list(each.by_op.items())[:FEW_OPS]
        words = ", ".join(f"{op} {percent(share)}" for op, share in parts)
        rows.append((each.network, each.unit, words))
    yield Table(
        ("network", "unit", "share of time by type of operation"),
        rows,
        ("network", "unit", "share of time by type of operation"),
    )


def _row(row: NetRow) -> tuple[str, ...]:
    return (
        row.network,
        row.unit,
        count(row.batch),
        significant(row.macs / 1e6),
        milliseconds(row.min_ms),
        milliseconds(row.p50_ms),
        significant(row.items_per_s),
        "" if row.energy_mj is None else significant(row.energy_mj),
        "" if row.residual is None else f"{row.residual:.2f}",
        row.error or "",
    )


def _units(found: EmBenchResult) -> list[str]:
    return list(dict.fromkeys(row.unit for row in found.rows))
