"""Moments of a recording as people write them: `90s`, `1:30`, `50%`."""

from __future__ import annotations

import re

from hettop.errors import HettopError
from hettop.text import clean
from hettop.units import NS_PER_S

_SECONDS = {"ms": 1e-3, "s": 1.0, "": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_LENGTH = re.compile(r"(\d{1,12}(?:\.\d{1,12})?) ?(ms|s|m|min|h|%)?", re.ASCII)
_CLOCK = re.compile(r"(?:(\d{1,6}):)?(\d{1,6}):(\d{1,2}(?:\.\d{1,12})?)", re.ASCII)


def moment_of(text: str, position_ns: int, duration_ns: int) -> int:
    """Nanoseconds of the recording: `90s`, `2m`, `1:30`, `1:02:03.5`, plain seconds, or `50%` of the whole.

    With a sign it counts from `position_ns`: `+10s`. Clamped to the recording. Raises HettopError (`usage`) for
    anything else.
    """
    entered = text.strip().lower()
    sign = entered[:1] if entered[:1] in ("+", "-") else ""
    length = _length(entered.removeprefix(sign).strip(), duration_ns)
    if length is None:
        raise HettopError("usage", f"invalid moment {clean(text, 40)!r}", "enter 90s, 1:30, 1:02:03, 50% or +10s")
    moment = position_ns + length * (1 if sign == "+" else -1) if sign else length
    return max(0, min(moment, duration_ns))


def length_of(text: str, duration_ns: int) -> int:
    """The same without a sign, and without an end. Raises HettopError (`usage`)."""
    length = _length(text.strip().lower(), duration_ns)
    if length is None:
        raise HettopError("usage", f"invalid moment: {clean(text, 40)!r}", "write 90s, 1:30, 1:02:03 or 50%")
    return length


def _length(text: str, duration_ns: int) -> int | None:
    clock = _CLOCK.fullmatch(text)
    if clock is not None:
        hours, minutes, seconds = clock.groups()
        return round((int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds)) * NS_PER_S)
    found = _LENGTH.fullmatch(text)
    if found is None:
        return None
    value, unit = float(found[1]), found[2] or ""
    if unit == "%":
        return round(value / 100 * duration_ns)
    return round(value * _SECONDS[unit] * NS_PER_S)
