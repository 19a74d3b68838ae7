"""`hettop verify`: whether a recording is whole, and what is wrong with it where."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from hettop.exits import EXIT_FAILED_THRESHOLD
from hettop.record.verify import Verification, verify
from hettop.report.document import to_json
from hettop.text import clean

DEFECTS_SHOWN = 20


def run(arguments: argparse.Namespace) -> int:
    path = Path(arguments.file)
    found = verify(path)
    if arguments.as_json:
        sys.stdout.write(to_json(found.document()) + "\n")
    else:
        sys.stdout.write("\n".join(_lines(found, clean(os.fspath(path)))) + "\n")
    return 0 if found.ok else EXIT_FAILED_THRESHOLD


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
