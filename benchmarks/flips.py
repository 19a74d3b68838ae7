"""What `hettop verify` misses of random damage: flipped bits and changed digits in the sample recordings."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.plan import ROOT, Plan
from benchmarks.rows import Row, Unit, worst_at_most
from tests.record.flips import changed_digit, flipped_bit, is_silent, sealed

FLIPS = 400
DIGITS = 200
SEED = 1
COUNT = Unit("", decimals=0)


def measure(plan: Plan) -> Iterator[Row]:
    """One row for each kind of damage: how many were not noticed."""
    recordings = [sealed(path.read_bytes()) for path in sorted((ROOT / "recordings").glob("*.jsonl"))]
    rng, path = random.Random(SEED), plan.folder / "damaged.jsonl"
    changes: tuple[tuple[str, Callable[[bytes, random.Random], bytes], int], ...] = (
        ("one flipped bit", flipped_bit, plan.either(FLIPS, 10)),
        ("one changed digit", changed_digit, plan.either(DIGITS, 5)),
    )
    for name, change, times in changes:
        missed = [_missed(path, change(recordings[index % len(recordings)], rng)) for index in range(times)]
        yield worst_at_most(f"{name} in a closed recording: not noticed by verify", 0, missed, COUNT)


def _missed(path: Path, damaged: bytes) -> float:
    path.write_bytes(damaged)
    return float(is_silent(path))
