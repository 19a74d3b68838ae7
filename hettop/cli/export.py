"""`hettop export`: a recording in the format of another program, as a page, as a picture, or compressed."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from hettop.cli.screen import check_theme
from hettop.errors import HettopError
from hettop.export.formats import COMPRESSED, EXPORT_FORMATS, PAGE, PICTURE, Export, Files, Format, Stream
from hettop.record.opened import Recording, open_recording
from hettop.record.pack import pack
from hettop.text import clean

PIPE = "-"


def run(arguments: argparse.Namespace) -> int:
    chosen = EXPORT_FORMATS[arguments.to]
    for option, given in (
        ("--at", arguments.at),
        ("--size", arguments.size),
        ("--theme", arguments.theme),
        ("--refold", arguments.refold or None),
    ):
        if given is not None and chosen is not PICTURE:
            raise HettopError("usage", f"{option} is for --to svg", "leave it out")
    source = Path(arguments.file)
    if arguments.output == PIPE:
        return _to_pipe(source, chosen)
    out = Path(arguments.output) if arguments.output else default_output(source, chosen.suffix)
    if out.exists() and source.exists() and out.samefile(source):
        raise HettopError("usage", "the recording itself is never written to", "name another file with -o")
    written = _written(source, out, chosen, arguments)
    sys.stdout.write("".join(f"{clean(os.fspath(path))}\n" for path in written))
    return 0


def default_output(source: Path, suffix: str) -> Path:
    """Beside the recording, under its name."""
    name = source.name
    for known in (".jsonl.zst", ".zst", ".jsonl"):
        name = name.removesuffix(known)
    return source.with_name(name + suffix)


def _written(source: Path, out: Path, chosen: Format, arguments: argparse.Namespace) -> list[Path]:
    if chosen is COMPRESSED:
        pack(source, out, force=arguments.force)
        return [out]
    if chosen is PICTURE:
        return _drawn(source, out, arguments)
    recording = _opened(source)
    with Files(out, chosen.beginnings, force=arguments.force) as files:
        _export(chosen)(recording, files)
    _warn_of_skipped(recording)
    return files.paths


def _drawn(source: Path, out: Path, arguments: argparse.Namespace) -> list[Path]:
    from hettop.app.picture import DEFAULT_SIZE, picture

    if arguments.theme is not None:
        check_theme(arguments.theme)
    with Files(out, PICTURE.beginnings, force=arguments.force) as files:
        size = arguments.size or DEFAULT_SIZE
        svg = picture(source, arguments.at, size, arguments.theme, refold=arguments.refold)
        files.main().write(svg.encode())
    return files.paths


def _to_pipe(source: Path, chosen: Format) -> int:
    if chosen in (PICTURE, COMPRESSED):
        raise HettopError("usage", f"{chosen.name} is written to a file only", "name one with -o")
    if sys.stdout.isatty():
        raise HettopError("usage", "an export is for files and pipes, not for a terminal", "name a file with -o")
    _export(chosen)(_opened(source), Stream(sys.stdout.buffer))
    sys.stdout.buffer.flush()
    return 0


def _export(chosen: Format) -> Export:
    if chosen is not PAGE:
        return chosen.load()
    from hettop.app.recording_page import export

    return export


def _opened(source: Path) -> Recording:
    return open_recording(source)


def _warn_of_skipped(recording: Recording) -> None:
    for kind, lines in recording.report.skipped.items():
        sys.stderr.write(f"hettop: skipped {lines} lines: {kind}\n")
