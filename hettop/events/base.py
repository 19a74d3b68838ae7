"""What every event shares: its moment, what a failure says, names of rows, and the bounds of lines, texts and numbers.

The bounds hold for every event, so that no reader has to defend itself against a hostile recording twice.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
import numpy as np
import numpy.typing as npt


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="k", eq=False):
    """One line of the stream. `t` is the moment of its commit and never decreases in a file."""

    t: Nanoseconds


class Failure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why something did not work, in the words of `HettopError`, with the last lines of its log."""

    kind: Text
    message: Text
    hint: Text = ""
    log: Annotated[list[Text], msgspec.Meta(max_length=20)] = []


FORMAT = "hettop"
VERSION = (1, 1)

LARGEST_EXACT = 2**53 - 1  # beyond it a JSON reader that uses doubles rounds
LINE_LIMIT = 1 << 20
WINDOW_LIMIT = 20_000
TEXT_LIMIT = 200
NAMED_LIMIT = 8  # operations or outputs named in one event: every keyframe repeats them, the others are counted
SPANS_LIMIT = 256  # stretches of time in one event: a line gathers a second or two of them
LATENCY_LIMIT_NS = 3_600 * 10**9  # an inference of over an hour is a damaged number, not a latency

LATENESS_LIMIT_NS = 30 * 24 * 3_600 * 10**9  # of a backlog; with the latency it still is a number JSON keeps

PHASES = ("first", "warmup", "steady", "resume", "transition")
ENGINE_STATES = ("spawning", "loading", "compiling", "warming", "running", "paused", "failed", "stopped")
POWER_STATES = ("starting", "running", "expired", "unavailable", "failed", "stopped")
LOAD_STATES = ("started", "changed", "confirmed", "stopped", "failed")
NO_LOAD = "none"

Nanoseconds = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_EXACT)]
Count = Annotated[int, msgspec.Meta(ge=0, le=LARGEST_EXACT)]
Text = Annotated[str, msgspec.Meta(max_length=TEXT_LIMIT)]
Milliwatts = Annotated[float, msgspec.Meta(ge=0, le=1e7)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Ratio = Annotated[float, msgspec.Meta(ge=0, le=1e12)]
# Counts of consecutive histogram buckets; a negative number -k skips k empty ones (stats.histogram).
Runs = Annotated[list[int], msgspec.Meta(max_length=WINDOW_LIMIT)]
Column = npt.NDArray[np.int64]

MARK = "~"
"""Between a unit and the name of a variant, as `@` is between a unit and its number of threads."""


FIRST_TOKENS = "prefill"
"""The variant of a unit whose samples are the first tokens of answers; the unit itself has all later ones."""


def row_name(unit: str, variant: str) -> str:
    return f"{unit}{MARK}{variant}"


def split_row(row: str) -> tuple[str, str | None]:
    """The unit, and the variant's name, None for the unit itself."""
    unit, mark, variant = row.partition(MARK)
    return unit, variant if mark else None
