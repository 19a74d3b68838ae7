"""What a co-execution found: rates alone and together, gain, order, energy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

import msgspec

from hettop.events.base import TEXT_LIMIT, Count, Ratio, Share, Text
from hettop.studies.result import ROWS_LIMIT, Signed, StudyResult


class WorkerFault(msgspec.Struct, frozen=True, kw_only=True):
    """Why a worker did not start, or did not go on."""

    kind: str
    message: str
    hint: str


class WorkerRates(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A unit as one of several workers on one stream of inputs: the first, or which `copy` of it.

    Calls are those that the rates stand on. ahead: numbers that it has at once. redone: numbers that others had to do
    again when it died. `error` is the message of `fault`, `death` the one of the notes that is about it.
    """

    unit: Text
    alone_per_s: Ratio | None = None
    together_per_s: Ratio | None = None
    share: Share | None = None
    redone: Count = 0
    placed: Text | None = None
    error: Text | None = None
    copy: int = 1
    alone_calls: int = 0
    together_calls: int = 0
    note: str = ""
    ahead: int = 0
    fault: WorkerFault | None = None
    death: Text | None = None


class CoexecResult(StudyResult, frozen=True, kw_only=True, omit_defaults=True):
    """Units that serve one stream together. Latencies are from handing a number out to its leaving in order.

    `together_by_round`, `best_by_round` and `ideal_by_round` are rates of the last rounds, oldest first: all together,
    the best unit alone, and the sum of what each does alone. `gain_why` reports why there is no gain, `energy_why` why
    no energy. A P90 of fewer than `p90_needs` results is a guess. `together_ns`: when all of the last blocks worked at
    the same time, from and until, on the machine's monotonic clock. `energy_mj_per_inference` is the name that `--json`
    had first.
    """

    OF: ClassVar[str] = "coexec"
    DETAILS: ClassVar[frozenset[str]] = frozenset(
        {"copy", "alone_calls", "together_calls", "note", "ahead", "fault", "gain_by_round", "latencies", "together_ns"}
        | {"energy_mj_per_inference", "interrupted"}
    )

    units: list[WorkerRates] = []
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
    notes: list[str] = []
    ideal_by_round: Annotated[list[Ratio | None], msgspec.Meta(max_length=240)] = []
    gain_why: Text | None = None
    p90_needs: Count | None = None
    mean_mw: Ratio | None = None
    power_source: Text | None = None
    gain_by_round: list[float | None] = []
    latencies: int = 0
    together_ns: list[tuple[int, int]] = []
    energy_mj_per_inference: float | None = None
    interrupted: bool = False

    def summary(self) -> Self:
        return msgspec.structs.replace(self, units=self.units[:ROWS_LIMIT])

    def document(self) -> dict[str, Any]:
        """There `error` of a unit is the whole fault."""
        plain = super().document()
        return {**plain, "units": [{**unit, "error": unit["fault"]} for unit in plain["units"]]}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Self:
        """There the error of a unit is the whole fault."""
        units = [{**unit, "error": unit["error"] and unit["error"]["message"]} for unit in document["units"]]
        return msgspec.convert({**document, "units": units}, cls)

    def failures(self) -> dict[str, str]:
        """Units that did not start, or did not go on."""
        return {unit.unit: _failure(unit) for unit in self.units if unit.error is not None}


def _failure(unit: WorkerRates) -> str:
    redone = f"; {unit.redone} of its numbers were done by others" if unit.redone else ""
    return f"{unit.error}{redone}"[:TEXT_LIMIT]


RESULT = CoexecResult
