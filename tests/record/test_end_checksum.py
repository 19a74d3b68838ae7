"""The end of a recording has a checksum of what follows the last keyframe."""

from __future__ import annotations

import re
from pathlib import Path

from hettop import events
from hettop.record.repair import repair
from hettop.record.verify import verify
from hettop.record.writer import Writer
from tests.streams import header


def recorded(path: Path) -> bytes:
    writer = Writer(path, header())
    for t in (1, 2, 11 * 10**9, 12 * 10**9):
        writer.write(events.Mark(t=t, text="before"))
    writer.close("done")
    return path.read_bytes()


def test_a_change_after_the_last_keyframe_is_found_and_repaired(tmp_path: Path) -> None:
    path, out = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    written = recorded(path)
    assert written.count(b'"keyframe"') == 1
    assert verify(path).ok
    assert verify(path).report.uncovered_bytes == 0
    head, mark, tail = written.rpartition(b"before")
    path.write_bytes(head + b"beforf" + tail)
    found = verify(path)
    assert not found.ok
    assert found.report.crc_errors == 1
    assert mark
    assert repair(path, out).checksums_renewed == 1
    assert verify(out).ok


def test_an_end_without_a_checksum_is_valid_and_says_how_much_is_not_covered(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(re.sub(rb',"crc32":[0-9]+}\n$', b"}\n", recorded(path)))
    lines = path.read_bytes().splitlines(keepends=True)
    keyframe = next(i for i, line in enumerate(lines) if line.startswith(b'{"k":"keyframe"'))
    found = verify(path)
    assert found.ok
    assert found.report.uncovered_bytes == sum(map(len, lines[keyframe + 1 : -1]))
