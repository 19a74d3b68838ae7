"""Ways to run a model in parallel, compared, as a page for a terminal and as a JSON document.

Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from hettop.format import milliseconds, per_second, percent, significant
from hettop.report.grid import columns_shown, grid, wrapped
from hettop.studies.granularities.findings import NOT_PROVEN, SINGLE, what_runs
from hettop.studies.plan.cutting.result import Compared, Granularity
from hettop.text import clean
from hettop.version import __version__

HEADING = ("granularity", "P50 ms", "P90 ms", "rate", "against single", "by round", "runs")
LEFT = ("granularity", "runs")
DISPENSABLE = ("runs", "by round", "P90 ms")

FEWEST_ROUNDS = 3
"""Of fewer rounds, the least and the most say little of what the next one would be."""

Found = Sequence[tuple[str, Compared | None, str]]
"""The load, what was compared under it, and why nothing was."""


def granularities_text(model: str, threads: int, found: Found, width: int, *, interrupted: bool = False) -> str:
    """A table for each load, and what is best under it; ends with a line feed."""
    columns: set[str] = set()
    lines = wrapped(f"{model} · ONNX Runtime, CPU · {threads} threads", width)
    for load, compared, why in found:
        lines += ["", f"load {load}"]
        if compared is None:
            lines += wrapped(f"not measured: {clean(why)}", width)
            continue
        rows = [_row(row, compared, threads) for row in compared.rows]
        lines += grid(HEADING, rows, left=LEFT, width=width, drop=DISPENSABLE)
        columns.update(columns_shown(HEADING, rows, width=width, drop=DISPENSABLE))
        for note in (*_best(compared), *compared.notes):
            lines += wrapped(clean(note), width)
    lines.append("")
    for note in _notes(columns, interrupted=interrupted):
        lines += wrapped(note, width)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def granularities_document(
    model: dict[str, Any], threads: int, found: Found, *, interrupted: bool = False
) -> dict[str, Any]:
    """`coexec --granularities --json`; a load under which nothing was measured has `error`."""
    return {
        "hettop": __version__,
        "model": model,
        "threads": threads,
        "loads": [_load_document(*each) for each in found],
        "interrupted": interrupted,
    }


def speedup(row: Granularity, compared: Compared) -> float | None:
    """Its rate over that of the whole model on one thread."""
    single = next((each for each in compared.rows if each.name == SINGLE), None)
    return row.per_s / single.per_s if single is not None and single.per_s > 0 else None


def by_round(row: Granularity, compared: Compared) -> list[float]:
    """The same in each round."""
    single = next((each for each in compared.rows if each.name == SINGLE), None)
    rates = () if single is None else single.by_round
    return [own / one for own, one in zip(row.by_round, rates, strict=False) if one > 0]


def fastest(compared: Compared) -> Granularity | None:
    """With the lowest median latency; None where rounds do not tell it from the second.

    As many inferences are under way all the time, so that a round's latency goes with one by its rate (Little's law):
    the ratio of two latencies is known by round, too.
    """
    ordered = sorted(compared.rows, key=lambda row: row.p50_ms)
    return _proven(ordered, lambda row: [-row.p50_ms * row.per_s / share for share in by_round(row, compared) if share])


def busiest(compared: Compared) -> Granularity | None:
    """With the highest rate; None where rounds do not tell it from the second."""
    ordered = sorted(compared.rows, key=lambda row: -row.per_s)
    return _proven(ordered, lambda row: by_round(row, compared))


def _proven(ordered: Sequence[Granularity], scores: Callable[[Granularity], list[float]]) -> Granularity | None:
    """The first, if it is higher in its worst round than the second in its best one, and there are rounds enough."""
    if len(ordered) < 2:
        return None
    first, second = scores(ordered[0]), scores(ordered[1])
    enough = min(len(first), len(second)) >= FEWEST_ROUNDS
    return ordered[0] if enough and min(first) > max(second) else None


def _row(row: Granularity, compared: Compared, threads: int) -> tuple[str, ...]:
    spread = by_round(row, compared)
    return (
        row.name,
        milliseconds(row.p50_ms),
        milliseconds(row.p90_ms),
        per_second(row.per_s),
        f"{significant(speedup(row, compared))}x",
        f"{significant(min(spread))}–{significant(max(spread))}" if len(spread) > 1 and row.name != SINGLE else "",
        what_runs(row.name, threads, compared.stages),
    )


def _best(compared: Compared) -> Iterator[str]:
    fast, busy = fastest(compared), busiest(compared)
    yield f"lowest latency: {_named(fast)}; highest rate: {_named(busy)}"
    if fast is None or busy is None:
        yield f"not proven: fewer than {FEWEST_ROUNDS} rounds, or the best two overlap by round"
    single = next((each for each in compared.rows if each.name == SINGLE), None)
    if (
        single is not None
        and busy is not None
        and busy is not single
        and (speedup(busy, compared) or 0.0) > 1
        and busy.p50_ms > single.p50_ms
    ):
        longer = percent(busy.p50_ms / single.p50_ms - 1, signed=True)
        yield f"{busy.name} does more a second, and each answer takes {longer} longer than alone on one thread"


def _named(row: Granularity | None) -> str:
    return NOT_PROVEN if row is None else row.name


def _notes(columns: Collection[str], *, interrupted: bool) -> Iterator[str]:
    spread = "; by round: least and most" if "by round" in columns else ""
    yield f"latency is from an input's begin to its end; rates are of blocks in turns{spread}"
    yield "where layers form a chain, there is nothing to run between operators, and inter-operator only costs"
    if interrupted:
        yield "interrupted: this is what was measured until then"


def _load_document(load: str, compared: Compared | None, why: str) -> dict[str, Any]:
    if compared is None:
        return {"load": load, "granularities": [], "error": why}
    fast, busy = fastest(compared), busiest(compared)
    return {
        "load": load,
        "granularities": [
            {
                "name": row.name,
                "per_s": row.per_s,
                "p50_ms": row.p50_ms,
                "p90_ms": row.p90_ms,
                "calls": row.calls,
                "speedup": speedup(row, compared),
                "speedup_by_round": by_round(row, compared),
            }
            for row in compared.rows
        ],
        "stages": list(compared.stages),
        "block_ms": compared.block_ms,
        "lowest_latency": None if fast is None else fast.name,
        "highest_rate": None if busy is None else busy.name,
        "notes": list(compared.notes),
        "error": None,
    }
