"""Checksums of the end line and of keyframes find every change in a closed recording, and readers warn of it."""

from __future__ import annotations

import random
import re
from pathlib import Path

from hettop import events
from hettop.record.player import Player
from hettop.record.repair import repair
from hettop.record.verify import verify
from hettop.record.writer import Writer
from tests.record.flips import changed_digit, flipped_bit, is_silent, sealed
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
    path.write_bytes(re.sub(rb',"crc32":[0-9]+,"line_crc32":[0-9]+}\n$', b"}\n", recorded(path)))
    lines = path.read_bytes().splitlines(keepends=True)
    keyframe = next(i for i, line in enumerate(lines) if line.startswith(b'{"k":"keyframe"'))
    found = verify(path)
    assert found.ok
    assert found.report.uncovered_bytes == sum(map(len, lines[keyframe + 1 :]))


def test_no_flipped_bit_and_no_changed_digit_of_a_closed_recording_is_silent(tmp_path: Path) -> None:
    written, path, rng = sealed(recorded(tmp_path / "a.jsonl")), tmp_path / "b.jsonl", random.Random(1)
    path.write_bytes(written)
    assert is_silent(path), "what nobody changed is valid"
    for change in [flipped_bit] * 120 + [changed_digit] * 60:
        path.write_bytes(change(written, rng))
        assert not is_silent(path), path.read_bytes()


def test_a_changed_moment_of_the_end_line_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(recorded(path).replace(b'{"k":"end","t":12000000000', b'{"k":"end","t":13000000000'))
    found = verify(path)
    assert [defect.what for defect in found.report.defects] == ["checksum: the end line was modified"]
    assert repair(path, tmp_path / "b.jsonl").checksums_renewed == 1
    assert verify(tmp_path / "b.jsonl").ok


def test_opening_counts_the_checksums_that_do_not_match(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    written = recorded(path)
    assert Player(path).crc_errors == 0
    path.write_bytes(written.replace(b"before", b"beforf"))
    assert Player(path).crc_errors == 2, "of the keyframe and of the end"
