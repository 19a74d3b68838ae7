"""Holds what units answer against each other: how far each is from the reference, on the same inputs.

Arrays in, events out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from hettop import events
from hettop.compute_units import REFERENCE_UNITS
from hettop.sources.engine.frames import OutputsFrame
from hettop.sources.engine.published import UNDECIDED, PublishedOutput
from hettop.text import clean

LARGEST_TOLD = 1e12
"""The largest number a line of the stream may carry here; larger differences are cut to it."""

Values = npt.NDArray[np.float64]


class Comparisons:
    """What is known of each unit's answers. The reference is the CPU's unit, and until that is known the first one."""

    def __init__(self) -> None:
        self._known: dict[str, OutputsFrame] = {}

    @property
    def answers(self) -> Mapping[str, OutputsFrame]:
        """What each unit answered last."""
        return dict(self._known)

    def add(self, unit: str, answers: OutputsFrame) -> list[events.Outputs]:
        """The comparisons that these answers make possible, or new; they replace the unit's earlier ones. `t` is 0."""
        self._known[unit] = answers
        reference = next((unit for unit in REFERENCE_UNITS if unit in self._known), next(iter(self._known)))
        apart = [other for other in self._known if other != reference]
        units = apart if unit == reference else [unit]
        return [compare(each, reference, self._known[each], self._known[reference]) for each in units]


def compare(unit: str, reference: str, answers: OutputsFrame, expected: OutputsFrame) -> events.Outputs:
    """How far `answers` are from those `expected`, on the sets of inputs that both have; `t` is 0.

    Outputs are the same by name; by position where none has the name of another.
    """
    n = min(len(answers.sets), len(expected.sets))
    mine, theirs = _by_name(answers, n), _by_name(expected, n)
    if not mine.keys() & theirs.keys() and len(mine) == len(theirs):  # another conversion chose other names
        mine = dict(zip(theirs, mine.values(), strict=True))
    compared = {
        name: _difference(name, mine[name], theirs[name])
        for name in theirs
        if name in mine and _shapes(mine[name]) == _shapes(theirs[name])
    }
    worst = sorted(compared.values(), key=_badness, reverse=True)
    return events.Outputs(
        t=0,
        unit=unit,
        reference=reference,
        inputs=n,
        sampled=any(output.sampled for name in compared for output in theirs[name]),
        outputs=worst[: events.NAMED_LIMIT],
        error=_unlike(reference, mine, theirs),
    )


def _by_name(frame: OutputsFrame, n: int) -> dict[str, list[PublishedOutput]]:
    found: dict[str, list[PublishedOutput]] = {}
    for outputs in frame.sets[:n]:
        for output in outputs:
            found.setdefault(output.name, []).append(output)
    return found


def _shapes(outputs: Sequence[PublishedOutput]) -> list[tuple[tuple[int, ...], int]]:
    return [(output.shape, len(output.values)) for output in outputs]


def _unlike(
    reference: str, mine: dict[str, list[PublishedOutput]], theirs: dict[str, list[PublishedOutput]]
) -> events.Failure | None:
    """What could not be compared, the first of it."""
    for name in sorted({*mine, *theirs}):
        if name not in theirs or name not in mine:
            message = f"output {name} is only {'here' if name in mine else f'on {reference}'}"
        elif _shapes(mine[name]) != _shapes(theirs[name]):
            ours, other = ([output.shape for output in side[name]] for side in (mine, theirs))
            place = next((i for i, pair in enumerate(zip(ours, other, strict=False)) if pair[0] != pair[1]), 0)
            message = f"output {name} has shape {list(ours[place])} here and {list(other[place])} on {reference}"
        else:
            continue
        return events.Failure(kind="outputs", message=clean(message))
    return None


@dataclass(slots=True)
class _Sums:
    """What adds up over the sets of inputs."""

    values: int = 0
    not_finite: int = 0
    finite: list[tuple[Values, Values]] = field(default_factory=list)
    rows: int = 0
    rows_alike: int = 0
    rows_near: int | None = None


def _difference(
    name: str, mine: Sequence[PublishedOutput], theirs: Sequence[PublishedOutput]
) -> events.OutputDifference:
    sums = _Sums()
    for ours, other in zip(mine, theirs, strict=True):
        a, b = ours.values.astype(np.float64), other.values.astype(np.float64)
        finite_a, finite_b = np.isfinite(a), np.isfinite(b)
        sums.values += len(a)
        sums.not_finite += int(np.count_nonzero(~finite_a & finite_b))
        both = finite_a & finite_b
        sums.finite.append((a[both], b[both]))
        if ours.top is not None and other.top is not None:
            # Rows that decide nothing in the reference cannot be decided alike.
            decided = [(x, y) for x, y in zip(ours.top, other.top, strict=False) if y != UNDECIDED]
            sums.rows += len(decided)
            sums.rows_alike += sum(x == y for x, y in decided)
            if ours.top5 is not None:
                near = (y in five for five, y in zip(ours.top5, other.top, strict=False) if y != UNDECIDED)
                sums.rows_near = (sums.rows_near or 0) + sum(near)
    a, b = (np.concatenate(side) for side in zip(*sums.finite, strict=True))
    return events.OutputDifference(
        name=clean(name),
        values=sums.values,
        max_abs=_largest(a, b) if len(a) else None,
        largest=_largest(b, np.zeros_like(b)) if len(b) else None,
        cosine=cosine(a, b),
        top1=sums.rows_alike / sums.rows if sums.rows else None,
        top5=sums.rows_near / sums.rows if sums.rows and sums.rows_near is not None else None,
        not_finite=sums.not_finite,
    )


def cosine(a: Values, b: Values) -> float | None:
    """a·b / (|a| |b|), within [-1, 1]; None where one of the vectors is zero or empty."""
    largest_a, largest_b = (float(np.abs(side).max(initial=0.0)) for side in (a, b))
    if not largest_a or not largest_b:
        return None
    # Scaled first: squares of large values would overflow, of small ones vanish.
    a, b = a / largest_a, b / largest_b
    return float(np.clip(a @ b / np.sqrt((a @ a) * (b @ b)), -1.0, 1.0))


def _largest(a: Values, b: Values) -> float:
    """The largest absolute difference."""
    with np.errstate(over="ignore"):
        return min(float(np.abs(a - b).max()), LARGEST_TOLD)


def _badness(output: events.OutputDifference) -> tuple[Any, ...]:
    """Broken numbers are worst, then those that are far off for their size."""
    far = output.max_abs or 0.0
    relative = far / output.largest if output.largest else (np.inf if far else 0.0)
    return output.not_finite, relative, far
