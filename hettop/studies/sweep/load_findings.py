"""What a sweep over competing loads says: how much each slows each unit down.

Pure: what was found in, figures and words out, for the screen and for reports alike. Names in them are as recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from hettop.events import NO_LOAD
from hettop.format import milliseconds, percent, unit_name
from hettop.studies.sweep.findings import LONGEST_NAME, MAIN, MORE, cut

if TYPE_CHECKING:  # the screen is painted before the codec is imported
    from hettop.studies.sweep.result import SweepPoint


def loads_headline(points: Sequence[SweepPoint], *, short: bool = False) -> Iterator[tuple[str, str]]:
    """Which load slows which unit down most, and which least; each with its kind."""
    known = [(change, place) for place, point in enumerate(points) if (change := change_of(points, point)) is not None]
    if not known:
        yield "No change is known: it takes a unit without load, and the same under one.", MORE
        return
    yield _in_words(points, points[max(known)[1]], "most", short), MAIN
    if len(known) > 1:
        yield _in_words(points, points[min(known)[1]], "least", short), MORE


def change_of(points: Sequence[SweepPoint], point: SweepPoint) -> float | None:
    """Of P90, against the same unit without load: 0.1 = a tenth longer; None for that itself, and where it is not."""
    without = _alone(points, point)
    if without is None or without is point or point.p90_ms is None or not without.p90_ms:
        return None
    return point.p90_ms / without.p90_ms - 1


def _in_words(points: Sequence[SweepPoint], point: SweepPoint, how: str, short: bool) -> str:
    without = _alone(points, point)
    unit = unit_name(cut(point.unit, LONGEST_NAME), short=short)
    change = percent(change_of(points, point), signed=True)
    before = milliseconds(None if without is None else without.p90_ms)
    load = cut(point.load or "", LONGEST_NAME)
    return f"{unit} changes {how} under {load}: P90 {change}, {milliseconds(point.p90_ms)} ms against {before} alone."


def _alone(points: Sequence[SweepPoint], point: SweepPoint) -> SweepPoint | None:
    return next((each for each in points if each.unit == point.unit and each.load == NO_LOAD and each.p90_ms), None)
