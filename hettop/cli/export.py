"""`hettop export`: a recording in the format of another program, as a page, as a picture, or compressed."""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hettop.cli.options import duration_ns, make_parser
from hettop.errors import HettopError
from hettop.export.formats import FORMATS, Files, Format, Stream
from hettop.text import clean

if TYPE_CHECKING:
    from hettop.record.opened import Recording

SUMMARY = "Write a recording in another format."
EXAMPLE = """\
  hettop export session.jsonl --to csv                 session.csv, and session.power.csv if there is power
  hettop export session.jsonl --to html -o report.html
  hettop export session.jsonl --to svg --at 90s        the screen at that moment
  hettop export session.jsonl --to zst                 session.jsonl.zst; the original stays
  hettop export session.jsonl --to csv -o - | head     one table, into a pipe"""
PICTURE = Format("svg", ".svg", "the screen at one moment (--at, else the end)", (b"<svg",), "")
COMPRESSED = Format("zst", ".jsonl.zst", "the recording itself, compressed (extra: zst)", (b"\x28\xb5\x2f\xfd",), "")
ALL = {**FORMATS, PICTURE.name: PICTURE, COMPRESSED.name: COMPRESSED}
NOTES = "formats:\n" + "\n".join(f"  {made.name:<12} {made.summary}" for made in ALL.values())
PIPE = "-"
SMALLEST_SCREEN, LARGEST_SCREEN = 20, 400
_SIZE = re.compile(r"(\d{2,3})x(\d{2,3})")


def run(argv: list[str]) -> int:
    arguments = _parser().parse_args(argv)
    chosen = ALL[arguments.to]
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


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("export", SUMMARY, EXAMPLE, NOTES)
    parser.add_argument("file", metavar="FILE", help="a recording (.jsonl, .jsonl.zst)")
    parser.add_argument("--to", required=True, choices=list(ALL), help="the format")
    parser.add_argument("-o", "--output", metavar="OUT", help="the file (beside FILE, under its name); - for a pipe")
    parser.add_argument("--force", action="store_true", help="replace an earlier export in the same format")
    parser.add_argument("--at", type=duration_ns, metavar="90s", help="svg: the moment to show")
    parser.add_argument("--size", type=_screen_size, metavar="120x40", help="svg: columns and rows of the screen")
    parser.add_argument("--theme", metavar="T", help="svg: colour theme")
    parser.add_argument("--refold", action="store_true", help="svg: compute from the start, not from saved states")
    return parser


def _screen_size(text: str) -> tuple[int, int]:
    found = _SIZE.fullmatch(text)
    size = (int(found[1]), int(found[2])) if found else (0, 0)
    if not all(SMALLEST_SCREEN <= side <= LARGEST_SCREEN for side in size):
        raise argparse.ArgumentTypeError(f"{text!r} is no size; write 120x40 (20 to 400)")
    return size


def _written(source: Path, out: Path, chosen: Format, arguments: argparse.Namespace) -> list[Path]:
    if chosen is COMPRESSED:
        from hettop.record.pack import pack

        pack(source, out, force=arguments.force)
        return [out]
    if chosen is PICTURE:
        return _drawn(source, out, arguments)
    recording = _opened(source)
    with Files(out, chosen.beginnings, force=arguments.force) as files:
        chosen.load()(recording, files)
    _warn_of_skipped(recording)
    return files.paths


def _drawn(source: Path, out: Path, arguments: argparse.Namespace) -> list[Path]:
    from hettop.app.picture import DEFAULT_SIZE, picture
    from hettop.cli.screen import check_theme

    if arguments.theme is not None:
        check_theme(arguments.theme)
    with Files(out, PICTURE.beginnings, force=arguments.force) as files:
        size = arguments.size or DEFAULT_SIZE
        svg = picture(source, arguments.at, size, arguments.theme, refold=arguments.refold)
        files.main().write(svg.encode())
    return files.paths


def _to_pipe(source: Path, chosen: Format) -> int:
    if chosen.name not in FORMATS:
        raise HettopError("usage", f"{chosen.name} is written to a file only", "name one with -o")
    if sys.stdout.isatty():
        raise HettopError("usage", "an export is for files and pipes, not for a terminal", "name a file with -o")
    chosen.load()(_opened(source), Stream(sys.stdout.buffer))
    sys.stdout.buffer.flush()
    return 0


def _opened(source: Path) -> Recording:
    from hettop.record.opened import open_recording

    return open_recording(source)


def _warn_of_skipped(recording: Recording) -> None:
    for kind, lines in recording.report.skipped.items():
        sys.stderr.write(f"hettop: skipped {lines} lines: {kind}\n")
