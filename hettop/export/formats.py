"""Which formats there are, and what is written where: the registry of exports and their targets.

Imports no format: that happens when one is asked for. Adding one is a module with an `export`, and a line here.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from hettop.errors import HettopError

if TYPE_CHECKING:
    from hettop.record.disk import NewFile
    from hettop.record.opened import Recording


class Target(Protocol):
    """Where an export is written to."""

    def main(self) -> BinaryIO:
        """The file that was asked for."""
        ...

    def beside(self, word: str) -> BinaryIO | None:
        """A second file, named after the first: `run.power.csv`. None where there is room for one alone."""
        ...


Export = Callable[["Recording", Target], None]


@dataclass(frozen=True, slots=True)
class Format:
    """A format: the suffix of its files, what they begin with, and the module of this package that writes them."""

    name: str
    suffix: str
    summary: str
    beginnings: tuple[bytes, ...]
    module: str

    def load(self) -> Export:
        export: Export = importlib.import_module(f"hettop.export.{self.module}").export
        return export


FORMATS = {
    made.name: made
    for made in (
        Format("csv", ".csv", "samples as a table, power as a second table", (b"unit,", b"end_ns,"), "csv_table"),
        Format("parquet", ".parquet", "the same tables with types (extra: parquet)", (b"PAR1",), "parquet_table"),
        Format("perfetto", ".trace.json", "a trace for ui.perfetto.dev", (b'{"displayTimeUnit"',), "perfetto"),
        Format("hdr", ".hlog", "an HdrHistogram log (extra: hdr)", (b"#[HdrHistogram hettop",), "hdr"),
        Format("openmetrics", ".prom", "OpenMetrics text", (b"# TYPE hettop",), "openmetrics"),
    )
}


PICTURE = Format("svg", ".svg", "the screen at one moment (--at, else the end)", (b"<svg",), "")
PAGE = Format("html", ".html", "a self-contained page", (b"<!doctype html>\n<!-- hettop",), "")
COMPRESSED = Format("zst", ".jsonl.zst", "the recording itself, compressed (extra: zst)", (b"\x28\xb5\x2f\xfd",), "")
EXPORT_FORMATS = {**FORMATS, **{made.name: made for made in (PAGE, PICTURE, COMPRESSED)}}
"""All that `hettop export` offers: those above, and three that are no table of the events."""


def needed(library: str, extra: str, what: str) -> Any:
    """The module `library`. Raises HettopError `missing` that says how to get it."""
    try:
        return importlib.import_module(library)
    except ImportError:
        name = library.partition(".")[0]
        raise HettopError("missing", f"{what} needs the {name} package", f"pip install 'hettop[{extra}]'") from None


class Files:
    """A target of files that appear together, when all is written: as a context, at its end."""

    def __init__(self, path: Path, beginnings: tuple[bytes, ...], *, force: bool = False) -> None:
        """Raises HettopError `io` when the file may not be created."""
        self.paths: list[Path] = []
        self._path = path
        self._beginnings = beginnings
        self._force = force
        self._files: list[NewFile] = []
        self._main = self._new(path)

    def main(self) -> BinaryIO:
        return self._main

    def beside(self, word: str) -> BinaryIO:
        return self._new(self._path.with_suffix(f".{word}{self._path.suffix}"))

    def __enter__(self) -> Files:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: Any) -> None:
        while self._files:
            # Each reports what went wrong with it; those after one that failed are discarded.
            file = self._files.pop(0)
            try:
                file.__exit__(kind, error, at)
            except BaseException as failure:
                for other in self._files:
                    other.discard()
                self._files.clear()
                raise failure from None

    def _new(self, path: Path) -> BinaryIO:
        from hettop.record.disk import NewFile

        file = NewFile(path, force=self._force, beginnings=self._beginnings, private=False)
        self._files.append(file)
        self.paths.append(path)
        return file.file


@dataclass(frozen=True, slots=True)
class Stream:
    """A target that is a pipe: one file alone."""

    stream: BinaryIO

    def main(self) -> BinaryIO:
        return self.stream

    def beside(self, word: str) -> None:  # noqa: ARG002 - there is no name to put it beside
        return None
