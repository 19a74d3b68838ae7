"""Devices that are not here, described by how they differ from one that was measured."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hettop.errors import HettopError
from hettop.studies.plan.slicing.cost_file import LARGEST, LONGEST_NAME, MOST_DEVICES
from hettop.studies.plan.slicing.costs import CostTable
from hettop.studies.plan.slicing.estimators import Level, dynamic_power, fit_time
from hettop.text import clean

LARGEST_FILE = 1 << 20
HINT = "see docs/method/slicing.md"
FIELDS = frozenset({"name", "like", "times", "mhz", "lowest", "highest", "cut", "unsupported", "limit"}) | {
    "watts",
    "static_watts",
    "volts",
    "top_volts",
}


@dataclass(frozen=True, slots=True)
class Described:
    """A device whose layers take `times` as long as those of the device `like`.

    cut: ms per MB and ms at both sides of a cut, None for those of `like`. unsupported: types of operations that it
    cannot run. limit_mb: of a slice, infinite where there is none. watts: None if unknown.
    """

    name: str
    like: str
    times: float
    cut: tuple[float, float] | None
    unsupported: frozenset[str]
    limit_mb: float
    watts: float | None


def load_described(path: Path) -> tuple[Described, ...]:
    """The devices that a file describes. Raises HettopError: `missing`, `io`, `input`."""
    name = clean(str(path))
    try:
        if not path.is_file():
            raise HettopError("missing", f"file not found: {name}", HINT)
        if path.stat().st_size > LARGEST_FILE:
            raise HettopError("input", f"description too large: {name}", HINT)
        data = path.read_bytes()
    except OSError as error:
        raise HettopError("io", f"{name} cannot be read: {error.strerror}", "check its permissions") from error
    try:
        return read_described(data)
    except HettopError as error:
        raise HettopError(error.kind, f"{name}: {error.message}", error.hint) from error


def read_described(data: bytes | str) -> tuple[Described, ...]:
    """The devices in a JSON text. Raises HettopError: `input`, naming what is wrong and where."""
    try:
        entries = json.loads(data, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise _refused("not valid JSON") from error
    if not isinstance(entries, list) or not 0 < len(entries) <= MOST_DEVICES:
        raise _refused(f"not a list of 1 to {MOST_DEVICES} devices")
    return tuple(_device(entry, f"device {number}") for number, entry in enumerate(entries, start=1))


def extend(
    table: CostTable, described: Sequence[Described], ops: Sequence[Sequence[str]], cut_mb: Sequence[float]
) -> CostTable:
    """The table with these devices beside its own.

    ops: types of the operations in each layer. cut_mb: MB that cross a cut after each layer. Raises HettopError:
    `input` for a name that is taken, or a device that is like none of the table's.
    """
    for each in described:
        if each.name in table.devices:
            raise _refused(f"{clean(each.name)!r} is the name of two devices")
        if each.like not in table.devices:
            raise _refused(
                f"{clean(each.name)} is like {clean(each.like)!r}, which is not one of {', '.join(table.devices)}"
            )
        table = _with(table, each, ops, cut_mb)
    return table


def _with(table: CostTable, each: Described, ops: Sequence[Sequence[str]], cut_mb: Sequence[float]) -> CostTable:
    like = table.devices.index(each.like)
    execution = table.execution[:, like] * each.times
    execution[[not each.unsupported.isdisjoint(found) for found in ops]] = math.inf
    entry, leaving = table.entry[:, like], table.exit[:, like]
    if each.cut is not None:
        half = np.array([(each.cut[0] * mb + each.cut[1]) / 2 for mb in cut_mb[:-1]])
        entry, leaving = np.concatenate([[0.0], half]), np.concatenate([half, [0.0]])
    watts = None
    if table.watts is not None:
        if each.watts is None:
            raise _refused(f"{clean(each.name)}: its power is unknown")
        watts = np.column_stack([table.watts, np.full(table.layers, each.watts)])
    return replace(
        table,
        devices=(*table.devices, each.name),
        execution=np.column_stack([table.execution, execution]),
        entry=np.column_stack([table.entry, entry]),
        exit=np.column_stack([table.exit, leaving]),
        limits=np.append(table.limits, each.limit_mb),
        watts=watts,
    )


def _device(entry: Any, where: str) -> Described:
    if not isinstance(entry, dict):
        raise _refused(f"{where} is not a JSON object")
    name, like = _name(entry, "name", where), _name(entry, "like", where)
    where = f"{where}, {clean(name, 30)}"
    unknown = sorted(set(entry) - FIELDS)
    if unknown:
        raise _refused(f"{where}: unknown field {clean(unknown[0], 30)!r}")
    unsupported = entry.get("unsupported", [])
    if not isinstance(unsupported, list) or not all(isinstance(op, str) for op in unsupported):
        raise _refused(f"{where}: unsupported must list types of operations")
    return Described(
        name=name,
        like=like,
        times=_times(entry, where),
        cut=_pair(entry, "cut", where) if "cut" in entry else None,
        unsupported=frozenset(unsupported),
        limit_mb=_number(entry, "limit", where) if "limit" in entry else math.inf,
        watts=_watts(entry, where),
    )


def _times(entry: Mapping[str, Any], where: str) -> float:
    """As given, or at a frequency from two times: t = gamma / f + epsilon (equation 3), by that at the highest."""
    if "mhz" not in entry:
        return _number(entry, "times", where, least=0.0) if "times" in entry else 1.0
    if "times" in entry:
        raise _refused(f"{where}: times and mhz exclude each other")
    lowest, highest = _pair(entry, "lowest", where), _pair(entry, "highest", where)
    mhz = _number(entry, "mhz", where)
    if not lowest[0] <= mhz <= highest[0]:
        raise _refused(f"{where}: {mhz:g} MHz do not lie between the lowest and the highest frequency")
    if highest[1] == 0:
        raise _refused(f"{where}: the time at the highest frequency must be above 0")
    return fit_time(lowest, highest).at(mhz) / highest[1]


def _watts(entry: Mapping[str, Any], where: str) -> float | None:
    """As reported, at the highest frequency; with volts at this one: P = V² f / (Vmax² fmax) x Pmax (equation 5)."""
    if "watts" not in entry:
        return None
    dynamic, static = _number(entry, "watts", where), _number(entry, "static_watts", where, otherwise=0.0)
    if "volts" in entry or "top_volts" in entry:
        top = _pair(entry, "highest", where)[0]
        level = Level(_number(entry, "volts", where), _number(entry, "mhz", where))
        dynamic = dynamic_power(level, Level(_number(entry, "top_volts", where), top), dynamic)
    return dynamic + static


def _name(entry: Mapping[str, Any], key: str, where: str) -> str:
    name = entry.get(key)
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME:
        raise _refused(f"{where}: {key} must be a name of 1 to {LONGEST_NAME} characters")
    return name


def _pair(entry: Mapping[str, Any], key: str, where: str) -> tuple[float, float]:
    found = entry.get(key)
    if not isinstance(found, list) or len(found) != 2:
        raise _refused(f"{where}: {key} must be two numbers")
    return _checked(found[0], f"{where}: {key}"), _checked(found[1], f"{where}: {key}")


def _number(
    entry: Mapping[str, Any], key: str, where: str, *, least: float | None = None, otherwise: float | None = None
) -> float:
    if key not in entry and otherwise is not None:
        return otherwise
    value = _checked(entry.get(key), f"{where}: {key}")
    if least is not None and value <= least:
        raise _refused(f"{where}: {key} must be more than {least:g}")
    return value


def _checked(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST:
        raise _refused(f"{where} must be a number of 0 or more")
    return float(value)


def _no_constant(name: str) -> float:
    raise ValueError(name)


def _refused(why: str) -> HettopError:
    return HettopError("input", why, HINT)
