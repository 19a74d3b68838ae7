"""The file of a cost table: checked when it is read, with the place of what is wrong, and written as it is read."""

from __future__ import annotations

import json
import math
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from hettop.errors import HettopError
from hettop.studies.plan.slicing.costs import ENERGY, UNITS, CostTable, Floats, kind_of
from hettop.studies.plan.slicing.levels import Levels, levels_of, with_levels
from hettop.text import clean

LARGEST_FILE = 64 << 20
MOST_LAYERS, MOST_DEVICES = 5_000, 500  # planning takes layers² x devices; more than these is not a model
LARGEST = 1e15
"""Of any number in a file: beyond it, sums of doubles lose the thousandths that others count in."""

LONGEST_NAME = 60
FORMAT_HINT = "see docs/method/slicing.md or hettop plan --help"


def load_costs(path: Path) -> CostTable:
    """The table in a file. Raises HettopError: `missing`, `io`, `input`."""
    name = clean(str(path))
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise HettopError("input", f"{name} is not a regular file", FORMAT_HINT)
        if status.st_size > LARGEST_FILE:
            raise HettopError("input", f"cost table too large: {name}", FORMAT_HINT)
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise HettopError("missing", f"file not found: {name}", FORMAT_HINT) from error
    except OSError as error:
        raise HettopError("io", f"{name} cannot be read: {error.strerror}", "check its permissions") from error
    try:
        return read_costs(data)
    except HettopError as error:
        raise HettopError(error.kind, f"{name}: {error.message}", error.hint) from error


def written_costs(table: CostTable) -> str:
    """The table as `read_costs` reads it, a JSON text."""
    fields = {
        "L": table.layers,
        "D": list(table.devices),
        "e": _cells(table.execution),
        "cin": _cells(table.entry),
        "cout": _cells(table.exit),
        "size": table.sizes.tolist(),
        "limit": {
            device: limit
            for device, limit in zip(table.devices, table.limits.tolist(), strict=True)
            if math.isfinite(limit)
        },
        **({} if table.unit is None else {"unit": table.unit}),
        **({} if table.watts is None else {"P": table.watts.tolist()}),
        **({"fallback": list(table.fallback)} if table.fallback else {}),
    }
    return json.dumps(fields) + "\n"


def _cells(costs: Floats) -> list[list[float | None]]:
    return [[cell if math.isfinite(cell) else None for cell in row] for row in costs.tolist()]


def read_costs(data: bytes | str) -> CostTable:
    """The table that a JSON text holds. Raises HettopError: `input`, naming what is wrong and where."""
    fields = _parsed(data)
    layers, devices = _layers(fields), _devices(fields)
    execution, entry, leaving = (_table(fields, key, layers, devices) for key in ("e", "cin", "cout"))
    limits = _limits(fields, devices)
    table = CostTable(
        devices=devices,
        execution=execution,
        entry=entry,
        exit=leaving,
        sizes=_sizes(fields, layers, needed=bool(np.isfinite(limits).any())),
        limits=limits,
        watts=_watts(fields, layers, devices),
        unit=_unit(fields),
        fallback=_fallback(fields, devices),
    )
    return with_levels(table, _levels(fields, table))


def _parsed(data: bytes | str) -> Mapping[str, Any]:
    try:
        fields = json.loads(data, parse_constant=_no_constant)
    except HettopError:
        raise
    except UnicodeDecodeError as error:
        raise _refused("not a text file") from error
    except json.JSONDecodeError as error:
        raise _refused(f"not valid JSON: {error.msg} in line {error.lineno}") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; brackets without end
        raise _refused("not valid JSON") from error
    if not isinstance(fields, dict):
        raise _refused("not a JSON object")
    if "cases" in fields and "e" not in fields:
        raise _refused("it contains several cases: pass one of them as its own file")
    return fields


def _layers(fields: Mapping[str, Any]) -> int:
    layers = fields.get("L")
    if not isinstance(layers, int) or isinstance(layers, bool) or not 1 <= layers <= MOST_LAYERS:
        raise _refused(f"L, the number of layers, must be a whole number of 1 to {MOST_LAYERS:,}")
    return layers


def _devices(fields: Mapping[str, Any]) -> tuple[str, ...]:
    devices = fields.get("D")
    if not isinstance(devices, list) or not 1 <= len(devices) <= MOST_DEVICES:
        raise _refused(f"D must list 1 to {MOST_DEVICES} devices by name")
    for name in devices:
        if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME:
            raise _refused(f"D: a device's name must be a text of 1 to {LONGEST_NAME} characters")
        if not name.isprintable() or "," in name:  # neither a page nor a plan could be reported from another
            raise _refused(
                f"D: {clean(name, 60)!r} has characters that are not valid in a device name (such as commas)"
            )
    if len(set(devices)) < len(devices):
        raise _refused("D lists a device twice")
    return tuple(devices)


def _table(fields: Mapping[str, Any], key: str, layers: int, devices: Sequence[str]) -> Floats:
    """Numbers by layer and device; null is infinite."""
    table = np.empty((layers, len(devices)))
    for layer, row in enumerate(_list(fields, key, layers, "a row for each layer")):
        where = f"{key}, layer {layer + 1}"
        if not isinstance(row, list):
            raise _refused(f"{where}: not a list of {len(devices)} numbers, one for each device")
        if len(row) != len(devices):
            raise _refused(f"{where}: {len(row)} numbers for {len(devices)} devices")
        for device, cell in enumerate(row):
            table[layer, device] = _number(cell, f"{where}, {clean(devices[device], 30)}", null=math.inf)
    return table


def _sizes(fields: Mapping[str, Any], layers: int, *, needed: bool) -> Floats:
    if fields.get("size") is None and not needed:
        return np.zeros(layers)
    sizes = _list(fields, "size", layers, "the MB of each layer, required by limit")
    return np.array([_number(size, f"size of layer {number}") for number, size in enumerate(sizes, start=1)])


def _limits(fields: Mapping[str, Any], devices: Sequence[str]) -> Floats:
    limits = fields.get("limit")
    if limits is None:
        return np.full(len(devices), math.inf)
    if not isinstance(limits, dict):
        raise _refused("limit must map devices to the MB a slice may have there")
    for name in limits:
        if name not in devices:
            known = ", ".join(clean(device, 30) for device in devices[:8])
            raise _refused(f"limit: unknown device {clean(name, 60)!r} (D has {known})")
    return np.array([_number(limits.get(name), f"limit of {clean(name, 30)}", null=math.inf) for name in devices])


def _watts(fields: Mapping[str, Any], layers: int, devices: Sequence[str]) -> Floats | None:
    """Power by layer and device, from a list by device or a table by both."""
    power = fields.get("P")
    if power is None:
        return None
    if not isinstance(power, list) or not power:
        raise _refused("P must list the watts of each device, or of each layer and device")
    rows = power if isinstance(power[0], list) else [power] * layers
    watts = _table({"P": rows}, "P", layers, devices)
    if not np.isfinite(watts).all():
        raise _refused("P: a power must be a number")
    return watts


def _unit(fields: Mapping[str, Any]) -> str | None:
    unit = fields.get("unit")
    if unit is None or (isinstance(unit, str) and unit in UNITS.values()):
        return unit
    raise _refused(f"unit must be {' or '.join(UNITS.values())}")


def _fallback(fields: Mapping[str, Any], devices: Sequence[str]) -> tuple[str, ...]:
    names = fields.get("fallback", [])
    if not isinstance(names, list):
        raise _refused("fallback must list devices of D")
    known = {*devices, *(kind_of(device) for device in devices)}
    for name in names:
        if not isinstance(name, str) or name not in known:
            raise _refused(f"fallback: unknown device {clean(str(name), 60)!r}")
    return tuple(names)


def _levels(fields: Mapping[str, Any], table: CostTable) -> dict[str, Levels]:
    """Of each device by its name without frequency: [volts, MHz], the lowest first; with its static power in W."""
    levels, static = fields.get("levels", {}), fields.get("static", {})
    if not isinstance(levels, dict) or not isinstance(static, dict):
        raise _refused("levels and static must map devices to [volts, MHz] of each frequency, and to static watts")
    unknown = next((name for name in static if name not in levels), None)
    if unknown is not None:
        raise _refused(f"static: {clean(unknown, 60)!r} has no levels")
    if levels and (table.unit == UNITS[ENERGY] or (table.unit is None and table.watts is None)):
        raise _refused("levels need costs in ms: set unit, and P for energy")
    steps = {name: [_step(step, f"levels of {clean(name, 30)}") for step in _steps(name, levels)] for name in levels}
    total = len(table.devices) + sum(map(len, steps.values()))
    if total > MOST_DEVICES:
        raise _refused(f"levels: {total} devices, more than {MOST_DEVICES}")
    return {
        name: levels_of(name, each, _number(static.get(name, 0), f"static of {clean(name, 30)}"))
        for name, each in steps.items()
    }


def _steps(name: str, levels: Mapping[str, Any]) -> list[Any]:
    if not isinstance(levels[name], list):
        raise _refused(f"levels of {clean(name, 30)}: not a list of [volts, MHz]")
    return list(levels[name])


def _step(step: Any, where: str) -> tuple[float, float]:
    if not isinstance(step, list) or len(step) != 2:
        raise _refused(f"{where}: not [volts, MHz]")
    return _number(step[0], where, null=0.0), _number(step[1], where)


def _list(fields: Mapping[str, Any], key: str, length: int, what: str) -> list[Any]:
    found = fields.get(key)
    if not isinstance(found, list):
        raise _refused(f"{key} is missing: {what}" if found is None else f"{key} must be a list: {what}")
    if len(found) != length:
        raise _refused(f"{key} has {len(found)} entries for {length} layers")
    return found


def _number(value: Any, where: str, null: float | None = None) -> float:
    """A number that is not negative; `null` is what null stands for, None if it must not be there."""
    if value is None and null is not None:
        return null
    if isinstance(value, bool) or not isinstance(value, int | float):
        kind = "null" if value is None else "not a number"
        raise _refused(f"{where}: {kind}")
    if value < 0:
        raise _refused(f"{where}: {value:.6g} is negative" if value > -LARGEST else f"{where}: negative")
    if value > LARGEST:  # infinity, too: 1e999 is JSON
        raise _refused(f"{where}: larger than {LARGEST:.0e}")
    return float(value)


def _no_constant(name: str) -> NoReturn:
    raise _refused(f"{name} is not valid JSON: use null where a device cannot run a layer")


def _refused(why: str) -> HettopError:
    return HettopError("input", why, FORMAT_HINT)
