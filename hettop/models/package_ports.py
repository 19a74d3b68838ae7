"""The ports of a Core ML model as the engine's: what its description allows, in the engine's words."""

from __future__ import annotations

from dataclasses import replace

from hettop.models.mil.ports import Port as Described
from hettop.models.ports import Port


def package_port(port: Described) -> Port:
    """An axis is None where its length is free; the description's own shape becomes the usual one."""
    known = tuple(length for length in port.shape if length is not None)
    return Port(
        name=port.name,
        dtype=port.dtype,
        shape=tuple(length if _is_fixed(port, axis) else None for axis, length in enumerate(port.shape)),
        kind=port.kind,
        optional=port.optional,
        usual=known if port.flexible and len(known) == len(port.shape) else None,
        ranges=port.ranges,
        choices=port.choices,
        fill=port.default,
        color=port.color,
    )


def described(port: Port, described_as: Described) -> Port:
    """A translated model's input with what the description says of it; type and names of axes are the translation's."""
    package = package_port(described_as)
    if len(package.shape) != len(port.shape):
        return replace(port, kind=package.kind, optional=package.optional, fill=package.fill, color=package.color)
    shape = tuple(wide if fixed is None else fixed for wide, fixed in zip(port.shape, package.shape, strict=True))
    return replace(package, dtype=port.dtype, shape=shape)


def _is_fixed(port: Described, axis: int) -> bool:
    if port.ranges:
        low, high = port.ranges[axis]
        return low == high
    return all(len(choice) == len(port.shape) and choice[axis] == port.shape[axis] for choice in port.choices)
