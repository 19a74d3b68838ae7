"""Ways to run a model in parallel, compared, as a page for a terminal and as a JSON document.

Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hettop import __version__
from hettop.cutting.result import Compared, Granularity
from hettop.format import milliseconds, per_second, percent, significant
from hettop.report.grid import grid, wrapped
from hettop.session.granularity_findings import SINGLE, what_runs
from hettop.text import clean

HEADING = ("granularity", "P50 ms", "P90 ms", "rate", "against single", "by round", "runs")
LEFT = ("granularity", "runs")
DISPENSABLE = ("runs", "by round", "P90 ms")

Found = Sequence[tuple[str, Compared | None, str]]
"""The load, what was compared under it, and why nothing was."""


def granularities_text(model: str, threads: int, found: Found, width: int, *, interrupted: bool = False) -> str:
    """A table for each load, and what is best under it; ends with a line feed."""
    lines = wrapped(f"{model} · ONNX Runtime, CPU · {threads} threads", width)
    for load, compared, why in found:
        lines += ["", f"load {load}"]
        if compared is None:
            lines += wrapped(f"not measured: {clean(why)}", width)
            continue
        rows = [_row(row, compared, threads) for row in compared.rows]
        lines += grid(HEADING, rows, left=LEFT, width=width, drop=DISPENSABLE)
        for note in (*_best(compared), *compared.notes):
            lines += wrapped(clean(note), width)
    lines.append("")
    for note in _notes(interrupted):
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


def fastest(compared: Compared) -> Granularity:
    """With the lowest median latency."""
    return min(compared.rows, key=lambda row: row.p50_ms)


def busiest(compared: Compared) -> Granularity:
    """With the highest rate."""
    return max(compared.rows, key=lambda row: row.per_s)


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
    yield f"lowest latency: {fast.name}; highest rate: {busy.name}"
    single = next((each for each in compared.rows if each.name == SINGLE), None)
    if (
        single is not None
        and busy is not single
        and (speedup(busy, compared) or 0.0) > 1
        and busy.p50_ms > single.p50_ms
    ):
        longer = percent(busy.p50_ms / single.p50_ms - 1, signed=True)
        yield f"{busy.name} does more a second, and each answer takes {longer} longer than alone on one thread"


def _notes(interrupted: bool) -> Iterator[str]:
    yield "latency is from an input's begin to its end; rates are of blocks in turns; by round: least and most"
    yield "where layers form a chain, there is nothing to run between operators, and inter-operator only costs"
    if interrupted:
        yield "interrupted: this is what was measured until then"


def _load_document(load: str, compared: Compared | None, why: str) -> dict[str, Any]:
    if compared is None:
        return {"load": load, "granularities": [], "error": why}
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
        "lowest_latency": fastest(compared).name,
        "highest_rate": busiest(compared).name,
        "notes": list(compared.notes),
        "error": None,
    }
