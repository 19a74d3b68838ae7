"""Verification: what is whole is called whole, and every damage is found, reported once, and in bounded time."""

from __future__ import annotations

import json
import random
import re
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hettop import events
from hettop.record.verify import CONTRADICTIONS_COMPARED, verify
from hettop.resources import recordings_folder
from tests.record.stories import record, story
from tests.record.test_reader import HEADER, body, sample_line, save


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("verify") / "a.jsonl"
    record(path, story(2, 60))
    return path.read_bytes()


def verified(folder: Path, data: bytes) -> dict[str, Any]:
    return verify(save(folder, data)).document()


def lines_of(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def keyframes_in(lines: list[bytes]) -> list[int]:
    return [place for place, line in enumerate(lines) if line.startswith(b'{"k":"keyframe"')]


def test_a_closed_recording_is_whole(whole: bytes, tmp_path: Path) -> None:
    found = verified(tmp_path, whole)
    assert found["ok"] is True
    assert found["ended"] is True
    assert found["keyframes"] >= 4
    counted = sum(line["n"] for line in map(json.loads, whole.splitlines()) if line["k"] == "samples")
    assert found["samples"] == counted
    assert found["lines"] == whole.count(b"\n")
    assert found["defects"] == []


@pytest.mark.parametrize("path", sorted(recordings_folder().glob("*.jsonl")), ids=lambda path: path.stem)
def test_the_sample_recordings_are_whole(path: Path) -> None:
    assert verify(path).ok


def test_a_header_alone_is_whole(tmp_path: Path) -> None:
    assert verified(tmp_path, body())["ok"] is True


def test_every_cut_inside_a_line_is_damage_and_every_cut_between_lines_is_none(whole: bytes, tmp_path: Path) -> None:
    rng = random.Random(3)
    start = len(lines_of(whole)[0])
    for cut in [start, *(rng.randrange(start, len(whole)) for _ in range(20))]:
        found = verified(tmp_path, whole[:cut])
        torn = cut - (whole.rfind(b"\n", 0, cut) + 1)
        assert found["torn_bytes"] == torn
        assert found["ok"] is (torn == 0)


def test_a_changed_digit_shows_in_the_checksum(whole: bytes, tmp_path: Path) -> None:
    lines = lines_of(whole)
    place = next(place for place, line in enumerate(lines) if line.startswith(b'{"k":"samples"'))
    lines[place] = re.sub(rb'"lat_ns":\[(\d)', lambda found: b'"lat_ns":[%d' % (int(found[1]) % 9 + 1), lines[place])
    found = verified(tmp_path, b"".join(lines))
    assert found["crc_errors"] == 1
    assert found["bad_lines"] == 0
    assert found["ok"] is False


def test_a_broken_line_is_reported_where_it_stands_and_once(whole: bytes, tmp_path: Path) -> None:
    lines = lines_of(whole)
    place = max(p for p in range(keyframes_in(lines)[0]) if lines[p].startswith(b'{"k":"samples"'))
    lines[place] = lines[place][:-3] + b"\n"
    found = verified(tmp_path, b"".join(lines))
    assert found["bad_lines"] == 1
    assert found["crc_errors"] == 1
    assert found["defects"][0]["byte"] == sum(map(len, lines[:place]))
    # The keyframe after it knows of more samples; those after that one agree with it.
    assert found["keyframe_errors"] == 1
    assert found["wrong_totals"] == 0, "the end agrees with the keyframes"


@pytest.mark.parametrize("change", ["samples", "n", "runs", "unit"])
def test_a_keyframe_that_contradicts_its_lines_is_found_and_reported_once(
    whole: bytes, tmp_path: Path, change: str
) -> None:
    lines = lines_of(whole)
    place = keyframes_in(lines)[1]
    keyframe = json.loads(lines[place])
    match change:
        case "samples":
            keyframe["samples"] += 1
        case "n":
            keyframe["conditions"][0]["wall"]["n"] += 1
        case "runs":
            runs = keyframe["conditions"][0]["wall"]["runs"]
            at = next(at for at, run in enumerate(runs) if run > 1)
            runs[at : at + 1] = [runs[at] - 1, 1] if runs[at + 1] < 0 else [runs[at] + 1]
        case "unit":
            keyframe["units"][0]["state"] = "failed"
    lines[place] = events.with_line_crc32(json.dumps(keyframe, separators=(",", ":")).encode()) + b"\n"
    found = verified(tmp_path, b"".join(lines))
    assert (found["keyframe_errors"], found["crc_errors"], found["ok"]) == (1, 0, False)


def test_a_changed_digit_of_a_keyframe_that_nothing_else_can_report_shows_in_its_own_checksum(
    whole: bytes, tmp_path: Path
) -> None:
    lines = lines_of(whole)
    place = keyframes_in(lines)[1]
    lines[place] = lines[place].replace(b'"active_ns":', b'"active_ns":1', 1)
    found = verified(tmp_path, b"".join(lines))
    assert (found["crc_errors"], found["keyframe_errors"], found["ok"]) == (1, 0, False)
    assert found["defects"] == [{"byte": sum(map(len, lines[:place])), "what": "checksum: this keyframe was modified"}]


def test_a_changed_checksum_is_no_contradiction(whole: bytes, tmp_path: Path) -> None:
    lines = lines_of(whole)
    place = keyframes_in(lines)[0]
    lines[place] = re.sub(rb'"crc32":\d+', b'"crc32":1', lines[place])
    found = verified(tmp_path, b"".join(lines))
    assert (found["crc_errors"], found["keyframe_errors"]) == (1, 0)


def test_samples_that_are_missing_at_the_end_show_in_the_totals(whole: bytes, tmp_path: Path) -> None:
    lines = lines_of(whole)
    last = max(place for place, line in enumerate(lines) if line.startswith(b'{"k":"samples"'))
    assert last > keyframes_in(lines)[-1]
    found = verified(tmp_path, b"".join(lines[:last] + lines[last + 1 :]))
    assert found["wrong_totals"] == 1
    assert found["ok"] is False


def test_what_a_newer_minor_version_added_is_no_defect(tmp_path: Path) -> None:
    header = HEADER.replace(b"[1,1]", b"[1,9]")
    found = verified(tmp_path, header + b'\n{"k":"martian","t":5,"legs":3}\n')
    assert (found["ok"], found["unknown_kinds"], found["newer_minor"]) == (True, 1, True)


def test_a_second_recording_joined_to_it_is_damage(tmp_path: Path) -> None:
    found = verified(tmp_path, body(sample_line()) + body())
    assert (found["ok"], found["joined"], found["samples"]) == (False, 1, 2)


def test_what_the_file_says_is_cleaned(tmp_path: Path) -> None:
    found = verified(tmp_path, body(b'{"k":"\x1b]52;c;\xe2\x80\xae","t":1'))
    told = json.dumps(found, ensure_ascii=False)
    assert "\x1b" not in told
    assert "\u202e" not in told


def test_a_hundred_thousand_bad_lines_are_counted_and_a_hundred_reported(tmp_path: Path) -> None:
    found = verified(tmp_path, body(*[b"{"] * 100_000))
    assert found["bad_lines"] == 100_000
    assert len(found["defects"]) == 100


def test_of_endless_contradictions_the_first_are_reported(tmp_path: Path) -> None:
    lines = [b'{"k":"keyframe","t":%d,"crc32":1,"samples":%d}' % (t, t) for t in range(1, 20_000)]
    found = verified(tmp_path, body(*lines))
    assert found["keyframe_errors"] == CONTRADICTIONS_COMPARED
    assert found["crc_errors"] > CONTRADICTIONS_COMPARED


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_nothing_that_a_file_holds_makes_it_stumble(whole: bytes, tmp_path: Path, data: st.DataObject) -> None:
    damaged = bytearray(whole[: data.draw(st.integers(2_000, 60_000))])
    for _ in range(data.draw(st.integers(1, 12))):
        place = data.draw(st.integers(200, len(damaged) - 1))
        damaged[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=6))
    found = verified(tmp_path, bytes(damaged))
    assert json.loads(json.dumps(found)) == found


def test_the_checksum_is_zlibs_of_all_bytes_before_the_keyframe(whole: bytes) -> None:
    lines = lines_of(whole)
    first, second = keyframes_in(lines)[:2]
    assert json.loads(lines[second])["crc32"] == zlib.crc32(b"".join(lines[first + 1 : second]))
    assert isinstance(events.decode(lines[first].rstrip()), events.Keyframe)
