"""The cost table of a model, from what was measured of its layers and of cuts between them.

Pure; source of the regression: MOSAIC, equations 1 and 2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from hettop.studies.plan.cutting.result import Moved, Survey
from hettop.studies.plan.slicing.costs import CostTable
from hettop.studies.plan.slicing.estimators import Communication, fit_communication
from hettop.units import BYTES_PER_MB

FEWEST_SIZES = 2


@dataclass(frozen=True, slots=True)
class Costs:
    """The table in ms, and the line of communication of each device: ms at both sides of a cut by bytes."""

    table: CostTable
    communication: tuple[Communication, ...]


def cost_table(
    devices: Sequence[str],
    survey: Survey,
    *,
    limits_mb: Mapping[str, float] | None = None,
    watts: Mapping[str, float] | None = None,
) -> Costs:
    """Half of what a cut costs is paid at its end, half at its begin; the model's own ends are in its layers' times.

    limits_mb: MB of largest weights and outputs of a slice, by device. watts: by device, for all of them.
    """
    tried = [[each for each in survey.moved if each.device == device] for device in range(len(devices))]
    lines, least = tuple(_line(moved) for moved in tried), [_least(moved) for moved in tried]
    layers = survey.layers
    cuts = np.array(
        [
            [max(floor, line.at(each.crossing_bytes)) / 2 for line, floor in zip(lines, least, strict=True)]
            for each in layers[:-1]
        ]
    ).reshape(-1, len(devices))
    none = np.zeros((1, len(devices)))
    table = CostTable(
        devices=tuple(devices),
        execution=np.array([[math.inf if ms is None else ms for ms in each.ms] for each in layers]),
        entry=np.concatenate([none, cuts]),
        exit=np.concatenate([cuts, none]),
        sizes=np.array([(each.weight_bytes + each.output_bytes) / BYTES_PER_MB for each in layers]),
        limits=np.array([(limits_mb or {}).get(device, math.inf) for device in devices]),
        watts=None if watts is None else np.tile([watts[device] for device in devices], (len(layers), 1)),
        unit="ms",
    )
    return Costs(table, lines)


def _least(moved: Sequence[Moved]) -> float:
    """What a cut costs at least, whatever a line through a few points says of small ones: the median of those tried
    that move less than half of the others do."""
    if not moved:
        return 0.0
    by_size = sorted(moved, key=lambda each: each.nbytes)
    return max(0.0, median(each.ms for each in by_size[: -(-len(by_size) // 2)]))


def _line(moved: Sequence[Moved]) -> Communication:
    """The regression; where all cuts that were tried move as many bytes, their mean whatever the size."""
    if len({each.nbytes for each in moved}) < FEWEST_SIZES:
        mean = math.fsum(each.ms for each in moved) / len(moved) if moved else 0.0
        return Communication(0.0, mean, None, len(moved))
    return fit_communication([each.nbytes for each in moved], [each.ms for each in moved])
