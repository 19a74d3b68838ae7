"""What was measured of a model that was cut, as data.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SurveyedLayer:
    """A layer: steps `first` to `last` of the flow.

    ops: types of all operations in it. ms: by device, without communication; None where it cannot run.
    crossing: values that cross a cut after it, `crossing_bytes` together.
    """

    name: str
    op: str
    ops: tuple[str, ...]
    first: int
    last: int
    ms: tuple[float | None, ...]
    weight_bytes: int
    output_bytes: int
    crossing: int
    crossing_bytes: int


@dataclass(frozen=True, slots=True)
class Moved:
    """What a cut cost on a device where it was tried: ms at both of its sides together, for so many bytes."""

    device: int
    nbytes: int
    ms: float


@dataclass(frozen=True, slots=True)
class Survey:
    """All that a cost table is made of. end_to_end_ms: of the whole model, by device, None where it does not load;
    moved: cuts that were tried. estimated: whether layers' times are shares of calls by a framework's estimate.
    profiled_ms: of the whole model, by device, while its layers were profiled; empty where none was."""

    layers: tuple[SurveyedLayer, ...]
    end_to_end_ms: tuple[float | None, ...]
    moved: tuple[Moved, ...]
    notes: tuple[str, ...] = ()
    estimated: bool = False
    profiled_ms: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Ran:
    """How a plan ran, in ms: each slice, all together, and the whole model by device, means of the middle half.

    gains: (time of the best single device / time of the plan) - 1 for each run, in turns.
    difference: the largest of any output element, in units of `scale`, the largest element or 1; None if the outputs
    are no numbers or differ in shape. equal: whether that is within `tolerance`, what rounding explains.
    Where devices compute differently, the whole model on `reference` is what outputs are compared with; cut_difference:
    of all slices run there, within `cut_tolerance` if the cutting is right; apart: of the whole model on each device.
    others_ms: of other plans, each in `others_runs` turns with the plan; beside_ms: of the plan in each of these turns.
    """

    slice_ms: tuple[float, ...]
    plan_ms: float
    whole_ms: tuple[float | None, ...]
    gains: tuple[float, ...]
    difference: float | None
    equal: bool
    tolerance: float
    runs: int
    reference: str | None = None
    cut_difference: float | None = None
    cut_tolerance: float | None = None
    apart: tuple[float | None, ...] = ()
    others_ms: tuple[float, ...] = ()
    others_runs: int = 0
    beside_ms: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """A layer ran so many times, one after another, between these times of the machine's monotonic clock."""

    begin_ns: int
    end_ns: int
    calls: int


@dataclass(frozen=True, slots=True)
class Blocks:
    """Of each piece that was asked for, in their order."""

    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Granularity:
    """One way to run in parallel: inferences per second, latency of one in ms, and the rate of each round."""

    name: str
    per_s: float
    p50_ms: float
    p90_ms: float
    calls: int
    by_round: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Compared:
    """All ways, measured in turns in blocks of `block_ms`. stages: layers in each stage of the pipeline."""

    rows: tuple[Granularity, ...]
    stages: tuple[int, ...]
    block_ms: float
    notes: tuple[str, ...] = ()
