"""What describes a model to whoever runs or shows it: its ports and its inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Feed = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output of a model. `shape` holds ints, and names or None where an axis is dynamic.

    kind: `array`, `image`, `scalar`, `state`, or the model format's own word for what is not an array.
    usual: the shape that the model itself proposes where axes are dynamic.
    ranges: the least and greatest length (None: no limit) per axis; choices: the shapes allowed. Empty: anything goes.
    optional, fill: whether it may be left out, and the value that then fills it.
    color: of an image, `RGB`, `BGR`, `GRAYSCALE` or `GRAYSCALE_FLOAT16`.
    """

    name: str
    dtype: str = "float32"
    shape: tuple[int | str | None, ...] = ()
    kind: str = "array"
    optional: bool = False
    usual: tuple[int, ...] | None = None
    ranges: tuple[tuple[int, int | None], ...] = ()
    choices: tuple[tuple[int, ...], ...] = ()
    fill: float | None = None
    color: str | None = None

    def describe(self) -> str:
        """`name dtype[1,3,?,?]`, for people."""
        axes = ",".join(str(axis) if isinstance(axis, int) else "?" for axis in self.shape)
        return f"{self.name} {self.dtype}[{axes}]"


@dataclass(frozen=True, slots=True)
class InputOptions:
    """How inputs are made: by seed, with shapes for dynamic axes, and values or files (`.npy`, image) by name."""

    seed: int = 0
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
