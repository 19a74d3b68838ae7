"""Compares granularities: threads and competing loads in turns, speed-ups, and which way is proven to be best.

Pure; made of the measuring process's messages for each load.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from hettop.errors import HettopError
from hettop.events import NO_LOAD
from hettop.measurement.options import ModelOptions
from hettop.measurement.setup import DEFAULT_BACKEND, MOST_THREADS, Setup, prepare
from hettop.processes.child_process import environment_for_child
from hettop.processes.cpus import usable_threads
from hettop.processes.reaper import Reaper
from hettop.sources.load.parts import LoadPart, condition_of, parse_load
from hettop.sources.load.source import ProcessLoad, await_load, failure_of, nobody_to_tell, unavailable
from hettop.studies.coexec.rates import FEWEST_ROUNDS
from hettop.studies.granularities.result import SINGLE, ComparedWays, GranularitiesResult, GranularityRow
from hettop.studies.plan.cutting.child import compare_in_child
from hettop.studies.plan.cutting.messages import MeasuringProgress, Subject
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
    """With the lowest median latency; None where rounds do not separate it from the second."""
    return _proven(_by_latency(compared))


def busiest(compared: Compared) -> Granularity | None:
    """With the highest rate; None where rounds do not separate it from the second."""
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
        yield f"insufficient data: a proof of the best way needs {FEWEST_ROUNDS} rounds; measure longer"
        return
    where = "without load" if load == NO_LOAD else f"load {load}"
    for what, ranking in (("lowest latency", _by_latency(compared)), ("highest rate", _by_rate(compared))):
        if len(compared.rows) > 1 and _proven(ranking) is None:
            first, second = ranking[0][:2]
            yield f"{where}: {first.name} and {second.name} overlap between rounds: {what} not proven"


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


FEWEST_THREADS = 2
ONE = "CPU_ONLY@1"

Say = Callable[[str, float | None], None]
"""What is going on, and the share of all that is done, 0..1, None where that is not known."""


@dataclass(frozen=True, slots=True)
class UnderLoad:
    """What was compared while `load` competed, or why it was not."""

    load: str
    compared: Compared | None
    why: str = ""


def prepare_model(options: ModelOptions, threads: int) -> Setup:
    """Raises HettopError: as `prepare` does, and `usage`."""
    if options.backend not in (None, DEFAULT_BACKEND):
        raise HettopError("usage", f"granularities are compared on {DEFAULT_BACKEND}", "leave out --backend")
    if not FEWEST_THREADS <= threads <= MOST_THREADS:
        raise HettopError(
            "usage",
            f"invalid --threads {threads}: valid values are {FEWEST_THREADS} to {MOST_THREADS}",
            f"use --threads {FEWEST_THREADS}",
        )
    return prepare(replace(options, backend=DEFAULT_BACKEND), (ONE,), usable_threads())


def parse_loads(text: str) -> tuple[tuple[LoadPart, ...], ...]:
    """A comma list of loads, each once. Raises HettopError: `usage`, `load-unavailable`."""
    loads = tuple(dict.fromkeys(parse_load(part.strip()) for part in text.split(",")))
    for parts in loads:
        if (why := unavailable(parts)) is not None:
            raise HettopError("load-unavailable", why, "cpu and memory loads work everywhere")
    return loads


def compare_under(
    setup: Setup,
    model: str,
    loads: Sequence[tuple[LoadPart, ...]],
    *,
    threads: int,
    duration_ns: int,
    warmup: int,
    say: Say,
    known: Callable[[list[UnderLoad]], None] = lambda _found: None,
) -> tuple[list[UnderLoad], bool]:
    """A comparison for each load, and whether it was interrupted; `known` takes what is measured by now.

    Raises HettopError, and KeyboardInterrupt where nothing was measured before it.
    """
    subject = Subject(
        model=model,
        devices=(ONE,),
        function=setup.function,
        seed=setup.inputs.seed,
        shapes=dict(setup.inputs.shapes),
        values=dict(setup.inputs.values),
        warmup=warmup,
    )
    found: list[UnderLoad] = []
    under = _Comparing(len(loads), say, lambda now: known([*found, now]))
    reaper = Reaper()
    competing = ProcessLoad(reaper, nobody_to_tell, environment_for_child(os.environ))
    try:
        for parts in loads:
            name = condition_of(parts)
            under.begin(name)
            competing.set(parts)
            why = await_load(competing)
            compared = None if why else compare_in_child(subject, threads, duration_ns, under.on_progress)
            why = why or failure_of(competing)
            found.append(UnderLoad(name, None if why else compared, why))
            known(found)
    except KeyboardInterrupt:
        found += filter(None, [under.partial])
        if not found:
            raise
        return found, True
    finally:
        competing.close()
        reaper.close()
    return found, False


class _Comparing:
    """Hears how far the comparison under one of several loads is, and what is known of it by now."""

    def __init__(self, loads: int, say: Say, known: Callable[[UnderLoad], None]) -> None:
        self._loads, self._say, self._known = loads, say, known
        self._number, self._load = -1, ""
        self.partial: UnderLoad | None = None

    def begin(self, load: str) -> None:
        self._number, self._load = self._number + 1, load
        self.partial = None
        self._say(f"load {load}: waiting for it" if load != NO_LOAD else "starting", self._number / self._loads)

    def on_progress(self, progress: MeasuringProgress) -> None:
        where = f" · load {self._load}" if self._loads > 1 or self._load != NO_LOAD else ""
        self._say(f"{progress.doing}{where}", (self._number + progress.share) / self._loads)
        if progress.compared is not None and progress.compared.rows:
            self.partial = UnderLoad(self._load, progress.compared)
            self._known(self.partial)
