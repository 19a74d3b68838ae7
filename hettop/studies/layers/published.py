"""Roofs of chips as others published them, each with its source, and what they would allow a layer."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hettop.errors import HettopError
from hettop.studies.layers.result import COMPUTE, FLOPS_PER_MAC, MEMORY
from hettop.text import clean

FILE = Path(__file__).with_name("published_roofs.toml")


@dataclass(frozen=True, slots=True)
class PublishedRoof:
    """What a source says that a device of a chip can do; None where it says nothing.

    precision: the type of number the peak is of, empty where the source does not say. doubt: why it is not used as a
    roof; it is only shown.
    """

    device: str
    gflops: float | None
    gbytes_per_s: float | None
    precision: str
    source: str
    where: str
    doubt: str = ""

    @property
    def ridge(self) -> float | None:
        """FLOP per byte from which on computing is the limit; None without both roofs, or in doubt."""
        if self.gflops is None or self.gbytes_per_s is None or self.doubt:
            return None
        return self.gflops / self.gbytes_per_s

    def bound(self, oi: float | None) -> str | None:
        """`compute` or `memory` by the ridge, for MACs per byte; None where that is unknown."""
        if oi is None or self.ridge is None:
            return None
        return COMPUTE if FLOPS_PER_MAC * oi > self.ridge else MEMORY

    def attainable(self, oi: float | None) -> float | None:
        """GFLOP/s under both roofs: min(peak, intensity x bandwidth); None where one of them is unknown."""
        if oi is None or self.ridge is None or self.gflops is None or self.gbytes_per_s is None:
            return None
        return min(self.gflops, FLOPS_PER_MAC * oi * self.gbytes_per_s)


@dataclass(frozen=True, slots=True)
class Chip:
    name: str
    kind: str
    devices: tuple[PublishedRoof, ...]

    def device(self, name: str | None) -> PublishedRoof:
        """The device of that name; None: the fastest of those with both roofs, else the first.

        Raises HettopError: `usage`.
        """
        if name is None:
            usable = [each for each in self.devices if each.ridge is not None]
            return max(usable, key=lambda each: each.gflops or 0.0, default=self.devices[0])
        for each in self.devices:
            if _same(each.device, name):
                return each
        known = ", ".join(each.device for each in self.devices)
        raise HettopError("usage", f"invalid device {clean(name)!r} of {self.name}", f"valid devices: {known}")


@dataclass(frozen=True, slots=True)
class Work:
    """A layer's work, whatever runs it. `oi` in MACs per byte."""

    name: str
    op: str
    macs: int
    nbytes: int | None

    @property
    def oi(self) -> float | None:
        return self.macs / self.nbytes if self.nbytes else None


def least_ms(roof: PublishedRoof, work: Sequence[Work]) -> float | None:
    """The least time that all the work takes under the roofs, one layer after another; None where one is unknown."""
    rates = [roof.attainable(layer.oi) for layer in work]
    if not work or any(rate is None for rate in rates):
        return None
    return math.fsum(FLOPS_PER_MAC * each.macs / (rate * 1e6) for each, rate in zip(work, rates, strict=True) if rate)


def read_chips(file: Path = FILE) -> tuple[Chip, ...]:
    """All chips of the file."""
    with file.open("rb") as stream:
        document = tomllib.load(stream)
    sources: dict[str, str] = document["sources"]
    return tuple(
        Chip(chip["name"], chip["kind"], tuple(_roof(each, sources) for each in chip["device"]))
        for chip in document["chip"]
    )


def find_chip(name: str, chips: Sequence[Chip]) -> Chip:
    """The chip of that name, however it is written. Raises HettopError: `usage`, naming those there are."""
    for chip in chips:
        if _same(chip.name, name):
            return chip
    known = ", ".join(chip.name for chip in chips)
    raise HettopError("usage", f"unknown chip {clean(name)!r}", f"known chips: {known}")


def _roof(entry: dict[str, Any], sources: dict[str, str]) -> PublishedRoof:
    return PublishedRoof(
        device=entry["name"],
        gflops=entry.get("gflops"),
        gbytes_per_s=entry.get("gbytes_per_s"),
        precision=entry["precision"],
        source=sources[entry["source"]],
        where=entry["where"],
        doubt=entry.get("doubt", ""),
    )


def _same(name: str, written: str) -> bool:
    """`apple m2` is M2, and `exynos-5422` is Exynos 5422."""
    plain = ["".join(letter for letter in text.casefold() if letter.isalnum()) for text in (name, written)]
    return plain[0] == plain[1].removeprefix("apple")
