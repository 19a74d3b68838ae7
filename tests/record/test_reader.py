"""The reader: what it refuses, what it skips and counts, and that it never takes what was not committed."""

from __future__ import annotations

import json
import os
import random
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hettop import events
from hettop.errors import HettopError
from hettop.record.defects import DEFECTS_KEPT
from hettop.record.reader import open_recording
from tests.record.stories import SECOND, flushes, header, read, record, samples_of, window

HEADER = events.encode(header())


def body(*lines: bytes) -> bytes:
    return b"".join(line + b"\n" for line in (HEADER, *lines))


def sample_line(t: int = 1_000, **changes: Any) -> bytes:
    fields: dict[str, Any] = {
        "k": "samples", "t": t, "unit": "A", "condition": "none", "phase": "steady", "t0": 10, "n": 2,
        "gap_ns": [1, 2], "lat_ns": [100, 200], **changes,
    }  # fmt: skip
    return json.dumps({name: value for name, value in fields.items() if value is not ...}).encode()


def save(folder: Path, data: bytes) -> Path:
    path = folder / "a.jsonl"
    path.write_bytes(data)
    return path


REFUSED = {
    "empty": (b"", "empty"),
    "no header": (b'{"a":1}\n{"a":2}\n', "not a hettop header"),
    "another kind first": (sample_line() + b"\n", "not a hettop header"),
    "a torn header": (HEADER[:40], "incomplete"),
    "a header without line feed": (HEADER, "incomplete"),
    "binary": (bytes(range(256)) * 50, "does not start with a header"),
    "text": (b"Hello\n", "does not start with a header"),
    "gzip": (b"\x1f\x8b\x08\x00" + bytes(50), "gzip"),
    "zstd": (b"\x28\xb5\x2f\xfd" + bytes(50), "zstd"),
    "a damaged header": (HEADER.replace(b'"t":0', b'"t":-1') + b"\n", "damaged"),
    "another format": (HEADER.replace(b'"hettop"', b'"other"') + b"\n", "not a hettop header"),
    "deep nesting": (b'{"k":' + b"[" * 200_000 + b"\n", "not a hettop header"),
    "a line of 2 MB": (b'{"k":"header","id":"' + b"x" * 2_000_000 + b'"}\n', "over 1 MiB"),
    "a version of true": (HEADER.replace(b"[1,1]", b"[true,0]") + b"\n", "not a hettop header"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_recording_is_refused_in_words(tmp_path: Path, name: str) -> None:
    data, words = REFUSED[name]
    with pytest.raises(HettopError, match=words) as refusal:
        open_recording(save(tmp_path, data))
    assert refusal.value.kind == "recording"
    assert refusal.value.hint


def test_a_higher_major_version_is_refused_naming_both(tmp_path: Path) -> None:
    newer = json.dumps({"k": "header", "format": "hettop", "version": [2, 0], "all": "else changed"}).encode() + b"\n"
    with pytest.raises(HettopError, match="version 2; this hettop reads version 1"):
        open_recording(save(tmp_path, newer))


def test_a_compressed_file_is_named_with_what_unpacks_it(tmp_path: Path) -> None:
    with pytest.raises(HettopError) as refusal:
        open_recording(save(tmp_path, b"\x28\xb5\x2f\xfd" + bytes(9)))
    assert "zstd -d" in refusal.value.hint


def test_missing_folders_and_pipes_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, words in (
        (".", "folder"),
        ("none", "not found"),
        ("pipe", "not a regular file"),
        ("a\0b", "cannot read"),
    ):
        with pytest.raises(HettopError, match=words):
            open_recording(tmp_path / name)


def test_names_with_escape_characters_reach_no_terminal(tmp_path: Path) -> None:
    with pytest.raises(HettopError) as refusal:
        open_recording(tmp_path / "\x1b[31m.jsonl")
    assert "\x1b" not in refusal.value.message


SKIPPED = {
    "NaN": (b'{"k":"samples","t":NaN}', "bad line"),
    "infinity": (b'{"k":"power","t":1,"source":"s","elapsed_ns":1,"mw":{"cpu":Infinity}}', "bad line"),
    "1e999": (b'{"k":"power","t":1,"source":"s","elapsed_ns":1,"mw":{"cpu":1e999}}', "bad line"),
    "negative power": (b'{"k":"power","t":1,"source":"s","elapsed_ns":1,"mw":{"cpu":-1}}', "bad line"),
    "a bool for a time": (b'{"k":"power","t":true}', "bad line"),
    "a bool in a column": (sample_line(lat_ns=[1, True]), "bad line"),
    "a float in a column": (sample_line(lat_ns=[1, 2.5]), "bad line"),
    "a string in a column": (sample_line(lat_ns=[1, "2"]), "bad line"),
    "null for a column": (sample_line(lat_ns=None), "bad line"),
    "nested columns": (sample_line(lat_ns=[[1], [2]]), "bad line"),
    "a missing column": (sample_line(lat_ns=...), "bad line"),
    "n unlike the columns": (sample_line(n=3), "bad line"),
    "n of a billion": (sample_line(n=10**9), "bad line"),
    "no samples": (sample_line(n=0, gap_ns=[], lat_ns=[]), "bad line"),
    "2^53 + 1": (sample_line(t=2**53 + 1), "bad line"),
    "2^63 in a column": (sample_line(lat_ns=[1, 2**63]), "bad line"),
    "2^64 in a column": (sample_line(lat_ns=[1, 2**64]), "bad line"),
    "100,000 digits": (b'{"k":"mark","t":' + b"9" * 100_000 + b"}", "bad line"),
    "100,000 digits in a column": (sample_line().replace(b"200", b"9" * 100_000), "bad line"),
    "a negative latency": (sample_line(lat_ns=[1, -2]), "bad line"),
    "a latency of two hours": (sample_line(t=8_000 * SECOND, lat_ns=[1, 7_200 * SECOND]), "bad line"),
    "samples after their commit": (sample_line(t0=11 * SECOND), "bad line"),
    "starts that run backwards": (sample_line(gap_ns=[0, -101]), "bad line"),
    "gaps whose sum overflows": (sample_line(n=2_000, gap_ns=[2**53 - 1] * 2_000, lat_ns=[1] * 2_000), "bad line"),
    "an unknown phase": (sample_line(phase="boiling"), "bad line"),
    "an array": (b"[1,2,3]", "bad line"),
    "null": (b"null", "bad line"),
    "half an object": (sample_line()[:-5], "bad line"),
    "two objects": (sample_line() + sample_line(), "bad line"),
    "deep nesting": (b"[" * 200_000, "bad line"),
    "deep nesting in an unknown field": (b'{"k":"mark","t":1,"x":' + b"[" * 200_000, "bad line"),
    "invalid UTF-8": (b'{"k":"mark","t":1,"text":"\xff\xfe"}', "bad line"),
    "a lone surrogate": (b'{"k":"mark","t":1,"text":"\\ud800"}', "bad line"),
    "a text of 300 characters": (b'{"k":"mark","t":1,"text":"' + b"x" * 300 + b'"}', "bad line"),
    "a NUL block": (b"\x00" * 4096, "bad line"),
    "a line of 2 MB": (b"x" * 2_000_000, "line over 1 MiB"),
    "spaces": (b"   ", "blank line"),
    "nothing": (b"", "blank line"),
    "a carriage return": (b"\r", "blank line"),
    "an unknown kind": (b'{"k":"martian","t":1,"x":[{}]}', "unknown kind"),
    "a bad keyframe": (b'{"k":"keyframe","t":1,"crc32":-1}', "bad line"),
}  # fmt: skip


@pytest.mark.parametrize("name", SKIPPED)
def test_a_line_that_holds_no_event_is_counted_and_costs_nothing_else(tmp_path: Path, name: str) -> None:
    line, kind = SKIPPED[name]
    found, report = read(save(tmp_path, body(sample_line(900), line, sample_line(1_100))))
    assert [event.t for event in found] == [0, 900, 1_100]
    assert dict(report.skipped) == {kind: 1}
    assert report.samples == 4
    assert report.lines == 4
    assert [defect.byte for defect in report.defects] == [len(body(sample_line(900)))]


ACCEPTED = {
    "an unknown field": sample_line(colour="red"),
    "spaces between tokens": b" " + sample_line() + b" \r",
    "another order of fields": b'{"t":5,"text":"x","k":"mark"}',
    "a field twice: the last counts": b'{"k":"mark","t":1,"text":"no","text":"yes"}',
    "markup and escapes": b'{"k":"mark","t":1,"text":"[/bold] \\u001b]52;c;x\\u0007"}',
    "a negative gap that leaves the order of starts": sample_line(gap_ns=[0, -100]),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_line_that_is_merely_unusual_is_taken(tmp_path: Path, name: str) -> None:
    found, report = read(save(tmp_path, body(ACCEPTED[name])))
    assert len(found) == 2
    assert not report.skipped


def test_a_header_alone_is_a_valid_empty_recording(tmp_path: Path) -> None:
    found, report = read(save(tmp_path, body()))
    assert len(found) == 1
    assert not report.skipped


def test_a_byte_order_mark_and_carriage_returns_are_taken(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf" + body(sample_line()).replace(b"\n", b"\r\n")
    found, report = read(save(tmp_path, data))
    assert len(found) == 2
    assert not report.skipped


def test_a_higher_minor_version_is_read_and_noted(tmp_path: Path) -> None:
    newer = HEADER.replace(b"[1,1]", b"[1,7]") + b"\n" + sample_line() + b"\n"
    found, report = read(save(tmp_path, newer))
    assert len(found) == 2
    assert report.newer_minor


def test_a_second_header_stops_the_reading_and_is_said(tmp_path: Path) -> None:
    found, report = read(save(tmp_path, body(sample_line()) + body(sample_line(), sample_line())))
    assert len(found) == 2
    assert report.skipped["second recording"] == 1


def test_a_last_line_without_line_feed_is_not_committed(tmp_path: Path) -> None:
    found, report = read(save(tmp_path, body(sample_line()) + sample_line()))
    assert len(found) == 2
    assert report.torn_bytes == len(sample_line())
    assert dict(report.skipped) == {"torn last line": 1}


def test_one_time_that_jumps_months_ahead_costs_one_line(tmp_path: Path) -> None:
    lines = [sample_line(t) for t in (1_000, 2_000, 10**16 // 2, 3_000, 4_000)]
    found, report = read(save(tmp_path, body(*lines)))
    assert [event.t for event in found] == [0, 1_000, 2_000, 3_000, 4_000]
    assert dict(report.skipped) == {"time out of order": 1}


def test_changed_bytes_are_found_by_the_checksum_of_their_stretch_alone(tmp_path: Path) -> None:
    record(tmp_path / "b.jsonl", flushes(1, 35.0))
    data = (tmp_path / "b.jsonl").read_bytes()
    second = data.index(b'{"k":"keyframe"', data.index(b'{"k":"keyframe"') + 1)
    digit = data.rindex(b'"lat_ns":[', 0, second) + 10
    changed = data[:digit] + (b"1" if data[digit : digit + 1] != b"1" else b"2") + data[digit + 1 :]
    _, report = read(save(tmp_path, changed), check_crc=True)
    assert (report.crc_errors, report.keyframes) == (1, 3)
    _, report = read(save(tmp_path, data), check_crc=True)
    assert report.crc_errors == 0


def test_a_damaged_keyframe_does_not_accuse_the_stretch_after_it(tmp_path: Path) -> None:
    record(tmp_path / "b.jsonl", flushes(1, 35.0))
    data = (tmp_path / "b.jsonl").read_bytes().replace(b'"crc32":', b'"crc33":', 1)
    _, report = read(save(tmp_path, data), check_crc=True)
    assert (report.crc_errors, report.keyframes, report.bad_lines) == (0, 2, 1)


def test_defects_are_kept_up_to_a_limit_and_counted_beyond(tmp_path: Path) -> None:
    _, report = read(save(tmp_path, body(*[b'{"k":"mark","t":"\\u001b[31m"}'] * 100_000)))
    assert report.skipped["bad line"] == 100_000
    assert len(report.defects) == DEFECTS_KEPT
    assert all(len(defect.what) <= 120 and "\x1b" not in defect.what for defect in report.defects)


@pytest.mark.parametrize("ending", [b"", b"\n"])
def test_an_endless_line_is_skipped_in_bounded_memory(tmp_path: Path, ending: bytes) -> None:
    path = save(tmp_path, body(sample_line()))
    with path.open("r+b") as file:
        file.truncate(300_000_000)  # a hole reads as NUL bytes
        file.seek(0, os.SEEK_END)
        file.write(ending)
    tracemalloc.start()
    found, report = read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found) == 2
    assert peak < 8_000_000
    assert (report.torn_bytes > 0) == (not ending)
    assert report.skipped["line over 1 MiB"] == (1 if ending else 0)


def test_an_endless_first_line_is_refused_without_being_read(tmp_path: Path) -> None:
    path = save(tmp_path, b"{")
    with path.open("r+b") as file:
        file.write(b"{" * 2_000_000)
        file.truncate(300_000_000)
    with pytest.raises(HettopError, match="over 1 MiB"):
        open_recording(path)


def test_cut_at_every_byte_it_gives_exactly_the_committed_lines(tmp_path: Path) -> None:
    record(tmp_path / "b.jsonl", [window(0, [100, 200]), events.Mark(t=5_000, text="m"), window(6_000, [300])])
    data = (tmp_path / "b.jsonl").read_bytes()
    first = data.index(b"\n") + 1
    for cut in range(first, len(data) + 1):
        found, report = read(save(tmp_path, data[:cut]))
        whole = data[:cut].split(b"\n")[:-1]
        assert [events.encode(event) for event in found] == whole
        assert report.torn_bytes == cut - data[:cut].rindex(b"\n") - 1
    for cut in range(first):
        with pytest.raises(HettopError):
            open_recording(save(tmp_path, data[:cut]))


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    folder = tmp_path_factory.mktemp("sound")
    record(folder / "b.jsonl", flushes(1, 25.0))
    return folder, (folder / "b.jsonl").read_bytes()


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(flips=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 7)), min_size=1, max_size=3))
def test_flipped_bits_cost_their_lines_and_are_never_a_traceback(
    sound: tuple[Path, bytes], flips: list[tuple[float, int]]
) -> None:
    folder, data = sound
    first = data.index(b"\n") + 1
    damaged = bytearray(data)
    for place, bit in flips:
        damaged[first + int(place * (len(data) - first))] ^= 1 << bit
    found, report = read(save(folder, bytes(damaged)), check_crc=True)
    assert len(found) >= data.count(b"\n") - 3 * len(flips)
    times = [event.t for event in found]
    assert times == sorted(times)
    assert report.lines <= data.count(b"\n") + len(flips)


@pytest.mark.parametrize("seed", range(20))
def test_noise_after_the_header_is_read_to_the_end(tmp_path: Path, seed: int) -> None:
    noise = random.Random(seed).randbytes(20_000)
    found, report = read(save(tmp_path, body() + noise + b"\n" + sample_line() + b"\n"))
    assert len(found) == 2
    assert report.bad_lines == report.lines - 2 - report.skipped["blank line"]


def test_samples_come_back_as_they_were(tmp_path: Path) -> None:
    told = [window(0, [100, 200], native=[90, 180]), window(10_000, [5], condition="cpu:1", thermal="fair")]
    record(tmp_path / "b.jsonl", told)
    found, _ = read(tmp_path / "b.jsonl")
    assert samples_of(found) == samples_of(told)
    windows = [event for event in found if isinstance(event, events.Samples)]
    assert windows[0].native_ns is not None
    assert windows[0].native_ns.tolist() == [90, 180]
    assert windows[1].thermal == "fair"
