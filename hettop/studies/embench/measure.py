"""Which networks and batches are measured, one after another, and the rows that come of it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from hettop.errors import HettopError
from hettop.models.networks.catalogue import ARCHITECTURES, BATCHES, network, parse_variant
from hettop.session.statistics import Statistics
from hettop.studies.embench.result import NetRow
from hettop.text import clean, nearest

ALL, LIGHT = "all", "light"
LIGHT_MACS = 10**9

NOT_TRIED = "not tried: a smaller batch failed"


def chosen_networks(text: str) -> list[str]:
    """The networks that `--nets` names, those with least work first. Raises HettopError (`usage`)."""
    table_1 = [name for name, each in ARCHITECTURES.items() if each.published is not None]
    names = [part.strip() for part in text.split(",")]
    if names == [ALL]:
        names = table_1
    elif names == [LIGHT]:
        names = [name for name in table_1 if macs_of(name) < LIGHT_MACS]
    for name in names:
        if name not in ARCHITECTURES:
            near = nearest(name, ARCHITECTURES)
            raise HettopError(
                "usage", f"unknown network: {clean(name, 40)!r}", f"{near} hettop models lists them".strip()
            )
    return sorted(dict.fromkeys(names), key=macs_of)


def chosen_batches(text: str) -> list[int]:
    """The batches that `--batches` names, the smallest first. Raises HettopError (`usage`)."""
    found = set()
    for part in text.split(","):
        if not part.strip().isascii() or not part.strip().isdigit() or int(part) not in BATCHES:
            raise HettopError("usage", f"invalid batch size: {clean(part, 40)!r}", "write --batches 1,2,4,8,16")
        found.add(int(part))
    return sorted(found)


def macs_of(name: str) -> int:
    """Multiply-accumulates of one image."""
    return network(parse_variant(name)).macs


@dataclass(frozen=True, slots=True)
class Point:
    """A network with a batch."""

    network: str
    batch: int

    @property
    def model(self) -> str:
        return f"{self.network}:b{self.batch}"

    def row(self, unit: str, measured: Statistics | None, why: str = "", *, tried: bool = True) -> NetRow:
        """The row of a unit; `why` it was not measured, where nothing was."""
        built = network(parse_variant(self.network))
        published = ARCHITECTURES[self.network].published
        row = NetRow(
            network=self.network,
            batch=self.batch,
            unit=unit,
            macs=built.macs,
            parameters=built.published_parameters,
            top1_percent=None if published is None else published.top1_percent,
        )
        if measured is None or not measured.n:
            error = why if measured is None or measured.error is None else measured.error.message
            return msgspec.structs.replace(row, error=error or "nothing was measured", tried=tried)
        energy = measured.energy_mj_per_inference
        return msgspec.structs.replace(
            row,
            n=measured.n,
            min_ms=measured.min_ms,
            mean_ms=measured.mean_ms,
            p50_ms=measured.p50_ms,
            p90_ms=measured.p90_ms,
            items_per_s=1e3 * self.batch / measured.min_ms if measured.min_ms else None,
            energy_mj=None if energy is None else energy / self.batch,
        )


def points_of(networks: Sequence[str], batches: Sequence[int]) -> list[Point]:
    """Every batch of a network before the next network."""
    return [Point(name, batch) for name in networks for batch in batches]


class Conditions(msgspec.Struct, frozen=True, kw_only=True):
    """How rows were measured: rows of other conditions are not mixed with them."""

    embench: int = 1
    warmup: int
    runs: int
    rest_ns: int
    backend: str
    chip: str
    hettop: str


def _is_whole(row: NetRow) -> bool:
    """Whether a row has what figures are made of, or the reason why nothing was measured."""
    return bool(row.macs and (row.error or (row.n and row.min_ms and row.items_per_s)))


@dataclass(slots=True)
class Kept:
    """The rows so far, in a file if there is one: the conditions, then a row per line.

    The file is locked from `read` to `close`: two that measure at once would disturb each other and mix their rows.
    """

    path: Path | None
    conditions: Conditions
    rows: dict[tuple[str, int, str], NetRow] = field(default_factory=dict)
    _lock: int | None = None

    def read(self) -> None:
        """Take over what the file holds; a row that is not whole is missing, and measured again.

        Raises HettopError: `usage` for other conditions or a file that another hettop holds, `format`, `io`.
        """
        if self.path is None:
            return
        self._hold(self.path)
        if not self.path.stat().st_size:
            self._write(msgspec.json.encode(self.conditions))
            return
        first, *lines = self._lines()
        self._check(first)
        for line in lines:
            try:
                row = msgspec.json.decode(line, type=NetRow)
            except msgspec.DecodeError:
                continue  # the last line of a run that was killed
            if _is_whole(row):
                self.rows[row.network, row.batch, row.unit] = row

    def close(self) -> None:
        """Let another hettop have the file."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def add(self, row: NetRow) -> None:
        """Raises HettopError (`io`)."""
        self.rows[row.network, row.batch, row.unit] = row
        if self.path is not None:
            self._write(msgspec.json.encode(row))

    def missing(self, point: Point, units: Sequence[str]) -> tuple[str, ...]:
        """The units of which the point has no row."""
        return tuple(unit for unit in units if (point.network, point.batch, unit) not in self.rows)

    def failed(self, point: Point, unit: str) -> bool:
        """Whether a smaller batch of the network failed on the unit."""
        smaller = (row for (name, batch, on), row in self.rows.items()
                   if name == point.network and on == unit and batch < point.batch)  # fmt: skip
        return any(row.error is not None for row in smaller)

    def ordered(self, points: Sequence[Point], units: Sequence[str]) -> list[NetRow]:
        """The rows of these points, in their order; rows of others in the file are left out."""
        places: Mapping[tuple[str, int, str], NetRow] = self.rows
        keys = ((point.network, point.batch, unit) for point in points for unit in units)
        return [places[key] for key in keys if key in places]

    def _hold(self, path: Path) -> None:
        try:
            self._lock = os.open(path, os.O_RDONLY | os.O_CREAT, 0o666)
        except OSError as error:
            raise HettopError("io", f"cannot open {self._name}: {error.strerror}") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self.close()
            raise HettopError(
                "usage", f"{self._name} is in use by another hettop", "wait for its end, or name another file"
            ) from error
        except OSError:
            pass  # a file system without locks

    @property
    def _name(self) -> str:
        return "" if self.path is None else clean(str(self.path))

    def _lines(self) -> Iterator[bytes]:
        try:
            yield from (self.path or Path()).read_bytes().splitlines() or [b""]
        except OSError as error:
            raise HettopError("io", f"cannot read {self._name}: {error.strerror}") from error

    def _check(self, line: bytes) -> None:
        name = clean((self.path or Path()).name)
        try:
            before = msgspec.json.decode(line, type=Conditions)
        except msgspec.DecodeError as error:
            raise HettopError("format", f"{name} holds no rows of hettop embench", "name a new file") from error
        ours, theirs = msgspec.structs.asdict(self.conditions), msgspec.structs.asdict(before)
        other = [f"{key} {theirs[key]} instead of {ours[key]}" for key in ours if ours[key] != theirs[key]]
        if other:
            raise HettopError(
                "usage", f"rows in {name} were measured otherwise: {clean(', '.join(other))}", "name a new file"
            )

    def _write(self, line: bytes) -> None:
        try:
            with (self.path or Path()).open("ab") as file:
                file.write(line + b"\n")
        except OSError as error:
            raise HettopError("io", f"cannot write {self._name}: {error.strerror}") from error
