"""The result of a comparison of granularities: speed-ups over one thread, and which way is proven to be best.

Pure; made of what the measuring process tells of each load.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from hettop.events import NO_LOAD
from hettop.session.gain_standing import FEWEST_ROUNDS
from hettop.studies.granularities.findings import SINGLE
from hettop.studies.granularities.result import ComparedWays, GranularitiesResult, GranularityRow
from hettop.studies.granularities.setup import UnderLoad
from hettop.studies.plan.cutting.result import Compared, Granularity

Ranking = tuple[Sequence[Granularity], Callable[[Granularity], list[float]]]
"""Ways, the best first, and what each is worth in every round: more is better."""


def granularities_result(threads: int, found: Sequence[UnderLoad], *, interrupted: bool = False) -> GranularitiesResult:
    """Of all loads, with the reasons for which no way under one is said to be best."""
    loads = [_compared_ways(each) for each in found]
    notes = [note for load in loads for note in load.notes]
    why = [each for load in found if load.compared for each in _unproven(load.load, load.compared)]
    return GranularitiesResult(
        threads=threads,
        rows=[row for load in loads for row in _rows(load)],
        notes=list(dict.fromkeys([*why, *notes])),
        stages=next((load.stages for load in loads if load.stages), []),
        interrupted=interrupted,
        loads=loads,
    )


def fastest(compared: Compared) -> Granularity | None:
    """With the lowest median latency; None where rounds do not tell it from the second."""
    return _proven(_by_latency(compared))


def busiest(compared: Compared) -> Granularity | None:
    """With the highest rate; None where rounds do not tell it from the second."""
    return _proven(_by_rate(compared))


def _by_latency(compared: Compared) -> Ranking:
    """The lowest median latency first; what that is worth is known by round.

    As many inferences are under way all the time, so that a round's latency goes with one by its rate (Little's law).
    """

    def worth(row: Granularity) -> list[float]:
        return [-row.p50_ms * row.per_s / share for share in _by_round(row, compared) if share]

    return sorted(compared.rows, key=lambda row: row.p50_ms), worth


def _by_rate(compared: Compared) -> Ranking:
    return sorted(compared.rows, key=lambda row: -row.per_s), lambda row: _by_round(row, compared)


def _proven(ranking: Ranking) -> Granularity | None:
    """The first, if it is better in its worst round than the second in its best one, and there are rounds enough."""
    ordered, worth = ranking
    if len(ordered) < 2:
        return None
    first, second = worth(ordered[0]), worth(ordered[1])
    enough = min(len(first), len(second)) >= FEWEST_ROUNDS
    return ordered[0] if enough and min(first) > max(second) else None


def _unproven(load: str, compared: Compared) -> Iterator[str]:
    """Why no way is said to be best under that load."""
    if min((len(row.by_round) for row in compared.rows), default=0) < FEWEST_ROUNDS:
        yield f"which way is best takes {FEWEST_ROUNDS} rounds of blocks to prove, and here are fewer: measure longer"
        return
    where = "without load" if load == NO_LOAD else f"load {load}"
    for what, ranking in (("lowest latency", _by_latency(compared)), ("highest rate", _by_rate(compared))):
        if len(compared.rows) > 1 and _proven(ranking) is None:
            first, second = ranking[0][:2]
            yield f"{where}: {first.name} and {second.name} overlap by round, so the {what} is not proven"


def _compared_ways(found: UnderLoad) -> ComparedWays:
    compared = found.compared
    if compared is None:
        return ComparedWays(load=found.load, error=found.why)
    fast, busy = fastest(compared), busiest(compared)
    return ComparedWays(
        load=found.load,
        granularities=[
            _row(found.load, row, compared, lowest_latency=row is fast, highest_rate=row is busy)
            for row in compared.rows
        ],
        stages=list(compared.stages),
        block_ms=compared.block_ms,
        lowest_latency=None if fast is None else fast.name,
        highest_rate=None if busy is None else busy.name,
        notes=list(compared.notes),
    )


def _row(
    load: str, row: Granularity, compared: Compared, *, lowest_latency: bool, highest_rate: bool
) -> GranularityRow:
    single, spread = _single(compared), _by_round(row, compared)
    return GranularityRow(
        load=load,
        name=row.name,
        per_s=row.per_s,
        p50_ms=row.p50_ms,
        p90_ms=row.p90_ms,
        speedup=row.per_s / single.per_s if single is not None and single.per_s > 0 else None,
        calls=row.calls,
        lowest_latency=lowest_latency,
        highest_rate=highest_rate,
        speedup_range=(min(spread), max(spread)) if len(spread) > 1 else None,
        speedup_by_round=spread,
    )


def _by_round(row: Granularity, compared: Compared) -> list[float]:
    """Its rate over that of the whole model on one thread, in each round."""
    single = _single(compared)
    rates = () if single is None else single.by_round
    return [own / one for own, one in zip(row.by_round, rates, strict=False) if one > 0]


def _single(compared: Compared) -> Granularity | None:
    return next((each for each in compared.rows if each.name == SINGLE), None)


def _rows(load: ComparedWays) -> list[GranularityRow]:
    """A load under which nothing was measured is a row without a name."""
    if load.error is not None:
        return [GranularityRow(load=load.load, name="", error=load.error)]
    return load.granularities
