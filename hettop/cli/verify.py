"""`hettop verify` and `hettop repair`: the defects of a recording, and a new recording without them."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from hettop.exits import EXIT_NOT_MET
from hettop.record.repair import Repaired, repair
from hettop.record.verify import Verification, verify
from hettop.report.document import head, to_json
from hettop.text import clean

DEFECTS_SHOWN = 20
NEWER = "of a newer hettop (not a defect)"
DECLARED = "declared in the file: dropped while recording, or in lines that repair removed (not a defect)"


def run(arguments: argparse.Namespace) -> int:
    path = Path(arguments.file)
    found = verify(path)
    if arguments.as_json:
        sys.stdout.write(to_json({**head("verify"), **found.document()}) + "\n")
    else:
        sys.stdout.write("\n".join(_lines(found, clean(os.fspath(path)))) + "\n")
    return 0 if found.ok else EXIT_NOT_MET


def _lines(found: Verification, name: str) -> list[str]:
    report = found.report
    simulated = "SIMULATED · " if found.header.simulated else ""
    lines = [f"{simulated}{name}: {'valid' if found.ok else 'DAMAGED'}"]
    kept = ((report.lines, "line"), (report.samples, "sample"), (report.keyframes, "keyframe"))
    lines.append("  " + ", ".join(_counted(number, what) for number, what in kept))
    counted = (
        (report.bad_lines, "invalid line", "invalid lines"),
        (report.backwards, "line out of order in time", "lines out of order in time"),
        (report.torn_bytes, "byte of an incomplete last line", "bytes of an incomplete last line"),
        (
            report.crc_errors,
            "checksum differs: lines before it were changed",
            "checksums differ: lines before them were changed",
        ),
        (
            found.keyframe_errors,
            "keyframe contradicts the lines before it",
            "keyframes contradict the lines before them",
        ),
        (found.wrong_totals, "total at the end differs from the lines", "totals at the end differ from the lines"),
        (
            report.joined,
            "second recording in the file, which is not read",
            "further recordings in the file, which are not read",
        ),
        (report.unknown_kinds, f"line of an unknown kind, {NEWER}", f"lines of unknown kinds, {NEWER}"),
        (report.blank, "blank line (not a defect)", "blank lines (not a defect)"),
        (found.session.dropped, f"sample missing, {DECLARED}", f"samples missing, {DECLARED}"),
    )
    lines += [f"  {number:,} {one if number == 1 else many}" for number, one, many in counted if number]
    if not report.ended:
        lines.append("  not closed: the last second may be missing (not a defect)")
    if report.uncovered_bytes:
        lines.append(f"  {report.uncovered_bytes:,} bytes not covered by a checksum (not a defect)")
    shown = report.defects[:DEFECTS_SHOWN]
    lines += [f"  at byte {defect.byte:,}: {defect.what}" for defect in shown]
    if len(report.defects) > len(shown):
        lines.append("  … and more; --json lists the first 100")
    if not found.ok:
        lines.append(f"hint: hettop repair {name} -o REPAIRED.jsonl")
    return lines


def _counted(number: int, what: str) -> str:
    """`1 line`, `1,200 lines`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def run_repair(arguments: argparse.Namespace) -> int:
    done = repair(Path(arguments.file), Path(arguments.output), force=arguments.force)
    if arguments.as_json:
        sys.stdout.write(to_json({**head("repair"), **asdict(done)}) + "\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _repaired_lines(done, clean(os.fspath(arguments.file)))))
    return 0


def _repaired_lines(done: Repaired, source: str) -> Iterator[str]:
    yield f"{clean(done.path)}: {_counted(done.lines, 'line')}, {_counted(done.samples, 'sample')}"
    for kind, lines in done.left_out.items():
        yield f"  left out: {lines:,} x {kind}"
    if done.torn_bytes:
        yield f"  the incomplete last line had {_counted(done.torn_bytes, 'byte')}"
    if done.dropped:
        yield f"  {_counted(done.dropped, 'sample')} in the lines left out; the new file declares this"
    if done.keyframes_renewed:
        yield f"  written again: {_counted(done.keyframes_renewed, 'keyframe')} that contradicted the remaining lines"
    if done.checksums_renewed:
        yield f"  written again: {_counted(done.checksums_renewed, 'checksum')}"
    if done.end_added or done.end_renewed:
        yield f"  the end was {'added' if done.end_added else 'written again, with new totals'}"
    if done.joined_at is not None:
        yield f"  a second recording begins at byte {done.joined_at:,}; extract it with:"
        yield f"    tail -c +{done.joined_at + 1} {source} > second.jsonl"
