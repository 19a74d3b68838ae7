"""`hettop repair`: write a new recording of all that can be used of a damaged one, and say what cannot."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from hettop.record.repair import Repaired, repair
from hettop.report.document import to_json
from hettop.text import clean


def run(arguments: argparse.Namespace) -> int:
    done = repair(Path(arguments.file), Path(arguments.output), force=arguments.force)
    if arguments.as_json:
        sys.stdout.write(to_json(asdict(done)) + "\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _lines(done, clean(os.fspath(arguments.file)))))
    return 0


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
