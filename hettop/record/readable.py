"""Makes sure that what is written can be read back: texts are cut to the length a reader accepts.

Knows single events; windows of samples have checks of their own (`limits`), because decoding each would cost too much.
"""

from __future__ import annotations

from typing import Any

import msgspec

from hettop import events
from hettop.events import LINE_LIMIT, TEXT_LIMIT, AnyEvent


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
