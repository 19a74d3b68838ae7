"""A co-execution as a page for a terminal and as a JSON document.

Pure; what the workers said of themselves is cleaned here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

from hettop.format import UNKNOWN, count, milliseconds, per_second, percent, significant
from hettop.report.grid import grid, wrapped
from hettop.session.gain_standing import FEWEST_ROUNDS, NOTHING_GAINED, Standing, standing
from hettop.studies.coexec.rates import FEWEST_CALLS, LATENCY_NEEDS, Energy, Result, UnitResult
from hettop.studies.coexec.worker_names import copy_of, unit_of
from hettop.text import clean
from hettop.units import NS_PER_S
from hettop.version import __version__

HEADING = ("unit", "alone", "together", "of alone", "share", "runs on")
LEFT = ("unit", "runs on")
DISPENSABLE = ("runs on", "of alone")
COURSE = 120
"""Rounds of which the document holds the rates: what a screen has columns for."""

STRETCH = 0.9
"""Below this part of the ideal the units are said to be in each other's way."""


def coexec_text(model: str, backend: str, result: Result, energy: Energy, width: int) -> str:
    """Rates alone and together, the gain, the order, and what is to be known of them; ends with a line feed."""
    lines = wrapped(" · ".join(filter(None, [model, backend, "SIMULATED" if result.simulated else ""])), width)
    lines += ["", *grid(HEADING, [_row(unit) for unit in result.units], left=LEFT, width=width, drop=DISPENSABLE), ""]
    for sentence in (*_verdict(result), *_order(result), *_energy(energy), *notes(result)):
        lines += wrapped(sentence, width)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def coexec_document(model: dict[str, Any], backend: str, result: Result, energy: Energy) -> dict[str, Any]:
    """`coexec --json`; unknown is null. Rates are inferences a second."""
    return {
        "hettop": __version__,
        "simulated": result.simulated,
        "model": model,
        "backend": backend,
        "units": [_unit_document(unit) for unit in result.units],
        "best": result.best.unit if result.best else None,
        "together_per_s": result.together_per_s,
        "ideal_per_s": result.ideal_per_s,
        "gain": result.gain,
        "gain_by_round": list(result.gain_by_round)[-COURSE:],
        "gain_why": why_no_gain(result),
        "of_ideal": result.of_ideal,
        "in_order": result.in_order,
        "delivered": result.delivered,
        "p50_ms": result.p50_ms,
        "p90_ms": result.p90_ms,
        "latencies": result.latencies,
        "p90_needs": LATENCY_NEEDS if result.latencies < LATENCY_NEEDS else None,
        "max_reorder": result.max_reorder,
        "depth": result.depth,
        "steals": result.steals,
        "redone": result.redone,
        "rounds": result.round_count,
        "together_by_round": [each.together_per_s for each in result.rounds][-COURSE:],
        "best_by_round": list(result.best_by_round)[-COURSE:],
        "ideal_by_round": list(result.ideal_by_round)[-COURSE:],
        "together_ns": [list(each) for each in result.together_ns],
        "block_ms": result.block_ms,
        "energy_mj_per_inference": energy.mj,
        "energy_why": energy.why or None,
        "mean_mw": energy.mw,
        "power_source": energy.source,
        "interrupted": result.interrupted,
        "notes": list(notes(result)),
    }


def why_no_gain(result: Result) -> str | None:
    """Why rates together and alone are not compared; None where they are."""
    if result.gain is not None:
        return None
    if result.too_few:
        calls = significant(result.calls_a_block)
        told = f"rates stand on {calls} calls a block, and {FEWEST_CALLS} are needed to compare them"
        if result.needs_ns is None:
            return f"{told}: measure longer"
        return f"{told}: measure for {math.ceil(result.needs_ns / NS_PER_S)} s or longer"
    return "no block in which all worked at the same time was long enough; measure longer"


def notes(result: Result) -> Iterator[str]:
    """What is to be known of the figures."""
    yield from _copies(result)
    for unit in result.units:
        if unit.error is None:
            continue
        name, why = unit.unit, clean(unit.error.message)
        if unit.together_calls or unit.alone_calls or unit.redone:
            others = f"; {_numbers(unit.redone)} it had were done by the others" if unit.redone else ""
            yield f"{name} died: {why}{others}; from then on the rest worked without it"
        else:
            hint = f" ({clean(unit.error.hint)})" if unit.error.hint else ""
            yield f"{name} did not begin: {why}{hint}"
    known = [unit for unit in result.units if unit.error is None]
    stands = standing_of(result)
    yield from _reservations(result, stands)
    crowded = result.of_ideal is not None and result.of_ideal < STRETCH and len(known) == len(result.units)
    if crowded and stands.concludes:
        who = "units" if _in_flight(result) is None else "calls in flight"
        yield f"the {who} are in each other's way: together they do less than the sum of what each does alone"
    if result.latencies and result.latencies < LATENCY_NEEDS:
        yield f"a P90 needs {LATENCY_NEEDS} latencies, these are {result.latencies}: measure longer"
    if result.interrupted:
        yield "interrupted: this is what was measured until then"


def standing_of(result: Result) -> Standing:
    """Whether its gain can be relied on."""
    together = [each.together_per_s for each in result.rounds]
    return standing(together, result.best_by_round, result.ideal_by_round, result.of_ideal)


def _reservations(result: Result, stands: Standing) -> Iterator[str]:
    """Why nothing follows from a gain."""
    if result.gain is None:
        return
    if stands.untrue:
        yield (
            f"together reaches {percent(result.of_ideal)} of the sum of what each does alone, and more than that "
            "cannot be: the machine's speed changed between blocks, gain and sum are not to be trusted; measure again"
        )
    if stands.least is None:
        needed = math.ceil(result.rounds_ns(FEWEST_ROUNDS) / NS_PER_S)
        yield (
            f"the gain has no interval: that takes {FEWEST_ROUNDS} rounds; measure for {needed} s or longer before "
            "anything is concluded from it"
        )
    elif stands.proven is False and result.gain >= NOTHING_GAINED:
        yield (
            f"the gain is not proven: by round it is from {percent(stands.least, signed=True)} to "
            f"{percent(stands.most, signed=True)}; measure longer, on a quieter machine"
        )


def _copies(result: Result) -> Iterator[str]:
    workers = Counter(unit_of(unit.unit) for unit in result.units)
    told = ", ".join(f"{count(n)} of {clean(unit)}" for unit, n in workers.items() if n > 1)
    if told:
        yield f"in flight at once: {told}, in a process each; alone is what the first of them does"


def _in_flight(result: Result) -> int | None:
    """How many workers there are, if all are of one unit."""
    return len(result.units) if len({unit_of(unit.unit) for unit in result.units}) == 1 else None


def _row(unit: UnitResult) -> tuple[str, ...]:
    known = unit.together_per_s is not None and unit.alone_per_s
    return (
        clean(unit.unit),
        per_second(unit.alone_per_s),
        per_second(unit.together_per_s),
        percent((unit.together_per_s or 0.0) / unit.alone_per_s) if known and unit.alone_per_s else UNKNOWN,
        percent(unit.share),
        clean(unit.placed or "", 60),
    )


def _verdict(result: Result) -> Iterator[str]:
    best = result.best
    if result.together_per_s is None or best is None:
        yield "together n/a: no block in which all worked at the same time was long enough; measure longer"
        return
    if (why := why_no_gain(result)) is not None:
        yield f"together {per_second(result.together_per_s)}; gain n/a: {why}"
        return
    stands = standing_of(result)
    by_round = f"{percent(stands.least, signed=True)} to {percent(stands.most, signed=True)} by round"
    yield (
        f"together {per_second(result.together_per_s)}: {percent(result.gain, signed=True)} over {clean(best.unit)} "
        f"alone ({'no interval' if stands.least is None else by_round})"
    )
    ideal = f"the sum of what each does alone is {per_second(result.ideal_per_s)}; together reaches"
    if result.ideal_per_s is not None:
        yield f"{ideal} {percent(result.of_ideal)} of it"


def _order(result: Result) -> Iterator[str]:
    order = "all in order" if result.in_order else "NOT in order"
    yield (
        f"{count(result.delivered)} results left {order}; from handing out to leaving P50 "
        f"{milliseconds(result.p50_ms)} ms, P90 {milliseconds(result.p90_ms)} ms"
    )
    stolen = f"; {_numbers(result.steals)} stolen" if result.steals else ""
    yield (
        f"at most {count(result.max_reorder)} waited for an earlier one, in a buffer of {count(result.depth)}{stolen}"
    )
    rounds = f"{count(result.round_count)} round{'' if result.round_count == 1 else 's'}"
    yield (
        f"measured in {rounds} of blocks of {significant(result.block_ms)} ms: "
        "each unit alone, and all together, in turns"
    )


def _energy(energy: Energy) -> Iterator[str]:
    if energy.mj is None:
        yield f"energy per inference n/a: {clean(energy.why)}"
    else:
        yield (
            f"energy per inference {significant(energy.mj)} mJ: {significant(energy.mw)} mW while all work, as "
            f"{clean(energy.source or '')} tells"
        )


def _numbers(number: int) -> str:
    return f"{count(number)} number{'' if number == 1 else 's'}"


def _unit_document(unit: UnitResult) -> dict[str, Any]:
    error = unit.error
    return {
        "unit": unit.unit,
        "copy": copy_of(unit.unit),
        "alone_per_s": unit.alone_per_s,
        "together_per_s": unit.together_per_s,
        "share": unit.share,
        "alone_calls": unit.alone_calls,
        "together_calls": unit.together_calls,
        "placed": unit.placed,
        "note": unit.note,
        "ahead": unit.ahead,
        "redone": unit.redone,
        "error": None if error is None else {"kind": error.kind, "message": error.message, "hint": error.hint},
    }
