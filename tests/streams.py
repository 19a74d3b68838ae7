"""Hand-made event streams for tests: windows with given latencies, cut and joined at will."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from hettop import events
from hettop.session.session import Session

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


def answered(*answers: tuple[int, list[int]], failed: int = 0) -> Session:
    """Answers of one unit: ms to the first token, and ms of each later token."""
    session = Session()
    session.fold(header(answers={}))
    t = 0
    for number, (first, later) in enumerate(answers):
        whole = first + sum(later)
        common: dict[str, Any] = {"t": t + whole * MS, "condition": "none", "phase": "steady", "answer": number}
        for row, start, column, position in (("U~prefill", t, [first], 0), ("U", t + first * MS, later, 1)):
            latencies = np.array(column, dtype=np.int64) * MS
            session.fold(
                events.Samples(
                    **common,
                    unit=row,
                    t0=start,
                    n=len(column),
                    gap_ns=np.zeros(len(column), dtype=np.int64),
                    lat_ns=latencies,
                    position=position,
                )
            )
        session.fold(
            events.Answer(
                **common,
                unit="U",
                t0=t,
                end_ns=t + whole * MS,
                chunks=1 + len(later),
                tokens=1 + len(later),
                first_ns=first * MS,
                finish="length",
            )
        )
        t += whole * MS
    for number in range(failed):
        session.fold(
            events.Answer(
                t=t,
                unit="U",
                condition="none",
                phase="steady",
                answer=len(answers) + number,
                t0=t,
                end_ns=t,
                chunks=0,
                finish="failed",
                error="HTTP 429",
            )
        )
    return session
