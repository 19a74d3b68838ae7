"""`hettop export`: a recording as a table, a page, a picture, or compressed."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from hettop.cli.replay import moment_in
from hettop.cli.screen import check_theme
from hettop.console.messages import warn_of_damage
from hettop.errors import HettopError
from hettop.export.formats import COMPRESSED, EXPORT_FORMATS, PAGE, PICTURE, Export, Files, Format, Stream
from hettop.record.opened import Recording, open_recording
from hettop.record.pack import pack
from hettop.text import clean

PIPE = "-"


def run(arguments: argparse.Namespace) -> int:
    chosen = _format(arguments)
    for option, given in (
        ("--at", arguments.at),
        ("--size", arguments.size),
        ("--theme", arguments.theme),
        ("--refold", arguments.refold or None),
    ):
        if given is not None and chosen is not PICTURE:
            raise HettopError("usage", f"{option} needs --to svg, not {chosen.name}", f"leave out {option}")
    source = Path(arguments.file)
    if arguments.output == PIPE:
        return _to_pipe(source, chosen)
    out = Path(arguments.output) if arguments.output else default_output(source, chosen.suffix)
    if out.exists() and source.exists() and out.samefile(source):
        raise HettopError("usage", f"OUT is the recording itself: {clean(os.fspath(out))}", "name another file with -o")
    written = _written(source, out, chosen, arguments)
    sys.stdout.write("".join(f"{clean(os.fspath(path))}\n" for path in written))
    return 0


def _format(arguments: argparse.Namespace) -> Format:
    """The format of `--to`, else the one that the file's name ends with. Raises HettopError (`usage`)."""
    if arguments.to is not None:
        return EXPORT_FORMATS[arguments.to]
    suffixes = ", ".join(made.suffix for made in EXPORT_FORMATS.values())
    if arguments.output in (None, PIPE):
        raise HettopError("usage", "missing option: --to or -o", f"add --to {'|'.join(EXPORT_FORMATS)}")
    name = arguments.output.lower()
    for made in EXPORT_FORMATS.values():
        if name.endswith((made.suffix, *OTHER_SUFFIXES.get(made.name, ()))):
            return made
    raise HettopError(
        "usage",
        f"no export format for this file name: {clean(arguments.output)!r}",
        f"name a file with one of {suffixes}, or add --to",
    )


OTHER_SUFFIXES = {"html": (".htm",), "perfetto": (".json", ".perfetto")}


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
    warn_of_damage(recording.report, source)
    return files.paths


def _drawn(source: Path, out: Path, arguments: argparse.Namespace) -> list[Path]:
    from hettop.app.picture import DEFAULT_SIZE, picture

    if arguments.theme is not None:
        check_theme(arguments.theme)
    with Files(out, PICTURE.beginnings, force=arguments.force) as files:
        size = arguments.size or DEFAULT_SIZE
        at_ns = None if arguments.at is None else moment_in(source, arguments.at)
        svg = picture(source, at_ns, size, arguments.theme, refold=arguments.refold)
        files.main().write(svg.encode())
    return files.paths


def _to_pipe(source: Path, chosen: Format) -> int:
    if chosen in (PICTURE, COMPRESSED):
        raise HettopError("usage", f"this format cannot be written to a pipe: {chosen.name}", "name a file with -o")
    if sys.stdout.isatty():
        raise HettopError("usage", "refusing to write an export to a terminal", "name a file with -o, or use a pipe")
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
