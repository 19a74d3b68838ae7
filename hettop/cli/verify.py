"""`hettop verify`: whether a recording is whole, and what is wrong with it where."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hettop.cli.options import make_parser
from hettop.text import clean

if TYPE_CHECKING:
    from hettop.record.verify import Verification

SUMMARY = "Check a recording: lines, order of time, checksums, and keyframes against the lines before them."
EXAMPLE = """\
  hettop verify session.jsonl
  hettop verify session.jsonl.zst --json"""
NOTES = """\
Not closed cleanly, as after a crash between two lines, is said and no defect. Kinds of line that a newer hettop has
added are counted and no defect either. Exit codes: 0 whole, 1 damaged, 2 no recording."""
DEFECTS_SHOWN = 20


def run(argv: list[str]) -> int:
    from hettop.exits import EXIT_FAILED_THRESHOLD

    arguments = _parser().parse_args(argv)
    from hettop.record.verify import verify

    path = Path(arguments.file)
    found = verify(path)
    if arguments.as_json:
        from hettop.report.document import to_json

        sys.stdout.write(to_json(found.document()) + "\n")
    else:
        sys.stdout.write("\n".join(_lines(found, clean(os.fspath(path)))) + "\n")
    return 0 if found.ok else EXIT_FAILED_THRESHOLD


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("verify", SUMMARY, EXAMPLE, NOTES)
    parser.add_argument("file", metavar="FILE", help="a recording (.jsonl, .jsonl.zst)")
    parser.add_argument("--json", dest="as_json", action="store_true", help="print one JSON document")
    return parser


def _lines(found: Verification, name: str) -> list[str]:
    report = found.report
    simulated = "SIMULATED · " if found.header.simulated else ""
    lines = [f"{simulated}{name}: {'whole' if found.ok else 'DAMAGED'}"]
    lines.append(f"  {report.lines:,} lines, {report.samples:,} samples, {report.keyframes} keyframes")
    counted = (
        (report.bad_lines, "lines cannot be read"),
        (report.backwards, "lines are out of order in time"),
        (report.torn_bytes, "bytes of an unfinished last line"),
        (report.crc_errors, "checksums differ: the lines before them were changed"),
        (found.keyframe_errors, "keyframes contradict the lines before them"),
        (found.wrong_totals, "totals at the end differ from the lines"),
        (report.joined, "second recording follows, of which nothing is read"),
        (report.unknown_kinds, "lines of kinds that this hettop does not know (no defect)"),
        (report.blank, "blank lines (no defect)"),
        (found.session.dropped, "samples dropped while recording, as the file says itself (no defect)"),
    )
    lines += [f"  {number:,} {what}" for number, what in counted if number]
    if not report.ended:
        lines.append("  it was not closed: the last second may be missing (no defect)")
    shown = report.defects[:DEFECTS_SHOWN]
    lines += [f"  at byte {defect.byte:,}: {defect.what}" for defect in shown]
    if len(report.defects) > len(shown):
        lines.append("  … and more; --json lists the first 100")
    if not found.ok:
        lines.append(f"  to mend it: hettop repair {name} -o REPAIRED.jsonl")
    return lines
