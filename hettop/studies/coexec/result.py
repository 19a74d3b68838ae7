"""What a co-execution found: rates alone and together, gain, order, energy."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec

from hettop.events.base import TEXT_LIMIT, Count, Ratio, Share, Text
from hettop.studies.result import ROWS, Notes, Signed, StudyResult


class WorkerRates(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A unit as one of several workers on one stream of inputs."""

    unit: Text
    alone_per_s: Ratio | None = None
    together_per_s: Ratio | None = None
    share: Share | None = None
    redone: Count = 0
    placed: Text | None = None
    error: Text | None = None


class CoexecResult(StudyResult, frozen=True, kw_only=True, omit_defaults=True):
    """Units that serve one stream together. Latencies are from handing a number out to its leaving in order.

    `together_by_round`, `best_by_round` and `ideal_by_round` are rates of the last rounds, oldest first: all together,
    the best unit alone, and the sum of what each does alone. `gain_why` tells why there is no gain, `energy_why` why no
    energy. A P90 of fewer than `p90_needs` results is a guess.
    """

    OF: ClassVar[str] = "coexec"

    units: Annotated[list[WorkerRates], ROWS] = []
    best: Text | None = None
    together_per_s: Ratio | None = None
    ideal_per_s: Ratio | None = None
    gain: Signed | None = None
    of_ideal: Ratio | None = None
    in_order: bool = True
    delivered: Count = 0
    p50_ms: Ratio | None = None
    p90_ms: Ratio | None = None
    max_reorder: Count = 0
    depth: Count = 0
    steals: Count = 0
    redone: Count = 0
    rounds: Count = 0
    block_ms: Ratio = 0.0
    together_by_round: Annotated[list[Ratio | None], msgspec.Meta(max_length=240)] = []
    best_by_round: Annotated[list[Ratio | None], msgspec.Meta(max_length=240)] = []
    energy_mj: Ratio | None = None
    energy_why: Text | None = None
    notes: Notes = []
    ideal_by_round: Annotated[list[Ratio | None], msgspec.Meta(max_length=240)] = []
    gain_why: Text | None = None
    p90_needs: Count | None = None
    mean_mw: Ratio | None = None
    power_source: Text | None = None

    def failures(self) -> dict[str, str]:
        """Units that did not begin, or did not go on."""
        return {unit.unit: _failure(unit) for unit in self.units if unit.error is not None}


def _failure(unit: WorkerRates) -> str:
    redone = f"; {unit.redone} of its numbers were done by others" if unit.redone else ""
    return f"{unit.error}{redone}"[:TEXT_LIMIT]


RESULT = CoexecResult
