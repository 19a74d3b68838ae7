"""`hettop verify` and `hettop repair`: what is wrong with a recording where, and a new one of all that can be used."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from hettop.exits import EXIT_FAILED_THRESHOLD
from hettop.record.repair import Repaired, repair
from hettop.record.verify import Verification, verify
from hettop.report.document import head, to_json
from hettop.text import clean

DEFECTS_SHOWN = 20


def run(arguments: argparse.Namespace) -> int:
    path = Path(arguments.file)
    found = verify(path)
    if arguments.as_json:
        sys.stdout.write(to_json({**head("verify"), **found.document()}) + "\n")
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


def run_repair(arguments: argparse.Namespace) -> int:
    done = repair(Path(arguments.file), Path(arguments.output), force=arguments.force)
    if arguments.as_json:
        sys.stdout.write(to_json({**head("repair"), **asdict(done)}) + "\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _repaired_lines(done, clean(os.fspath(arguments.file)))))
    return 0


def _repaired_lines(done: Repaired, source: str) -> Iterator[str]:
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
