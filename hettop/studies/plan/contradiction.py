"""Whether what a plan was made from contradicts itself: one thing, measured twice, that took far longer once.

Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hettop.format import count, significant
from hettop.studies.plan.cutting.result import Ran, Survey
from hettop.text import clean

LEAST, MOST = 0.67, 1.5
"""Of the same call at two times: a machine that is half as slow again had something else to do."""

LONGEST_NAME = 20
"""The sentence has to fit into a line of the stream."""


@dataclass(frozen=True, slots=True)
class _Twice:
    """The whole model on a device, in ms, and when that was."""

    device: str
    one: tuple[float, str]
    other: tuple[float, str]

    @property
    def times(self) -> float:
        """How much longer the longer one took."""
        return max(self.one[0], self.other[0]) / min(self.one[0], self.other[0])

    @property
    def contradicts(self) -> bool:
        return not LEAST <= self.other[0] / self.one[0] <= MOST


def contradiction(devices: Sequence[str], survey: Survey, ran: Ran | None) -> str | None:
    """The worst of them in words; None where all was as fast each time."""
    found = [each for each in _measured_twice(devices, survey, ran) if each.contradicts]
    if not found:
        return None
    worst = max(found, key=lambda each: each.times)
    (one, when), (other, then) = worst.one, worst.other
    more = f" ({count(len(found) - 1)} more such)" if len(found) > 1 else ""
    return (
        f"costs contradict each other: the whole model on {clean(worst.device, LONGEST_NAME)} took "
        f"{significant(one)} ms {when}, {significant(other)} ms {then}{more}; "
        "measure again on a quieter machine"
    )


def _measured_twice(devices: Sequence[str], survey: Survey, ran: Ran | None) -> Iterator[_Twice]:
    """Layers first: their sum was set to the whole model's time, so it is by the time that their profile saw."""
    for device, profiled, whole in zip(devices, survey.profiled_ms, survey.end_to_end_ms, strict=False):
        if profiled and whole:
            yield _Twice(device, (profiled, "while layers were profiled"), (whole, "while it ran whole"))
    for device, then, now in zip(devices, survey.end_to_end_ms, () if ran is None else ran.whole_ms, strict=False):
        if then and now:
            yield _Twice(device, (then, "while costs were measured"), (now, "while the plan ran"))
