"""Hand-made event streams for tests: windows with given latencies, cut and joined at will."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from hettop import events

MS = 1_000_000
S = 1_000_000_000


def window(
    latencies: Sequence[int],
    *,
    t0: int = 0,
    gap: int = 1_000,
    unit: str = "CPU_ONLY",
    load: str = "none",
    phase: str = "steady",
    thermal: str | None = None,
    late: Sequence[int] | None = None,
    native: Sequence[int] | None = None,
    t: int | None = None,
) -> events.Samples:
    """A window whose samples follow each other after `gap` ns, committed at its end unless `t` says otherwise."""
    n = len(latencies)
    end = t0 + sum(latencies) + gap * (n - 1)
    return events.Samples(
        t=end if t is None else t,
        unit=unit,
        condition=load,
        phase=phase,
        t0=t0,
        n=n,
        gap_ns=np.full(n, gap, dtype=np.int64),
        lat_ns=np.array(latencies, dtype=np.int64),
        late_ns=None if late is None else np.array(late, dtype=np.int64),
        native_ns=None if native is None else np.array(native, dtype=np.int64),
        thermal=thermal,
    )


def cut(whole: events.Samples, points: Sequence[int]) -> list[events.Samples]:
    """The same samples in several windows, cut before the given indices."""
    starts = whole.starts_ns()
    edges = [0, *sorted({p for p in points if 0 < p < whole.n}), whole.n]
    parts = []
    for first, last in pairwise(edges):
        parts.append(
            events.Samples(
                t=int(starts[last - 1] + whole.lat_ns[last - 1]),
                unit=whole.unit,
                condition=whole.condition,
                phase=whole.phase,
                t0=int(starts[first]),
                n=last - first,
                gap_ns=whole.gap_ns[first:last],
                lat_ns=whole.lat_ns[first:last],
                late_ns=None if whole.late_ns is None else whole.late_ns[first:last],
                native_ns=None if whole.native_ns is None else whole.native_ns[first:last],
                thermal=whole.thermal,
            )
        )
    return parts


def header(*, simulated: bool = False, absent: dict[str, str] | None = None, **settings: object) -> events.Header:
    return events.Header(
        t=0,
        format=events.FORMAT,
        version=events.VERSION,
        id="test",
        wall="2026-01-01T00:00:00Z",
        simulated=simulated,
        host=events.Host(chip="Test chip"),
        model=events.ModelInfo(name="Test model", backend="onnxruntime"),
        settings={"absent": absent or {}, **settings},
    )
