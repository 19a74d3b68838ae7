"""Rates of a co-execution, alone and together: gain, shares, and whether the gain can be relied on.

Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hettop.studies.coexec.blocks import BLOCK_SAMPLES, REST_NS, kinds_of, unit_of
from hettop.units import NS_PER_MS, NS_PER_S

LATENCY_NEEDS = 64
"""Samples that a P90 needs for its 95% interval to exist on both sides (docs/method/statistics.md)."""


NOTHING_YET = "nothing was measured yet"
"""What is said when it is ended before there is a rate."""

FEWEST_CALLS = 10
"""Calls a block that a rate must stand on before it is compared: of fewer, one call is more than a tenth."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a unit did not start, or did not go on."""

    kind: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Round:
    """Rates of one round, inferences per second, alone by unit; None where a block came to nothing."""

    alone_per_s: dict[str, float | None]
    together_per_s: float | None


@dataclass(frozen=True, slots=True)
class UnitResult:
    """A worker's part. Rates are inferences per second; calls are those that the rates stand on.

    unit: the worker's name. alone_per_s: of the unit, whose first worker was measured alone for all of them.
    alone_blocks: in how many blocks it was alone; 0 if nobody counted them: one a round.
    share: of the work that was done together. ahead: numbers that it has at once.
    redone: numbers that others had to do again when it died.
    """

    unit: str
    alone_per_s: float | None
    together_per_s: float | None
    share: float | None
    alone_calls: int = 0
    together_calls: int = 0
    placed: str | None = None
    note: str = ""
    ahead: int = 0
    redone: int = 0
    error: Fault | None = None
    alone_blocks: int = 0


@dataclass(frozen=True, slots=True)
class Result:
    """All of a co-execution, or what is known of it by now.

    rounds: the last whole rounds, of `rounds_done` in all.
    in_order: whether what left the buffer was one number after another, none missing, none twice.
    p50_ms, p90_ms: from handing a number out to its leaving in order, over `latencies` of them.
    max_reorder: the most results that waited at once for an earlier one; depth: how many numbers the buffer spans.
    together_ns: when all worked at the same time, from and until (ns of the monotonic clock), of the last such blocks.
    Totals are of blocks in which all units of the first one worked.
    delivered: numbers that left in order, warm-up not among them.
    shortest_ns: what a block takes at least where there is time for several rounds.
    """

    units: tuple[UnitResult, ...]
    together_per_s: float | None
    rounds: tuple[Round, ...]
    delivered: int
    in_order: bool
    p50_ms: float | None
    p90_ms: float | None
    latencies: int
    max_reorder: int
    depth: int
    steals: int
    redone: int
    block_ms: float
    together_ns: tuple[tuple[int, int], ...] = ()
    simulated: bool = False
    interrupted: bool = False
    rounds_done: int = 0
    together_blocks: int = 0
    shortest_ns: int = 0

    @property
    def best(self) -> UnitResult | None:
        """The unit that does most alone."""
        known = [unit for unit in self.units if unit.alone_per_s is not None]
        return max(known, key=lambda unit: unit.alone_per_s or 0.0, default=None)

    @property
    def round_count(self) -> int:
        return max(self.rounds_done, len(self.rounds))

    @property
    def calls_a_block(self) -> float | None:
        """The fewest calls that a living unit did alone, or all did together, in a block; None before there are any."""
        rounds = max(1, self.round_count)
        living = [unit for unit in self.units if unit.alone_per_s is not None and unit.error is None]
        if self.together_per_s is None or not living:
            return None
        together = sum(unit.together_calls for unit in self.units) / (self.together_blocks or rounds)
        return min(together, *(unit.alone_calls / (unit.alone_blocks or rounds) for unit in living))

    @property
    def too_few(self) -> bool:
        """Whether rates stand on too few calls to be compared."""
        calls = self.calls_a_block
        return calls is not None and calls < FEWEST_CALLS

    @property
    def needs_ns(self) -> int | None:
        """How long it must be measured for rates that can be compared; None where they can be, or it is unknown."""
        slowest = min((unit.alone_per_s for unit in self.units if unit.alone_per_s), default=None)
        if not self.too_few or slowest is None:
            return None
        return self._round_ns((BLOCK_SAMPLES + 1) * NS_PER_S / slowest)

    def rounds_ns(self, rounds: int) -> int:
        """How long so many rounds take."""
        return rounds * self._round_ns(self.shortest_ns or self.block_ms * NS_PER_MS)

    def _round_ns(self, block_ns: float) -> int:
        return round(kinds_of([unit.unit for unit in self.units]) * (block_ns + REST_NS))

    @property
    def gain(self) -> float | None:
        """Of doing it together over the best unit alone: .5 is half as much again; None of too few calls."""
        if self.too_few:
            return None
        return gain(self.together_per_s, self.best.alone_per_s if self.best else None)

    @property
    def ideal_per_s(self) -> float | None:
        """The sum of what the units do alone; None if one of them is unknown."""
        rates = [unit.alone_per_s for unit in self.units]
        known = [rate for rate in rates if rate is not None]
        return sum(known) if known and len(known) == len(rates) else None

    @property
    def of_ideal(self) -> float | None:
        if self.together_per_s is None or not self.ideal_per_s or self.too_few:
            return None
        return self.together_per_s / self.ideal_per_s

    @property
    def gain_by_round(self) -> tuple[float | None, ...]:
        """Over the unit that is best in all rounds together."""
        if self.too_few:
            return ()
        return tuple(map(gain, (each.together_per_s for each in self.rounds), self.best_by_round))

    @property
    def best_by_round(self) -> tuple[float | None, ...]:
        """Of the unit that is best in all rounds together, alone."""
        best = self.best
        return () if best is None else tuple(each.alone_per_s.get(unit_of(best.unit)) for each in self.rounds)

    @property
    def ideal_by_round(self) -> tuple[float | None, ...]:
        """The sum of what each worker's unit did alone; None where one of them did nothing."""
        return tuple(_sum(each.alone_per_s.get(unit_of(unit.unit)) for unit in self.units) for each in self.rounds)


@dataclass(frozen=True, slots=True)
class Energy:
    """Energy of an inference while all work, in mJ, or why it is unknown. mw: the mean power behind it."""

    mj: float | None
    why: str = ""
    mw: float | None = None
    source: str | None = None


def gain(together: float | None, alone: float | None) -> float | None:
    return together / alone - 1 if together is not None and alone else None


def _sum(rates: Iterable[float | None]) -> float | None:
    known = list(rates)
    return None if None in known else sum(rate for rate in known if rate is not None)


FEWEST_ROUNDS = 3
"""Of fewer the least and the most say nothing of what the next would be."""

ROUNDS_FOR_PROOF = 6
"""Three rounds of one sign come by chance in a quarter of all runs without a gain, six in 3%."""

MOST_OF_IDEAL = 1.05
"""Together cannot exceed the sum of each alone; a twentieth is what blocks differ by anyhow."""

NOTHING_GAINED = 0.02
"""Below this part the best unit alone is as good."""

TAIL = 0.025


@dataclass(frozen=True, slots=True)
class Standing:
    """rounds: with a gain of their own. least, most: of these gains, None where there are too few rounds.

    untrue: more than can be. proven: whether the gain's sign is that of the rounds; None where it is unknown.
    """

    rounds: int
    least: float | None
    most: float | None
    untrue: bool
    proven: bool | None

    @property
    def concludes(self) -> bool:
        """Whether anything follows from the figures."""
        return self.least is not None and not self.untrue


def standing(
    together: Sequence[float | None],
    best: Sequence[float | None],
    ideal: Sequence[float | None],
    of_ideal: float | None,
) -> Standing:
    """Of rates by round: all together, the best unit alone, and the sum of each alone.

    Once a unit is dead there is no such sum, and all together are fewer: where there is one, only such rounds count.
    """
    rows = [(t / b - 1, i) for t, b, i in zip(together, best, ideal, strict=False) if t is not None and b]
    whole = [gain for gain, total in rows if total is not None]
    gains = sorted(whole or (gain for gain, _ in rows))
    untrue = of_ideal is not None and of_ideal > MOST_OF_IDEAL
    if len(gains) < FEWEST_ROUNDS:
        return Standing(len(gains), None, None, untrue, None)
    aside = _aside(len(gains))
    low, high = gains[aside], gains[-1 - aside]
    proven = len(gains) >= ROUNDS_FOR_PROOF and (low > 0 or high < 0)
    return Standing(len(gains), gains[0], gains[-1], untrue, None if untrue else proven)


def _aside(n: int) -> int:
    """How many values at each end lie outside the 95% interval of the median, by order statistics.

    P(B < k) for B ~ Binomial(n, 1/2) must stay within the tail; of fewer than six none may be left out.
    """
    below, aside = 0.0, 0
    while (below := below + math.comb(n, aside) / 2**n) <= TAIL:
        aside += 1
    return max(0, aside - 1)
