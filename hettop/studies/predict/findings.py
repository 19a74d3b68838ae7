"""Each network predicted from the others, and how wrong that is, idle and under load. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from hettop.analysis.conditions import estimate_error
from hettop.events import NO_LOAD
from hettop.studies.predict.estimators import Work, fit_line, fit_types, predict, unseen_share
from hettop.studies.predict.result import LAYERS, MACS, OFFLINE, Accuracy, EstimateRow, OpFit, PredictResult

FEWEST_NETWORKS = 4
"""Of which three are left to fit a line to: through two there is always one."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A network: its MACs, its layers as they ran without load, and the mean time of a call by load.

    failed: why it was not measured under a load.
    """

    network: str
    macs: int
    layers: Sequence[Work]
    ms: Mapping[str, float]
    failed: Mapping[str, str]

    @property
    def whole(self) -> Work:
        return Work("", self.macs, 0, self.ms[NO_LOAD])


def predict_result(
    unit: str, runs: int, measured: Sequence[Measured], loads: Sequence[str], notes: Sequence[str] = ()
) -> PredictResult:
    """Leave one out: each network is predicted by fits to all others that were measured without load."""
    known = [each for each in measured if NO_LOAD in each.ms and each.layers]
    enough = len(known) >= FEWEST_NETWORKS
    rows = [row for each in measured for row in _rows(each, known if enough else [], loads)]
    few = [] if enough else [f"insufficient data: a prediction needs {FEWEST_NETWORKS} networks, measured without load"]
    layers = [work for each in known for work in each.layers]
    lines = fit_types(layers) if layers else {}
    return PredictResult(
        unit=unit,
        runs=runs,
        rows=rows,
        accuracy=[found for load in loads for name in (MACS, LAYERS, OFFLINE) if (found := accuracy(rows, name, load))],
        fits=[
            OpFit(op=op, layers=line.n, a_ms=line.a_ms, b_ms_per_gmac=line.b_ms, c_ms_per_gbyte=line.c_ms)
            for op, line in sorted(lines.items(), key=lambda item: -item[1].n)
        ],
        notes=[*notes, *few],
    )


def accuracy(rows: Sequence[EstimateRow], predictor: str, load: str) -> Accuracy | None:
    """Of one predictor under one load; None where it predicted nothing that was measured."""
    found = [(row.errors[predictor], row.network) for row in rows if row.load == load and predictor in row.errors]
    if not found:
        return None
    worst, network = max(found)
    return Accuracy(
        predictor=predictor,
        load=load,
        networks=len(found),
        median_error=median(error for error, _ in found),
        worst_error=worst,
        worst=network,
    )


def _rows(each: Measured, known: Sequence[Measured], loads: Sequence[str]) -> list[EstimateRow]:
    others = [other for other in known if other.network != each.network]
    estimates: dict[str, float] = {}
    unseen = None
    if each in known:
        lines = fit_types([work for other in others for work in other.layers])
        line = fit_line([other.whole for other in others], by_bytes=False)
        estimates = {MACS: line.of(each.whole), LAYERS: predict(lines, each.layers)}
        unseen = unseen_share(lines, each.layers)
    rows = []
    for load in loads:
        actual = each.ms.get(load)
        offline = {OFFLINE: each.ms[NO_LOAD]} if load != NO_LOAD and NO_LOAD in each.ms else {}
        stated = {**estimates, **offline}
        rows.append(
            EstimateRow(
                network=each.network,
                load=load,
                macs=each.macs,
                actual_ms=actual,
                layers_ms=sum(work.ms for work in each.layers) if load == NO_LOAD and each.layers else None,
                estimates_ms=stated,
                errors={name: estimate_error(ms, actual) for name, ms in stated.items()} if actual else {},
                unseen=unseen,
                error=None if actual else each.failed.get(load, "nothing was measured"),
            )
        )
    return rows
