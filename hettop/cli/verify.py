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
    lines.append(f"  {report.lines:,} lines, {report.samples:,} samples, {report.keyframes} keyframes")
    counted = (
        (report.bad_lines, "invalid lines"),
        (report.backwards, "lines out of order in time"),
        (report.torn_bytes, "bytes of an incomplete last line"),
        (report.crc_errors, "checksums differ: lines before them were changed"),
        (found.keyframe_errors, "keyframes contradict the lines before them"),
        (found.wrong_totals, "totals at the end differ from the lines"),
        (report.joined, "second recording in the file, which is not read"),
        (report.unknown_kinds, "lines of unknown kinds, of a newer hettop (not a defect)"),
        (report.blank, "blank lines (not a defect)"),
        (found.session.dropped, "samples dropped while recording, declared in the file (not a defect)"),
    )
    lines += [f"  {number:,} {what}" for number, what in counted if number]
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
        yield f"  the incomplete last line had {done.torn_bytes:,} bytes"
    if done.dropped:
        yield f"  {done.dropped:,} samples were in the lines left out; the new file declares them"
    if done.keyframes_renewed:
        yield f"  {done.keyframes_renewed:,} keyframes contradicted the remaining lines and were written again"
    if done.checksums_renewed:
        yield f"  {done.checksums_renewed:,} checksums were written again"
    if done.end_added or done.end_renewed:
        yield f"  the end was {'added' if done.end_added else 'written again, with new totals'}"
    if done.joined_at is not None:
        yield f"  a second recording begins at byte {done.joined_at:,}; extract it with:"
        yield f"    tail -c +{done.joined_at + 1} {source} > second.jsonl"
