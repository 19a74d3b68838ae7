"""Thresholds on statistics: `CPU_ONLY.p90<30ms`, parsed before measuring and judged after.

Pure. Judged by the measured value, a threshold is undecided where the statistic is unknown; where a proof is required,
it is undecided unless the interval of the percentile lies on one side of the limit.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hettop.analysis.budget import Budget, Judgement, judge
from hettop.analysis.unit_samples import InOrder, Measured, loads_of, measured
from hettop.compute_units import parse_unit
from hettop.errors import HettopError
from hettop.format import UNKNOWN, count, milliseconds
from hettop.report.verdict_words import needs_words
from hettop.session.session import Session
from hettop.session.statistics import Statistics, statistics
from hettop.stats.quantiles import CONFIDENCE, shared
from hettop.text import clean, nearest

_TIMES = {
    "mean": "mean_ms",
    "std": "std_ms",
    "min": "min_ms",
    "p50": "p50_ms",
    "p90": "p90_ms",
    "p99": "p99_ms",
    "p999": "p999_ms",
    "max": "max_ms",
    "load": "load_ms",
    "first": "first_ms",
    "native_mean": "native_mean_ms",
    "native_p90": "native_p90_ms",
    "response_p50": "response_p50_ms",
    "response_p90": "response_p90_ms",
}
_PLAIN = {
    "n": "n",
    "throughput": "throughput_per_s",
    "tokens": "tokens_per_s",
    "peak_memory": "peak_memory_mb",
    "energy": "energy_mj_per_inference",
}
_COUNTED = ("spikes", "misses")
_RESPONSES = {"response_p50": 0.5, "response_p90": 0.9}
_TIME_UNITS = {"": 1.0, "ms": 1.0, "us": 1e-3, "µs": 1e-3, "μs": 1e-3, "s": 1e3}  # micro sign and Greek mu
_PLAIN_UNITS = {
    "throughput": {"": 1.0, "/s": 1.0},
    "tokens": {"": 1.0, "/s": 1.0},
    "peak_memory": {"": 1.0, "MB": 1.0},
    "energy": {"": 1.0, "mJ": 1.0},
}
_NO_UNIT = {"": 1.0}
_SHOWN_UNITS = {"throughput": "/s", "tokens": "/s", "peak_memory": " MB", "energy": " mJ"}
PROVABLE = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}
"""Statistics whose upper limit can be proven, with their quantile."""
KEPT_FOR_PROOF = 1_000_000
"""How many samples of a unit are kept for a proof, at most: a measurement for one ends there."""
_OPERATORS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_PATTERN = re.compile(
    r"(?P<unit>\.?[A-Za-z_]+(?::[A-Za-z0-9]+)*(?:@[1-9][0-9]*)?(?:~[a-z]+)?)(?:\[(?P<load>[^\]]+)\])?\.(?P<stat>[a-z0-9_]+)"
    r"\s*(?P<operator><=|>=|<|>)\s*(?P<value>[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)(?P<suffix>[A-Za-zµμ/]*)"
)
_EXAMPLE = "write thresholds as 'CPU_ONLY.p90<30ms', 'CPU_ONLY@2[cpu:1].p99<=40ms' or 'CPU_ONLY.throughput>60'"


@dataclass(frozen=True, slots=True)
class Judged:
    """Whether a threshold is met; None where that is undecided. `why`: empty where it is met.

    shown: the value of one that is met, with its interval where a proof was required.

    evidence: what a proof rests on, one for each load; empty where none was required.
    """

    met: bool | None
    why: str = ""
    shown: str = ""
    evidence: tuple[Judgement, ...] = ()


@dataclass(frozen=True, slots=True)
class Threshold:
    """`unit` under `load` (None: under every load measured) must have `stat` `comparison` `value`; times in ms."""

    text: str
    unit: str
    load: str | None
    stat: str
    comparison: str
    value: float

    def judge(self, rows: Sequence[Statistics]) -> Judged:
        """Whether every row of its unit and load meets it: one that misses it decides, then one that is unknown."""
        matching = [row for row in rows if row.unit == self.unit and self.load in (None, row.load)]
        if not matching:
            return self._not_measured()
        judged = [self._judge(row) for row in matching]
        return next((each for met in (False, None) for each in judged if each.met is met), judged[0])

    def prove(self, rows: Sequence[Statistics], units: Sequence[Measured], confidence: float) -> Judged:
        """Whether it is proven to be met, or to be missed, under every load; a unit that failed misses it."""
        failed = next((row for row in rows if row.unit == self.unit and row.error is not None and row.n), None)
        if failed is not None:
            return self._judge(failed)
        most = self.value if self.comparison == "<=" else math.nextafter(self.value, 0)  # a budget is met at its limit
        budget = Budget(most, PROVABLE[self.stat])
        evidence = tuple(judge(unit, budget, paced_at=None, confidence=confidence) for unit in self.of(units))
        if not evidence:
            return self._not_measured()
        deciding = next((each for met in (False, None) for each in evidence if each.met is met), None)
        if deciding is None:
            shown = f"{self.text}: {self._evidence_words(evidence[0])}"
            return Judged(True, shown=shown, evidence=evidence)
        return Judged(deciding.met, f"{self.text}: {self._evidence_words(deciding)}", evidence=evidence)

    def of(self, units: Sequence[Measured]) -> list[Measured]:
        """Those of its unit and load."""
        return [unit for unit in units if unit.unit == self.unit and self.load in (None, unit.load)]

    def _evidence_words(self, judged: Judgement) -> str:
        low, high = (UNKNOWN if end is None else milliseconds(end) for end in (judged.low_ms, judged.high_ms))
        value = UNKNOWN if judged.quantile_ms is None else f"{milliseconds(judged.quantile_ms)} ms"
        reason = f"; {judged.why}" if judged.why else ""
        if judged.met is None:
            reason = f"; not proven: {judged.why}{needs_words(judged)}"
        return (
            f"{self.stat} of {self.unit} is {value}, interval {low} to {high} ms, {count(judged.n)} samples "
            f"(effective sample size {count(judged.effective)}){reason}"
        )

    def _not_measured(self) -> Judged:
        where = f" under load {clean(self.load)}" if self.load else ""
        return Judged(None, f"{self.text}: {self.unit} was not measured{where}")

    def _judge(self, row: Statistics) -> Judged:
        if row.error is not None and row.n:
            return Judged(False, f"{self.text}: {row.unit} failed after {row.n} samples: {clean(row.error.message)}")
        actual = _actual(row, self.stat)
        if actual is None:
            return Judged(None, f"{self.text}: {self.stat} of {row.unit} is unknown (n={row.n})")
        value = f"{actual:.6g}{_shown_unit(self.stat)}"
        shown = f"{self.text}: {self.stat} of {row.unit} is {value} under load {row.load}"
        if not _OPERATORS[self.comparison](actual, self.value):
            return Judged(False, shown)
        return Judged(True, shown=shown)


def parse_threshold(text: str) -> Threshold:
    """Raises HettopError (`usage`) with an example for anything that is not a threshold."""
    found = _PATTERN.fullmatch(text.strip())
    if found is None:
        raise HettopError("usage", f"invalid threshold: {clean(text)!r}", _EXAMPLE)
    stat, suffix = found["stat"], found["suffix"]
    units = _TIME_UNITS if stat in _TIMES else _PLAIN_UNITS.get(stat, _NO_UNIT)
    if stat not in _TIMES and stat not in _PLAIN and stat not in _COUNTED:
        known = ", ".join((*_TIMES, *_PLAIN, *_COUNTED))
        near = nearest(stat, (*_TIMES, *_PLAIN, *_COUNTED))
        raise HettopError("usage", f"unknown statistic: {clean(stat)!r}", f"{near} choose from {known}".strip())
    if suffix not in units:
        known = ", ".join(filter(None, units)) or "no unit"
        raise HettopError("usage", f"invalid unit of {stat}: {suffix!r}", f"write {known}")
    value = float(found["value"]) * units[suffix]
    if not math.isfinite(value):
        raise HettopError("usage", f"invalid threshold {clean(text)!r}: {found['value']} is too large", _EXAMPLE)
    return Threshold(
        clean(text.strip()),
        _unit(found["unit"]),
        _as_condition(found["load"]),
        stat,
        found["operator"],
        value,
    )


def _unit(written: str) -> str:
    name, tilde, variant = written.partition("~")
    return f"{parse_unit(name)}{tilde}{variant}"


def check_measured(thresholds: Sequence[Threshold], units: Sequence[str], condition: str) -> None:
    """Raises HettopError (`usage`) for the first threshold on a unit, or on a load, that will not be measured.

    condition: the load that there will be, as conditions spell it.
    """
    for threshold in thresholds:
        if threshold.unit not in units:
            raise HettopError(
                "usage",
                f"{threshold.text}: {threshold.unit} will not be measured",
                f"measured units: {clean(', '.join(units))}",
            )
        if threshold.load not in (None, condition):
            raise HettopError(
                "usage",
                f"{threshold.text}: nothing will be measured under load {clean(threshold.load or '')}",
                f"the load is {condition}; --load sets it",
            )


def check_provable(thresholds: Sequence[Threshold]) -> None:
    """Raises HettopError (`usage`) for the first threshold that no interval can decide."""
    for threshold in thresholds:
        if threshold.stat not in PROVABLE or threshold.comparison not in ("<", "<="):
            raise HettopError(
                "usage",
                f"cannot be proven: {threshold.text}",
                f"use an upper limit of {', '.join(PROVABLE)}, such as {threshold.unit}.p90<30ms",
            )


def prove(thresholds: Sequence[Threshold], session: Session, in_order: InOrder) -> list[Judged]:
    """Whether each threshold is proven to be met or missed: at 95% confidence for all of them together.

    By the rules of a budget (docs/method/verdict.md); thresholds that `check_provable` refuses have none.
    """
    rows = statistics(session, modes=False)
    units = [unit for load in loads_of(session) for unit in measured(session, load, in_order, variants=True)]
    confidence = shared(CONFIDENCE, max(1, sum(len(threshold.of(units)) for threshold in thresholds)))
    return [threshold.prove(rows, units, confidence) for threshold in thresholds]


def _shown_unit(stat: str) -> str:
    return " ms" if stat in _TIMES else _SHOWN_UNITS.get(stat, "")


def _as_condition(load: str | None) -> str | None:
    """The load as conditions spell it, whose parts are sorted and leave out a duty of 100%."""
    return None if load is None else "+".join(sorted(part.strip().removesuffix("@100%") for part in load.split("+")))


def _actual(row: Statistics, stat: str) -> float | None:
    if stat == "spikes":
        # Without a spike threshold there is nothing to count by: unknown, not none.
        return row.spikes.n if row.spikes else None
    if stat == "misses":
        return row.deadline_misses.n + (row.deadline_misses.unfinished or 0) if row.deadline_misses else None
    if stat in _RESPONSES and row.deadline_misses is not None:
        unserved = row.deadline_misses.unfinished or 0
        if unserved > (1 - _RESPONSES[stat]) * (row.n + unserved):
            return None  # the percentile of all arrivals is among those that were not served
    value: float | None = getattr(row, _TIMES.get(stat) or _PLAIN[stat])
    return value
