"""The one place that turns numbers into words: milliseconds, counts, rates, durations, sizes, percent.

Pure; knows neither where a number comes from nor where it is shown. What is not known reads `n/a`, never 0.
"""

from __future__ import annotations

import math
import re

from hettop.units import NS_PER_S

UNKNOWN = "n/a"
THIN_SPACE = "\u2009"

_LARGEST_PLAIN = 9_999
_SIZE_UNITS = ("B", "kB", "MB", "GB", "TB")
_SHORT_UNITS = {"CPU_ONLY": "CPU", "CPU_AND_GPU": "GPU", "CPU_AND_NE": "NE", "ALL": "ALL"}


def significant(value: float | None) -> str:
    """Three significant digits without an exponent: `0.0123`, `2.13`, `45.6`, `1 234`; whole from 100 on."""
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
    """A whole number with its thousands set apart by thin spaces: `39 914`."""
    return UNKNOWN if number is None else f"{number:,}".replace(",", THIN_SPACE)


def short_count(number: int | None) -> str:
    """A count in at most five characters, for axes and narrow columns: `9 999`, `12.3k`, `456k`, `1.2M`."""
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
    """A ratio as percent: 0.44 is `44%`, signed `+44%`; one decimal below 10 %."""
    if share is None or not math.isfinite(share):
        return UNKNOWN
    value = share * 100
    decimals = 1 if 0 < abs(value) < 9.95 else 0
    return f"{value:{'+' if signed else ''}.{decimals}f}%"


def clock(nanoseconds: int | None, decimals: int = 0) -> str:
    """A moment of the session, cut off (never rounded up): `01:23`, `00:27.5`, `1:02:03`."""
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
    """Power in W, without its unit: hundredths below 10 W, tenths above. Fixed, because rails are read as a column."""
    if value_w is None or not math.isfinite(value_w):
        return UNKNOWN
    return f"{value_w:.2f}" if value_w < 9.995 else f"{value_w:.1f}"


def seconds(nanoseconds: int | None) -> str:
    """A length of time in seconds with its unit: `30 s`, `0.5 s`."""
    if nanoseconds is None:
        return UNKNOWN
    return f"{float(f'{nanoseconds / NS_PER_S:.2g}'):g} s"


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


def unit_name(unit: str, *, short: bool = False) -> str:
    """A unit's name; short ones (`CPU`, `GPU`, `NE`, `ALL`) are for narrow screens. `@N` and `~VARIANT` stay."""
    if not short:
        return unit
    name = re.split("[@~]", unit, maxsplit=1)[0]
    return _SHORT_UNITS.get(name, name) + unit[len(name) :]
