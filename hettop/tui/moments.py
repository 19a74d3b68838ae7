"""Understands a moment of a recording as people type it.

Pure; knows neither who asks nor what is done with the answer.
"""

from __future__ import annotations

import re

from hettop.errors import HettopError
from hettop.format import NS_PER_SECOND
from hettop.text import clean

_SECONDS = {"ms": 1e-3, "s": 1.0, "": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_LENGTH = re.compile(r"(\d{1,12}(?:\.\d{1,12})?) ?(ms|s|m|min|h|%)?", re.ASCII)
_CLOCK = re.compile(r"(?:(\d{1,6}):)?(\d{1,6}):(\d{1,2}(?:\.\d{1,12})?)", re.ASCII)


def moment_of(text: str, position_ns: int, duration_ns: int) -> int:
    """Nanoseconds of the recording: `90s`, `2m`, `1:30`, `1:02:03.5`, plain seconds, or `50%` of the whole.

    With a sign in front it counts from `position_ns`: `+10s`. No further than the ends of the recording. Raises
    HettopError (`usage`) for anything else.
    """
    said = text.strip().lower()
    sign = said[:1] if said[:1] in ("+", "-") else ""
    length = _length(said.removeprefix(sign).strip(), duration_ns)
    if length is None:
        raise HettopError("usage", f"{clean(text, 40)!r} is no moment", "write 90s, 1:30, 1:02:03, 50% or +10s")
    moment = position_ns + length * (1 if sign == "+" else -1) if sign else length
    return max(0, min(moment, duration_ns))


def _length(said: str, duration_ns: int) -> int | None:
    clock = _CLOCK.fullmatch(said)
    if clock is not None:
        hours, minutes, seconds = clock.groups()
        return round((int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds)) * NS_PER_SECOND)
    found = _LENGTH.fullmatch(said)
    if found is None:
        return None
    value, unit = float(found[1]), found[2] or ""
    if unit == "%":
        return round(value / 100 * duration_ns)
    return round(value * _SECONDS[unit] * NS_PER_SECOND)
