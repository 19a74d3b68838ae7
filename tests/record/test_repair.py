"""Repair: every committed, valid line is kept, what is missing is said, and the result is whole."""

from __future__ import annotations

import json
import random
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hettop import events
from hettop.errors import HettopError
from hettop.record.repair import repair
from hettop.record.verify import verify
from tests.record.stories import record, story
from tests.record.test_reader import body, sample_line
from tests.record.test_verify import keyframes_in, lines_of


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("repair") / "a.jsonl"
    record(path, story(4, 60))
    return path.read_bytes()


def repaired(folder: Path, data: bytes) -> tuple[bytes, object]:
    source, out = folder / "damaged.jsonl", folder / "repaired.jsonl"
    source.write_bytes(data)
    done = repair(source, out, force=True)
    assert source.read_bytes() == data
    return out.read_bytes(), done


def test_a_whole_recording_is_copied_byte_by_byte(whole: bytes, tmp_path: Path) -> None:
    assert repaired(tmp_path, whole)[0] == whole


def test_an_end_is_added_where_there_is_none(whole: bytes, tmp_path: Path) -> None:
    cut = whole[: whole.rindex(b'{"k":"end"')]
    result, done = repaired(tmp_path, cut)
    assert result.startswith(cut)
    end = json.loads(result[len(cut) :])
    assert end["k"] == "end"
    assert end["samples"] == sum(line["n"] for line in map(json.loads, cut.splitlines()) if line["k"] == "samples")
    assert done.end_added  # type: ignore[attr-defined]


def test_a_torn_tail_is_left_out_and_said(whole: bytes, tmp_path: Path) -> None:
    kept = whole[: whole.rindex(b'{"k":"samples"')]
    result, done = repaired(tmp_path, kept + b'{"k":"samples","t":5')
    assert done.torn_bytes == 20  # type: ignore[attr-defined]
    dropped, end = (json.loads(line) for line in result[len(kept) :].splitlines())
    assert (dropped["k"], dropped["n"]) == ("dropped", 0)
    assert "20 bytes" in dropped["why"]
    assert end["k"] == "end"


def test_the_samples_of_a_broken_line_are_declared_by_what_the_next_keyframe_knows(
    whole: bytes, tmp_path: Path
) -> None:
    lines = lines_of(whole)
    place = max(p for p in range(keyframes_in(lines)[1]) if lines[p].startswith(b'{"k":"samples"'))
    lost = json.loads(lines[place])["n"]
    broken = [*lines[:place], lines[place][:-4] + b"\n", *lines[place + 1 :]]
    result, done = repaired(tmp_path, b"".join(broken))
    assert done.dropped == lost  # type: ignore[attr-defined]
    assert done.left_out == {"bad line": 1}  # type: ignore[attr-defined]
    declared = [json.loads(line) for line in result.splitlines() if line.startswith(b'{"k":"dropped"')]
    assert [line["n"] for line in declared] == [lost]
    kept = set(lines_of(result))
    for line in [*lines[:place], *lines[place + 1 :]]:
        if not line.startswith((b'{"k":"keyframe"', b'{"k":"end"')):
            assert line in kept


def test_lines_of_unknown_kinds_are_kept_in_their_place(tmp_path: Path) -> None:
    martian = b'{"k":"martian","t":1500,"legs":3}'
    result, _ = repaired(tmp_path, body(sample_line(), martian, b"{", sample_line(t=2_000)))
    assert result.splitlines()[1:4] == [sample_line(), martian, sample_line(t=2_000)]


def test_fields_of_a_newer_version_stay_in_a_keyframe_with_a_new_checksum(whole: bytes, tmp_path: Path) -> None:
    lines = lines_of(whole)
    first = keyframes_in(lines)[0]
    lines[first] = lines[first].replace(b',"fold":', b',"aura":"green","fold":', 1)
    lines[first] = events.with_line_crc32(lines[first]) + b"\n"
    lines.insert(first, b'{"k":"mark","t":%d}\n' % json.loads(lines[first - 1])["t"])
    result, done = repaired(tmp_path, b"".join(lines))
    assert b'"aura":"green"' in result
    assert all(events.line_crc32_holds(line) for line in lines_of(result) if line.startswith(b'{"k":"keyframe"'))
    assert done.checksums_renewed == 1  # type: ignore[attr-defined]


def test_byte_order_mark_carriage_returns_and_blank_lines_go(whole: bytes, tmp_path: Path) -> None:
    wild = b"\xef\xbb\xbf" + whole.replace(b"\n", b"\r\n\n")
    assert repaired(tmp_path, wild)[0] == whole


def test_a_second_recording_is_left_out_and_its_place_reported(tmp_path: Path) -> None:
    first = body(sample_line())
    result, done = repaired(tmp_path, first + body(sample_line(), sample_line(t=7_000)))
    assert done.joined_at == len(first)  # type: ignore[attr-defined]
    assert result.startswith(first)
    assert result.count(b'"samples", "t"') == 1


def test_the_damaged_file_is_never_the_new_one(whole: bytes, tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_bytes(whole[:5_000])
    (tmp_path / "link.jsonl").symlink_to(source)
    for out in (source, tmp_path / "link.jsonl"):
        with pytest.raises(HettopError, match="never overwritten"):
            repair(source, out, force=True)
    assert source.read_bytes() == whole[:5_000]


def test_nothing_is_replaced_without_force_and_no_model_with_it(whole: bytes, tmp_path: Path) -> None:
    source, out, model = (tmp_path / name for name in ("a.jsonl", "b.jsonl", "model.onnx"))
    source.write_bytes(whole[:5_000])
    out.write_bytes(body())
    model.write_bytes(b"precious")
    with pytest.raises(HettopError, match="already exists"):
        repair(source, out)
    with pytest.raises(HettopError, match="has another format"):
        repair(source, model, force=True)
    assert (out.read_bytes(), model.read_bytes()) == (body(), b"precious")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "b.jsonl", "model.onnx"]
    repair(source, out, force=True)
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert verify(out).ok


def test_a_line_believed_for_the_sake_of_one_that_is_left_out_is_left_out_too(tmp_path: Path) -> None:
    day = 24 * 3600 * 10**9
    mark = b'{"k":"mark","t":%d,"text":""}\n'
    # The last mark jumps two days with nothing to confirm it; without it, nothing confirms the end's jump either.
    result, done = repaired(tmp_path, body() + mark % 1 + b'{"k":"end","t":%d}\n' % (2 * day) + mark % (4 * day))
    assert done.left_out == {"time out of order": 2}  # type: ignore[attr-defined]
    assert [(line["k"], line["t"]) for line in map(json.loads, result.splitlines())] == [
        ("header", 0),
        ("mark", 1),
        ("dropped", 1),
        ("end", 1),
    ]
    assert verify(tmp_path / "repaired.jsonl").ok


def test_a_result_cannot_be_compressed_at_once(whole: bytes, tmp_path: Path) -> None:
    source = tmp_path / "a.jsonl"
    source.write_bytes(whole)
    with pytest.raises(HettopError, match="uncompressed"):
        repair(source, tmp_path / "b.jsonl.zst")


def sound_lines(data: bytes, report_of: Path) -> list[bytes]:
    """The lines that the reader plays, but for those repair may write anew."""
    from hettop.record.defects import Report
    from hettop.record.reader import open_recording, read_placed

    file, _ = open_recording(report_of)
    with file:
        placed = list(read_placed(file, Report()))
    kinds = (events.Keyframe, events.End)
    return [data[each.offset : each.after].rstrip() for each in placed if not isinstance(each.event, kinds)]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_the_damage_the_result_is_whole_and_holds_every_line_that_plays(
    whole: bytes, tmp_path: Path, data: st.DataObject
) -> None:
    damaged = bytearray(whole[: data.draw(st.integers(3_000, len(whole)))])
    seed = data.draw(st.integers(0, 2**32))
    rng = random.Random(seed)
    for _ in range(data.draw(st.integers(0, 12))):
        place = rng.randrange(200, len(damaged))
        damaged[place : place + rng.randrange(3)] = bytes(
            rng.choice(b'0123456789",}{\n') for _ in range(rng.randrange(3))
        )
    result, _ = repaired(tmp_path, bytes(damaged))
    found = verify(tmp_path / "repaired.jsonl")
    assert found.ok, found.document()
    assert found.report.ended
    kept = iter(result.splitlines())
    assert all(line in kept for line in sound_lines(bytes(damaged), tmp_path / "damaged.jsonl"))


def test_a_keyframe_that_was_changed_where_its_lines_cannot_report_is_made_anew(whole: bytes, tmp_path: Path) -> None:
    lines = lines_of(whole)
    place = keyframes_in(lines)[1]
    lines[place] = lines[place].replace(b'"active_ns":', b'"active_ns":1', 1)
    result, done = repaired(tmp_path, b"".join(lines))
    assert result == whole
    assert done.keyframes_renewed == 1  # type: ignore[attr-defined]
