"""Formats numbers for people: milliseconds, counts, rates, durations, sizes, percent.

Thousands have a comma, a percent sign has no space before it, other units have one. Unknown is `n/a`, never 0. JSON and
CSV hold plain numbers and do not use this module.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from hettop.units import NS_PER_S

Value = TypeVar("Value", bound=Hashable)

UNKNOWN = "n/a"

_LARGEST_PLAIN = 9_999
_SIZE_UNITS = ("B", "kB", "MB", "GB", "TB")
_SHORT_UNITS = {
    "CPU_ONLY": "CPU",
    "CPU_AND_GPU": "GPU",
    "CPU_AND_NE": "NE",
    "ALL": "ALL",
    "COREAI:default": "AI:def",
    "COREAI:cpu_only": "AI:cpu",
    "COREAI:prefers_gpu": "AI:gpu",
    "COREAI:prefers_ne": "AI:ne",
}


def significant(value: float | None) -> str:
    """Three significant digits without an exponent: `0.0123`, `2.13`, `45.6`, `1,234`; whole from 100 on."""
    if value is None or not math.isfinite(value):
        return UNKNOWN
    if value == 0:
        return "0"
    magnitude = abs(value)
    if magnitude >= 99.95:
        return count(round(value))
    # Rounding first: 9.996 is 10.0, not 10.00.
    exponent = math.floor(math.log10(float(f"{magnitude:.2e}")))
    decimals = 2 - exponent
    return f"{value:.{min(decimals, 6)}f}"


def milliseconds(value_ms: float | None) -> str:
    """A latency in milliseconds, without its unit."""
    return significant(value_ms)


def count(number: int | None) -> str:
    """A whole number with commas between thousands: `39,914`."""
    return UNKNOWN if number is None else f"{number:,}"


def short_count(number: int | None) -> str:
    """A count in at most five characters, for axes and narrow columns: `9,999`, `12.3k`, `456k`, `1.2M`."""
    if number is None or abs(number) <= _LARGEST_PLAIN:
        return count(number)
    scaled, letter = float(number), ""
    for letter in "kMGT":  # noqa: B007 - the letter at which the loop stops is the answer
        scaled /= 1000
        if abs(scaled) < 999.5:
            break
    return f"{scaled:.1f}{letter}" if abs(scaled) < 99.95 else f"{scaled:.0f}{letter}"


def per_second(rate: float | None) -> str:
    """A rate with its unit: `482/s`."""
    text = significant(rate)
    return text if text == UNKNOWN else f"{text}/s"


def percent(share: float | None, *, signed: bool = False) -> str:
    """A ratio as percent: 0.44 is `44%`, signed `+44%`; one decimal below 10%."""
    if share is None or not math.isfinite(share):
        return UNKNOWN
    value = share * 100
    decimals = 1 if 0 < abs(value) < 9.95 else 0
    return f"{value:{'+' if signed else ''}.{decimals}f}%"


def clock(nanoseconds: int | None, decimals: int = 0) -> str:
    """A time of the session, truncated (never rounded up): `01:23`, `00:27.5`, `1:02:03`."""
    if nanoseconds is None:
        return UNKNOWN
    sign = "-" if nanoseconds < 0 else ""
    ticks = abs(nanoseconds) * 10**decimals // NS_PER_S
    seconds, fraction = divmod(ticks, 10**decimals)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    text = f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes:02}:{seconds:02}"
    return f"{sign}{text}.{fraction:0{decimals}}" if decimals else f"{sign}{text}"


def watts(value_w: float | None) -> str:
    """Power in W, without its unit: two decimals below 10 W, one above."""
    if value_w is None or not math.isfinite(value_w):
        return UNKNOWN
    return f"{value_w:.2f}" if value_w < 9.995 else f"{value_w:.1f}"


def seconds(nanoseconds: int | None) -> str:
    """A duration in seconds with its unit: `30 s`, `0.5 s`."""
    if nanoseconds is None:
        return UNKNOWN
    return f"{float(f'{nanoseconds / NS_PER_S:.2g}'):g} s"


def duration(nanoseconds: int | None) -> str:
    """A length of time in the unit that people would use: `30 s`, `15 min`, `1.5 h`; seconds up to two minutes."""
    if nanoseconds is None or nanoseconds < 120 * NS_PER_S:
        return seconds(nanoseconds)
    minutes = nanoseconds / (60 * NS_PER_S)
    return f"{float(f'{minutes:.2g}'):g} min" if minutes < 59.5 else f"{float(f'{minutes / 60:.2g}'):g} h"


_PLAIN_NUMBER = re.compile(r"[-+]?(?P<whole>[\d,]+)(?P<fraction>\.\d+)?")


def aligned(cells: Sequence[str], blank: Callable[[str], str] = lambda text: " " * len(text)) -> list[str]:
    """The cells of a right-aligned column of numbers, padded on the right so that the decimal points are aligned.

    A column with text other than `n/a` and empty cells is returned as it is.

    Args:
        blank: what takes the place of missing decimals, given the longest fraction's rest; spaces by default.
    """
    found = [_PLAIN_NUMBER.fullmatch(cell) for cell in cells]
    fractions = [(match["fraction"] or "") if match else "" for match in found]
    plain = all(match or cell in ("", UNKNOWN) for match, cell in zip(found, cells, strict=True))
    longest = max(fractions, key=len, default="")
    if not plain or not longest:
        return list(cells)
    return [
        cell + blank(longest[len(fraction) :]) if match else cell
        for cell, match, fraction in zip(cells, found, fractions, strict=True)
    ]


def size(number_of_bytes: int | None) -> str:
    """A file size in decimal units: `512 B`, `1.2 MB`."""
    if number_of_bytes is None:
        return UNKNOWN
    value = float(number_of_bytes)
    for unit in _SIZE_UNITS:
        if abs(value) < 999.5 or unit == _SIZE_UNITS[-1]:
            return f"{value:.0f} {unit}" if unit == "B" or abs(value) >= 99.95 else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError("the last unit takes any size")


def group_names(pairs: Iterable[tuple[str, Value]]) -> list[tuple[str, Value]]:
    """Group names that share a value: `A, B` with it, in the order of first appearance."""
    names: dict[Value, dict[str, None]] = {}
    for name, value in pairs:
        names.setdefault(value, {})[name] = None
    return [(", ".join(found), value) for value, found in names.items()]


def unit_name(unit: str, *, short: bool = False) -> str:
    """A unit's name, or its short form (`CPU`, `GPU`, `NE`, `ALL`) for narrow screens. `@N` and `~VARIANT` stay."""
    if not short:
        return unit
    name = re.split("[@~]", unit, maxsplit=1)[0]
    return _SHORT_UNITS.get(name, name) + unit[len(name) :]
