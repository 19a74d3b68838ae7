"""Studies: what was found out about the model itself, beside the running measurement, and how far one has got.

What was found is JSON that each study knows for itself: of a size, depth and texts that are checked here, and a summary
that fits a line, for every keyframe repeats it.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from hettop.events.base import TEXT_LIMIT, Count, Event, Failure, Nanoseconds, Share, Text
from hettop.text import clean

FOUND_DEPTH, FOUND_VALUES = 6, 20_000
"""What a study found has at most so many levels, and so many numbers, texts and names."""

STUDY_STATES = ("running", "done", "failed", "ended")


class Study(Event, frozen=True, kw_only=True, tag="study", eq=False):
    """A study has begun, got further, or ended: `state` is `running`, `done`, `failed` or `ended` (by the user).

    It has taken `elapsed_ns` by now, and `share` of it is done; None where that is not known. `found` is all that is
    known by now, as the study's result has it; `earlier`: it is from the run before. `failures`: parts of it that
    failed while the rest goes on, by name, and why. `stops` and `sleeps`: how often hettop was stopped and the machine
    slept meanwhile, for `stopped_ns` and `slept_ns` in all; what was measured then is not part of what was found.
    """

    name: Text
    state: Text
    elapsed_ns: Nanoseconds
    arguments: Annotated[list[Text], msgspec.Meta(max_length=64)] = []
    doing: Text | None = None
    share: Share | None = None
    found: dict[str, Any] | None = None
    earlier: bool = False
    error: Failure | None = None
    failures: dict[Text, Text] = {}
    stops: Count = 0
    stopped_ns: Nanoseconds = 0
    sleeps: Count = 0
    slept_ns: Nanoseconds = 0


def checked(study: Study) -> Study:
    """The same with the texts of what was found cleaned. Raises ValueError where it is too large, deep or long."""
    if study.found is None:
        return study
    left = [FOUND_VALUES]
    return msgspec.structs.replace(study, found=_checked(study.found, FOUND_DEPTH, left))


def _checked(value: Any, depth: int, left: list[int]) -> Any:
    """`left`: how many values there may still be."""
    left[0] -= 1
    if left[0] < 0 or depth < 0:
        raise ValueError("what a study found is too large")
    match value:
        case str():
            if len(value) > TEXT_LIMIT:
                raise ValueError(f"a text of {len(value)} characters in what a study found")
            return clean(value)
        case list():
            return [_checked(each, depth - 1, left) for each in value]
        case dict():
            return {_checked(key, depth, left): _checked(each, depth - 1, left) for key, each in value.items()}
    return value
