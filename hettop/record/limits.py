"""What a line must hold, beyond its form, to be believed; the same for writing and reading.

One event at a time: what lines say about each other is the reader's matter.
"""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from hettop import events
from hettop.events import LINE_LIMIT, TEXT_LIMIT, AnyEvent, Samples

# A window is committed after its samples ended. Writers that stamp it at its start are forgiven up to this much;
# more means that a digit of t0 or of a gap is damaged.
CLOCK_SLACK_NS = 10 * 10**9


def clock_fault(window: Samples) -> str | None:
    """Why the window's times cannot be right, or None. In a believable window the last end is also the latest."""
    steps = window.gap_ns[1:] + window.lat_ns[:-1]
    if steps.size and int(steps.min()) < 0:
        return "a sample starts before the previous one"
    # In float64: a damaged gap can make the exact sum overflow, and this only has to be right to a second.
    end = window.t0 + float(np.sum(steps, dtype=np.float64)) + int(window.lat_ns[-1])
    if end > window.t + CLOCK_SLACK_NS:
        return "samples that end after their window was written"
    return None


def readable(event: AnyEvent) -> tuple[AnyEvent, bytes]:
    """The event as a reader will see it, and its line without line feed.

    Raises ValueError for one that no reader would take: numbers out of range, or over 1 MiB.
    """
    try:
        line = events.encode(event)
        seen = events.decode(line)
    except (ValueError, TypeError):
        # Texts come from processes and frameworks and may be of any length, or hold half a surrogate pair.
        try:
            seen = events.decode(msgspec.json.encode(_with_short_texts(msgspec.to_builtins(event))))
        except (TypeError, RecursionError) as error:
            raise ValueError(str(error)) from None
        if seen is not None:
            line = events.encode(seen)
    if seen is None:
        raise ValueError("an unknown kind")
    if len(line) > LINE_LIMIT:
        raise ValueError("a line of over 1 MiB")
    return seen, line


def _with_short_texts(value: Any) -> Any:
    match value:
        case str():
            sound = value.encode("utf-8", "replace").decode("utf-8") if not value.isascii() else value
            return sound if len(sound) <= TEXT_LIMIT else sound[: TEXT_LIMIT - 1] + "…"
        case dict():
            return {_with_short_texts(key): _with_short_texts(held) for key, held in value.items()}
        case list() | tuple():
            return [_with_short_texts(held) for held in value]
    return value
