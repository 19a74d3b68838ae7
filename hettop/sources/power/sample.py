"""One power sample, whatever measured it: rails in mW, clusters, GPU, thermal state, and what to doubt about it.

Pure; a figure that is absent or out of all bounds is None, never 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import msgspec

from hettop.events import LARGEST_EXACT, TEXT_LIMIT, Accelerator, Cluster, Gpu, Power

T = TypeVar("T", int, float)

RAILS = ("cpu", "gpu", "ane", "dram", "package", "combined")

SUMS = ("package", "combined")
"""The rails that others are part of."""

SUSPECT_ZERO = "suspect-zero"  # a rail read 0 W although what it feeds was running: see `make_sample`
PARTIAL = "partial"  # lacks what its source had begun to report
ESTIMATED = "estimated"  # a figure was worked out from another quantity than the one it stands for
INCONSISTENT = "inconsistent"  # `combined` is far from the sum of CPU, GPU and ANE: one of them is wrong
FLAGS = (SUSPECT_ZERO, PARTIAL, ESTIMATED, INCONSISTENT)

# Why a part of a capture gave no sample, where several parsers say the same.
SUMMARY = "summary"  # figures of the whole run, or since the system started
BATTERY_ONLY = "battery only"  # made with no sampler that measures power of the processor

MILLI = 1000.0
POWERMETRICS_STEP_MJ = 1.0  # the energy counters behind powermetrics count whole mJ
HIGHEST_MW = 1e7  # 10 kW: an overflown counter, not a computer
HIGHEST_MHZ = 1e6
CLUSTER_LIMIT = 64  # eight times what the largest chip has
# A GPU busier than this draws milliwatts: below it, 0 mW may be rounding.
SUSPECT_BUSY = 0.05
# `combined` is far from its parts where they differ by more than this and by more than half of the larger.
FAR_MW = 100.0
SHARE_SLACK = 0.02  # idle and down are rounded apart from each other, so their sum may pass 1 a little


@dataclass(frozen=True, slots=True)
class PowerSample:
    """Mean power over the `elapsed_ns` before it was reported; None where the source does not say how long that was.

    mw: every rail of RAILS in mW, then those of `accelerators`. `combined` and `package` are only as the source reports
        them, never summed here.
    clusters: slowest tier first where highest frequencies are known, else as reported; names as the source prints them.
    thermal: the source's own word.
    """

    source: str
    elapsed_ns: int | None
    mw: dict[str, float | None]
    clusters: tuple[Cluster, ...] = ()
    gpu: Gpu | None = None
    thermal: str | None = None
    flags: tuple[str, ...] = ()
    accelerators: tuple[Accelerator, ...] = ()

    def measured_mw(self, rail: str) -> float | None:
        """What the rail drew; None where it was not measured.

        That is where nothing was printed, a zero where zeros are suspect, and a sum that such a zero is part of or that
        contradicts its parts.
        """
        mw = self.mw.get(rail)
        if rail in SUMS and (SUSPECT_ZERO in self.flags or INCONSISTENT in self.flags):
            return None
        return None if mw == 0 and SUSPECT_ZERO in self.flags else mw


@dataclass(frozen=True, slots=True)
class ClusterFigures:
    """A cluster as a parser found it; `top_mhz` is the highest frequency it can run at, for ranking."""

    name: str
    mhz: float | None
    busy: float | None
    top_mhz: float | None = None


def make_sample(
    source: str,
    elapsed_ns: int | None,
    mw: dict[str, float | None],
    *,
    clusters: Sequence[ClusterFigures] = (),
    gpu: Gpu | None = None,
    thermal: str | None = None,
    flags: Iterable[str] = (),
) -> PowerSample:
    """A sample with all rails present, its clusters ranked, and `suspect-zero` added where it belongs.

    The CPU's rail is never 0: whoever reads it runs on it, whatever share of busy time the source gives, or if it gives
    none. A GPU may be off.
    """
    found = set(flags)
    gpu_busy = (gpu.busy if gpu else None) or 0.0
    if mw.get("cpu") == 0 or (mw.get("gpu") == 0 and gpu_busy > SUSPECT_BUSY):
        found.add(SUSPECT_ZERO)
    elif _is_inconsistent(mw):
        found.add(INCONSISTENT)
    return PowerSample(
        source=source,
        elapsed_ns=elapsed_ns,
        mw={rail: mw.get(rail) for rail in RAILS},
        clusters=tuple(
            Cluster(name=each.name[:TEXT_LIMIT], mhz=each.mhz, busy=each.busy) for each in _ranked(clusters)
        ),
        gpu=gpu,
        thermal=thermal[:TEXT_LIMIT] if thermal else None,
        flags=tuple(flag for flag in FLAGS if flag in found),
    )


def _is_inconsistent(mw: Mapping[str, float | None]) -> bool:
    parts = [mw.get(rail) for rail in ("cpu", "gpu", "ane")]
    known = [part for part in parts if part is not None]
    combined = mw.get("combined")
    if combined is None or len(known) < len(parts):
        return False
    return abs(combined - sum(known)) > max(FAR_MW, max(combined, sum(known)) / 2)


def _ranked(clusters: Sequence[ClusterFigures]) -> list[ClusterFigures]:
    """By highest frequency, not by letter: `P` is the fast tier of one chip and the slow tier of another."""
    kept = list(clusters[:CLUSTER_LIMIT])
    tops = [each.top_mhz for each in kept]
    if None in tops:
        return kept
    return sorted(kept, key=lambda each: each.top_mhz or 0.0)


def as_event(sample: PowerSample, t: int, elapsed_ns: int) -> Power:
    """The sample as an event committed at `t`; `elapsed_ns` is its window, which some sources leave to the receiver."""
    return Power(
        t=t,
        source=sample.source,
        elapsed_ns=elapsed_ns,
        mw=dict(sample.mw),
        clusters=list(sample.clusters),
        gpu=sample.gpu,
        thermal=sample.thermal,
        flags=list(sample.flags),
        accelerators=list(sample.accelerators),
    )


def of_event(event: Power) -> PowerSample:
    """The sample in an event, for those who print samples wherever they come from."""
    return PowerSample(
        source=event.source,
        elapsed_ns=event.elapsed_ns,
        mw={**dict.fromkeys(RAILS), **event.mw},
        clusters=tuple(event.clusters),
        gpu=event.gpu,
        thermal=event.thermal,
        flags=tuple(event.flags),
        accelerators=tuple(event.accelerators),
    )


def as_document(sample: PowerSample) -> dict[str, Any]:
    """The sample as plain values for JSON; unknown is None."""
    return {
        "elapsed_ns": sample.elapsed_ns,
        "mw": dict(sample.mw),
        "clusters": [{"name": each.name, "mhz": each.mhz, "busy": each.busy} for each in sample.clusters],
        "gpu": {"mhz": sample.gpu.mhz, "busy": sample.gpu.busy} if sample.gpu else None,
        "thermal": sample.thermal,
        "flags": list(sample.flags),
        "accelerators": [msgspec.structs.asdict(each) for each in sample.accelerators],
    }


def checked(convert: Callable[[float | None], T | None], value: float | None, flags: set[str]) -> T | None:
    """`convert(value)`; where that drops a value that was printed, the sample is `partial`."""
    figure = convert(value)
    if figure is None and value is not None:
        flags.add(PARTIAL)
    return figure


def number(text: str) -> float | None:
    """A printed number, with a point or a locale's comma; None for `nan`, infinities and anything else."""
    try:
        value = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def milliwatts(value: float | None) -> float | None:
    """A power in mW, or None where none can be meant."""
    return value if value is not None and 0 <= value <= HIGHEST_MW else None


def megahertz(value: float | None) -> float | None:
    """A frequency in MHz, or None where none can be meant. A parked cluster's 0 is a figure."""
    return value if value is not None and 0 <= value <= HIGHEST_MHZ else None


def share(value: float | None) -> float | None:
    """A ratio of 0 to 1, rounding forgiven, or None where none can be meant."""
    if value is None or not -SHARE_SLACK <= value <= 1 + SHARE_SLACK:
        return None
    return min(max(value, 0.0), 1.0)


def window_ns(value: float | None) -> int | None:
    """The length of a window in ns, or None where none can be meant."""
    return round(value) if value is not None and 0 < value <= LARGEST_EXACT else None


def busy_of(idle: float | None, down: float | None) -> float | None:
    """Share of time a core ran: 1 - idle - down. A parked core has idle 0 and down 1; older chips report no down."""
    if idle is None or idle < 0 or (down or 0.0) < 0:
        return None  # no rounding makes a negative share: what else it reported is not to be trusted either
    return share(1 - idle - (down or 0.0))


def mean(values: Sequence[float | None]) -> float | None:
    """Mean of the known values; None when there is none."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else None
