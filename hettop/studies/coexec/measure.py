"""The result of a co-execution: the rates that were measured, and the energy of the blocks of all units."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterable, Iterator

import msgspec

from hettop.events import Baseline, Power, PowerStatus, is_capture
from hettop.format import count, percent, significant
from hettop.session.power_summary import CAPTURE_WORDS
from hettop.session.rails import PowerWindow, estimate, measured
from hettop.studies.coexec.blocks import copy_of, unit_of
from hettop.studies.coexec.rates import (
    FEWEST_CALLS,
    FEWEST_ROUNDS,
    LATENCY_NEEDS,
    NOTHING_GAINED,
    Energy,
    Result,
    Standing,
    UnitResult,
    standing,
)
from hettop.studies.coexec.result import CoexecResult, WorkerFault, WorkerRates
from hettop.studies.coexec.run_totals import MOST_BLOCKS
from hettop.text import clean
from hettop.units import NS_PER_S

MOST_ROUNDS = 120
"""Rounds of which the result holds the rates: every keyframe repeats them, and a screen has no more columns."""

STRETCH = 0.9
"""Below this part of the ideal the units are said to be in each other's way."""


def coexec_result(measured: Result, energy: Energy) -> CoexecResult:
    """What the units said of themselves is cleaned here."""
    result = CoexecResult(
        units=[_worker(unit) for unit in measured.units],
        best=measured.best.unit if measured.best else None,
        together_per_s=measured.together_per_s,
        ideal_per_s=measured.ideal_per_s,
        gain=measured.gain,
        gain_by_round=list(measured.gain_by_round)[-MOST_ROUNDS:],
        gain_why=why_no_gain(measured),
        of_ideal=measured.of_ideal,
        in_order=measured.in_order,
        delivered=measured.delivered,
        p50_ms=measured.p50_ms,
        p90_ms=measured.p90_ms,
        latencies=measured.latencies,
        p90_needs=LATENCY_NEEDS if measured.latencies < LATENCY_NEEDS else None,
        max_reorder=measured.max_reorder,
        depth=measured.depth,
        steals=measured.steals,
        redone=measured.redone,
        rounds=measured.round_count,
        together_by_round=[each.together_per_s for each in measured.rounds][-MOST_ROUNDS:],
        best_by_round=list(measured.best_by_round)[-MOST_ROUNDS:],
        ideal_by_round=list(measured.ideal_by_round)[-MOST_ROUNDS:],
        together_ns=list(measured.together_ns),
        block_ms=measured.block_ms,
        interrupted=measured.interrupted,
        notes=list(notes(measured)),
    )
    return with_energy(result, energy)


def with_energy(result: CoexecResult, energy: Energy) -> CoexecResult:
    """The same with this energy, or with the reason why there is none."""
    why = clean(energy.why) or None
    return msgspec.structs.replace(
        result,
        energy_mj=energy.mj,
        energy_mj_per_inference=energy.mj,
        energy_why=why,
        mean_mw=energy.mw,
        power_source=energy.source,
    )


def _worker(unit: UnitResult) -> WorkerRates:
    error = unit.error
    return WorkerRates(
        unit=unit.unit,
        copy=copy_of(unit.unit),
        alone_per_s=unit.alone_per_s,
        together_per_s=unit.together_per_s,
        share=unit.share,
        alone_calls=unit.alone_calls,
        together_calls=unit.together_calls,
        placed=unit.placed,
        note=unit.note,
        ahead=unit.ahead,
        redone=unit.redone,
        error=None if error is None else error.message,
        fault=None if error is None else WorkerFault(kind=error.kind, message=error.message, hint=error.hint),
        death=_death(unit),
    )


def why_no_gain(measured: Result) -> str | None:
    """Why rates together and alone are not compared; None where they are."""
    if measured.gain is not None:
        return None
    if measured.too_few:
        calls = significant(measured.calls_a_block)
        few = f"insufficient data: {calls} calls per block, {FEWEST_CALLS} are needed to compare rates"
        if measured.needs_ns is None:
            return f"{few}: measure longer"
        return f"{few}: measure for {math.ceil(measured.needs_ns / NS_PER_S)} s or longer"
    return "no block with all units running was long enough; measure longer"


def notes(measured: Result) -> Iterator[str]:
    """What is to be known of the figures."""
    yield from _copies(measured)
    yield from filter(None, map(_death, measured.units))
    known = [unit for unit in measured.units if unit.error is None]
    stands = standing_of(measured)
    yield from _reservations(measured, stands)
    crowded = measured.of_ideal is not None and measured.of_ideal < STRETCH and len(known) == len(measured.units)
    if crowded and stands.concludes:
        who = "units" if len({unit_of(unit.unit) for unit in measured.units}) > 1 else "calls in flight"
        yield f"the {who} slow each other down: together they reach less than the sum of each alone"
    if measured.latencies and measured.latencies < LATENCY_NEEDS:
        yield f"insufficient data for P90: {measured.latencies} latencies, {LATENCY_NEEDS} are needed; measure longer"
    if measured.interrupted:
        yield "interrupted: partial results"


def _death(unit: UnitResult) -> str | None:
    """Why the unit's worker ended or did not start; None if it works."""
    if unit.error is None:
        return None
    why = clean(unit.error.message)
    if unit.together_calls or unit.alone_calls or unit.redone:
        others = f"; {_numbers(unit.redone)} were completed by the others" if unit.redone else ""
        return f"{unit.unit} died: {why}{others}; the remaining units continued"
    hint = f" ({clean(unit.error.hint)})" if unit.error.hint else ""
    return f"{unit.unit} did not start: {why}{hint}"


def standing_of(measured: Result) -> Standing:
    """Whether its gain can be relied on."""
    together = [each.together_per_s for each in measured.rounds]
    return standing(together, measured.best_by_round, measured.ideal_by_round, measured.of_ideal)


def _reservations(measured: Result, stands: Standing) -> Iterator[str]:
    """Why nothing follows from a gain."""
    if measured.gain is None:
        return
    if stands.untrue:
        yield (
            f"together reaches {percent(measured.of_ideal)} of the sum of each alone, which is "
            "impossible: the machine's speed changed between blocks; measure again"
        )
    if stands.least is None:
        needed = math.ceil(measured.rounds_ns(FEWEST_ROUNDS) / NS_PER_S)
        yield (
            f"the gain has no interval (needs {FEWEST_ROUNDS} rounds): inconclusive; measure for {needed} s or longer"
        )
    elif stands.proven is False and measured.gain >= NOTHING_GAINED:
        yield ("to prove a gain, measure longer, on a quieter machine")


def _copies(measured: Result) -> Iterator[str]:
    workers = Counter(unit_of(unit.unit) for unit in measured.units)
    several = ", ".join(f"{count(n)} of {clean(unit)}" for unit, n in workers.items() if n > 1)
    if several:
        yield f"in flight at once: {several}, one process each; alone: the first process by itself"


def _numbers(number: int) -> str:
    return f"{count(number)} number{'' if number == 1 else 's'}"


MOST_WAITING = 4096
"""Power samples that wait for word of the block they lie in: half an hour of the usual ones."""

PowerEvent = Power | PowerStatus | Baseline


class TogetherPower:
    """The mean power of all samples in blocks of all: sum of rates by sum of powers. Times are ns of one clock."""

    def __init__(self) -> None:
        self._blocks: deque[tuple[int, int]] = deque(maxlen=MOST_BLOCKS)
        self._waiting: deque[tuple[PowerWindow, str]] = deque(maxlen=MOST_WAITING)
        self._covered_ns = 0
        self._spent = 0.0  # mW x ns
        self._source: str | None = None
        self._why = ""
        self._captured = False

    def block(self, blocks: Iterable[tuple[int, int]]) -> None:
        """When all worked, from and until, in order; those that are known already change nothing."""
        for since, until in blocks:
            if not self._blocks or since >= self._blocks[-1][1]:
                self._blocks.append((since, until))
                self._settle()

    def take(self, event: PowerEvent, origin_ns: int = 0) -> None:
        """What a source reported; its times count from `origin_ns`."""
        self._captured = self._captured or is_capture(event.source)
        if isinstance(event, PowerStatus):
            self._why = event.reason or self._why
        if not isinstance(event, Power) or is_capture(event.source):
            return
        window = measured(event)
        if window is not None:
            self._waiting.append((window._replace(end_ns=window.end_ns + origin_ns), event.source))
            self._settle()

    def energy(self, per_s: float | None) -> Energy:
        """Of an inference at this rate of all together, or why it is unknown."""
        if self._covered_ns and per_s:
            mean = self._spent / self._covered_ns
            return Energy(mean / per_s, "", mean, self._source)
        if self._captured:
            return Energy(None, CAPTURE_WORDS)
        return Energy(None, self._why or "no power sample lies in a block with all units running; measure longer")

    def _settle(self) -> None:
        """Count those that lie in a block, and drop those of which it is known that they do not."""
        if not self._blocks:
            return
        known_until, later = self._blocks[-1][1], deque[tuple[PowerWindow, str]](maxlen=MOST_WAITING)
        for window, source in self._waiting:
            if any(since <= window.start_ns and window.end_ns <= until for since, until in self._blocks):
                self._count(window, source)
            elif window.start_ns >= known_until:
                later.append((window, source))
        self._waiting = later

    def _count(self, window: PowerWindow, source: str) -> None:
        mw = estimate(window.known)
        if mw is not None:
            self._source = source
            self._covered_ns += window.elapsed_ns
            self._spent += mw * window.elapsed_ns
