"""Start-up as a study finds it, for whoever reports it: figures that can be worked out by hand."""

from __future__ import annotations

import msgspec

from hettop.events import Failure
from hettop.studies.cold.result import BreakEven, ColdResult, ColdRow, Spread

HOSTILE = "[bold]\x1b[31mGPU\u202e\x9b"


def spread(value: float) -> Spread:
    return Spread(median=value, lowest=value * 0.75, highest=value * 1.5)


def row(
    unit: str, ready_ms: float, call_ms: float, cached: bool | None = None, compile_ms: float | None = None
) -> ColdRow:
    """Of four starts: 100 ms of process, 20 ms of first call, half of the rest for loading."""
    rest = ready_ms - 120 - (compile_ms or 0)
    return ColdRow(
        unit=unit,
        cached=cached,
        n=4,
        start_ms=spread(100),
        compile_ms=None if compile_ms is None else spread(compile_ms),
        load_ms=spread(rest / 2),
        first_ms=spread(20),
        other_ms=spread(rest / 2),
        ready_ms=spread(ready_ms),
        steady_ms=spread(ready_ms + 60 * call_ms),
        warmups=spread(60),
        call_ms=spread(call_ms),
        ready_each_ms=[ready_ms * 0.75, ready_ms, ready_ms, ready_ms * 1.5],
        call_each_ms=[call_ms * 0.75, call_ms, call_ms, call_ms * 1.5],
    )


CPU = row("CPU_ONLY", 4_000, 20)
NE = row("CPU_AND_NE", 12_000, 10)
GPU = row("CPU_AND_GPU", 13_000, 25)
KILLED = Failure(
    kind="crashed",
    message="engine process killed by SIGKILL while loading",
    hint="the system kills processes when memory runs out",
    log=["a last word"],
)
CROSSING = BreakEven(faster_start="CPU_ONLY", slower_start="CPU_AND_NE", calls=802, low=700, high=912, agree=1.0)
IN_BOTH = BreakEven(faster_start="CPU_ONLY", slower_start="CPU_AND_GPU", faster_in_both="CPU_ONLY", agree=0.99)
UNPROVEN = BreakEven(
    faster_start="CPU_AND_NE", slower_start="CPU_AND_GPU", agree=0.6, why="not proven: 60% of resamples agree"
)
WELL = ColdResult(
    rows=[CPU, NE, GPU],
    break_even=[CROSSING, IN_BOTH, UNPROVEN],
    repeat=4,
    notes=["compile n/a: onnxruntime reports no compilation"],
)
CACHED = ColdResult(
    rows=[row("ALL", 1_000, 10, cached=True), row("ALL", 9_000, 10, cached=False, compile_ms=7_500)], repeat=5
)
IN_SIMULATION = msgspec.structs.replace(WELL, simulated=True)
UNSTEADY = msgspec.structs.replace(
    WELL, rows=[msgspec.structs.replace(CPU, steady_ms=None, warmups=None)], break_even=[]
)
ALL_FAILED = ColdResult(rows=[ColdRow(unit="CPU_ONLY", error=KILLED)], repeat=4)
LATER_FAILED = ColdResult(rows=[CPU, msgspec.structs.replace(NE, error=KILLED)], repeat=4)
NOTHING = ColdResult()
FULL = ColdResult(
    rows=[
        row(f"CPU_ONLY@{i}" + "x" * 90, 1_234.567890123 * i, 1.234567890123 * i, cached=True, compile_ms=7.1234567)
        for i in range(1, 40)
    ],
    break_even=[msgspec.structs.replace(UNPROVEN, faster_start="CPU_ONLY@1" + "x" * 90) for _ in range(100)],
    repeat=1_000,
    notes=["a note " * 40] * 30,
)
FULL = msgspec.structs.replace(
    FULL,
    rows=[
        msgspec.structs.replace(
            each, ready_each_ms=[1_234.56789] * 1_000, call_each_ms=[1.23456789] * 1_000, error=KILLED
        )
        for each in FULL.rows
    ],
)
HOSTILE_ONE = ColdResult(
    rows=[
        msgspec.structs.replace(CPU, unit=HOSTILE, cached=True),
        ColdRow(unit=HOSTILE, error=Failure(kind=HOSTILE, message=HOSTILE, hint=HOSTILE, log=[HOSTILE])),
    ],
    break_even=[BreakEven(faster_start=HOSTILE, slower_start=HOSTILE, why=HOSTILE, faster_in_both=HOSTILE)],
    notes=[HOSTILE],
)
