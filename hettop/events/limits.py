"""Bounds of the stream: what a line, a window, a text and a number may be, and the types that check it.

They hold for every event, so that no reader has to defend itself against a damaged or hostile recording twice.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
import numpy as np
import numpy.typing as npt

FORMAT = "hettop"
VERSION = (1, 1)

LARGEST_EXACT = 2**53 - 1  # beyond it a JSON reader that uses doubles rounds
LINE_LIMIT = 1 << 20
WINDOW_LIMIT = 20_000
TEXT_LIMIT = 200
NAMED_LIMIT = 8  # operations or outputs named in one event: every keyframe repeats them, counts tell of the others
SPANS_LIMIT = 256  # stretches of time told of in one event: a line gathers a second or two of them
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
