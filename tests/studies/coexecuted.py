"""Co-executions as the stream reports them: one that went well, its beginning, a death, hostile names."""

from __future__ import annotations

import msgspec

from hettop.studies.coexec.result import CoexecResult, WorkerRates

HOSTILE = "[bold]\x1b[31mGPU\u202e\x9b"

# 50 and 100 a second alone, 120 together: a fifth more than the better one, four fifths of the sum.
CPU = WorkerRates(unit="CPU_ONLY", alone_per_s=50.0, together_per_s=30.0, share=0.25, placed="CPU")
NE = WorkerRates(unit="CPU_AND_NE", alone_per_s=100.0, together_per_s=90.0, share=0.75, placed="NE")
WELL = CoexecResult(
    units=[CPU, NE],
    best="CPU_AND_NE",
    together_per_s=120.0,
    ideal_per_s=150.0,
    gain=0.2,
    of_ideal=0.8,
    delivered=5_000,
    p50_ms=10.0,
    p90_ms=20.0,
    max_reorder=7,
    depth=64,
    steals=3,
    rounds=3,
    block_ms=250.0,
    together_by_round=[110.0, 130.0, 120.0],
    best_by_round=[100.0, 100.0, 100.0],
    ideal_by_round=[150.0, 150.0, 150.0],
    energy_why="no power was measured",
    notes=["the units are in each other's way"],
)
BEGUN = CoexecResult(units=[msgspec.structs.replace(CPU, together_per_s=None, share=None)], depth=64)
NOTHING = CoexecResult()
FEW = msgspec.structs.replace(WELL, gain=None, of_ideal=None, gain_why="insufficient data: 5.00 calls a block")
WORSE = msgspec.structs.replace(
    WELL, together_per_s=90.0, gain=-0.1, of_ideal=0.6, together_by_round=[85.0, 95.0, 90.0]
)
UNEVEN = msgspec.structs.replace(WELL, together_by_round=[110.0, 90.0, 160.0])
FIRST = msgspec.structs.replace(
    WELL, rounds=1, together_by_round=[120.0], best_by_round=[100.0], ideal_by_round=[150.0], notes=["a note"]
)
UNTRUE = msgspec.structs.replace(WELL, together_per_s=261.0, gain=1.61, of_ideal=1.74)
DEATH = "CPU_AND_NE died: worker process killed by SIGKILL; from then on the rest worked without it"
DIED = msgspec.structs.replace(
    WELL,
    units=[CPU, msgspec.structs.replace(NE, error="worker process killed by SIGKILL", redone=2, death=DEATH)],
    redone=2,
    rounds=5,
    together_by_round=[110.0, 130.0, 120.0, None, 49.0],
    best_by_round=[100.0, 100.0, 100.0, None, None],
    ideal_by_round=[150.0, 150.0, 150.0, None, None],
    notes=[DEATH, "CPU_AND_NE differs from CPU_ONLY"],
)
POWERED = msgspec.structs.replace(WELL, energy_mj=20.0, energy_why=None, mean_mw=2_400.0, power_source="rapl")
DISORDERED = msgspec.structs.replace(WELL, in_order=False)
HOSTILE_ONE = msgspec.structs.replace(
    WELL, units=[msgspec.structs.replace(CPU, unit=HOSTILE, error=HOSTILE, placed=HOSTILE), NE], best=HOSTILE
)
LONG = msgspec.structs.replace(
    WELL, rounds=1_000, together_by_round=[120.0] * 120, best_by_round=[100.0] * 120, ideal_by_round=[150.0] * 120
)
EVERY = (WELL, BEGUN, NOTHING, FEW, WORSE, UNEVEN, FIRST, UNTRUE, DIED, POWERED, DISORDERED, HOSTILE_ONE, LONG)
