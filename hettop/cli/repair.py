"""`hettop repair`: write a new recording of all that can be used of a damaged one, and say what cannot."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from hettop.cli.options import make_parser
from hettop.text import clean

if TYPE_CHECKING:
    from hettop.record.repair import Repaired

SUMMARY = "Mend a recording into a new file; the damaged one is only read."
EXAMPLE = """\
  hettop repair session.jsonl -o mended.jsonl
  hettop repair session.jsonl.zst -o mended.jsonl --force"""
NOTES = """\
Every line that is committed and valid is kept as it is. Left out are broken lines and an unfinished last one; samples
that are known to be missing are declared, checksums and contradicting keyframes are made anew, and an end is added
where there is none."""


def run(argv: list[str]) -> int:
    arguments = _parser().parse_args(argv)
    from hettop.record.repair import repair

    done = repair(Path(arguments.file), Path(arguments.output), force=arguments.force)
    if arguments.as_json:
        from hettop.report.document import to_json

        sys.stdout.write(to_json(asdict(done)) + "\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _lines(done, clean(os.fspath(arguments.file)))))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("repair", SUMMARY, EXAMPLE, NOTES)
    parser.add_argument("file", metavar="FILE", help="a recording (.jsonl, .jsonl.zst)")
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="the new file, another than FILE")
    parser.add_argument("--force", action="store_true", help="replace an earlier recording at OUT")
    parser.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")
    return parser


def _lines(done: Repaired, source: str) -> Iterator[str]:
    yield f"{clean(done.path)}: {done.lines:,} lines, {done.samples:,} samples"
    for kind, lines in done.left_out.items():
        yield f"  left out: {lines:,} x {kind}"
    if done.torn_bytes:
        yield f"  the unfinished last line had {done.torn_bytes:,} bytes"
    if done.dropped:
        yield f"  {done.dropped:,} samples were in the lines left out; the new file says so"
    if done.keyframes_renewed:
        yield f"  {done.keyframes_renewed:,} keyframes contradicted the lines that are kept, and were made anew"
    if done.checksums_renewed:
        yield f"  {done.checksums_renewed:,} checksums were made anew"
    if done.end_added or done.end_renewed:
        yield f"  an end was {'added' if done.end_added else 'made anew, with totals of what is kept'}"
    if done.joined_at is not None:
        yield f"  a second recording begins at byte {done.joined_at:,}; to have it, too:"
        yield f"    tail -c +{done.joined_at + 1} {source} > second.jsonl"
