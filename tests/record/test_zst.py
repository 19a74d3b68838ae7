"""Compressed recordings: played as the plain ones, sought by frames, and never unpacked without bound."""

from __future__ import annotations

import io
import os
import shutil
import stat
import struct
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from hettop import events
from hettop.errors import HettopError
from hettop.record.bytes import PlainBytes
from hettop.record.pack import pack
from hettop.record.player import Player
from hettop.record.reader import open_recording
from hettop.record.verify import verify
from hettop.record.zst import FramedBytes, packed, read_table
from tests.cli.running import plain_environment
from tests.processes.waiting import PATIENCE_S
from tests.record.stories import SECOND, read, record, story

zstandard = pytest.importorskip("zstandard")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("zst") / "a.jsonl"
    record(path, story(1, 95))
    return path


@pytest.fixture(scope="module")
def compressed(plain: Path) -> Path:
    path = plain.with_suffix(".jsonl.zst")
    pack(plain, path)
    return path


def bomb(path: Path, size: int) -> Path:
    """A header, and then nothing but one letter."""
    header = (b'{"k":"header","t":0,"format":"hettop","version":[1,0]}\n', b"x" * (1 << 20))
    compressor = zstandard.ZstdCompressor(level=19).compressobj()
    with path.open("wb") as file:
        file.write(compressor.compress(header[0]))
        for _ in range(size >> 20):
            file.write(compressor.compress(header[1]))
        file.write(compressor.flush())
    return path


def test_it_plays_as_the_plain_one(plain: Path, compressed: Path) -> None:
    found, report = read(compressed)
    assert [events.encode(event) for event in found] == [events.encode(event) for event in read(plain)[0]]
    assert not report.skipped
    assert verify(compressed).document() == verify(plain).document()


def test_it_is_private_smaller_and_any_zstd_unpacks_it_to_the_same_bytes(plain: Path, compressed: Path) -> None:
    assert stat.S_IMODE(compressed.stat().st_mode) == 0o600
    assert compressed.stat().st_size < plain.stat().st_size / 2
    with (
        compressed.open("rb") as file,
        zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True) as all_,
    ):
        assert all_.read() == plain.read_bytes()


@pytest.mark.skipif(shutil.which("zstd") is None, reason="no zstd program")
def test_the_zstd_program_takes_it(plain: Path, compressed: Path) -> None:
    done = subprocess.run(["zstd", "-dc", compressed], capture_output=True, check=True)
    assert done.stdout == plain.read_bytes()


def test_seeking_unpacks_frames_of_ten_seconds_each_by_itself(plain: Path, compressed: Path) -> None:
    frames = read_table(PlainBytes(compressed, "rb"))
    assert frames is not None
    # The story lasts some 100 s, with silences of 15 s.
    assert 5 <= len(frames) <= 11
    data = compressed.read_bytes()
    for frame in frames:
        part = zstandard.ZstdDecompressor().decompress(data[frame.offset : frame.offset + frame.length])
        assert part == plain.read_bytes()[frame.start : frame.start + frame.unpacked]
        assert part.endswith(b"\n")


def test_every_moment_shows_the_same_session(plain: Path, compressed: Path) -> None:
    one, other = Player(plain, folded_bytes=0), Player(compressed, folded_bytes=0)
    assert one.marks_ns == other.marks_ns
    for t in (93, 4, 71, 40, 88):
        one.seek(t * SECOND)
        other.seek(t * SECOND)
        assert events.encode(one.session.keyframe(t, 0)) == events.encode(other.session.keyframe(t, 0))


def test_a_piece_across_frames_is_what_stands_there(plain: Path, compressed: Path) -> None:
    whole = plain.read_bytes()
    file, _ = open_recording(compressed)
    with file:
        assert file.size() == len(whole)
        frames = read_table(PlainBytes(compressed, "rb")) or []
        seam = frames[1].start
        assert file.pread(200, seam - 100) == whole[seam - 100 : seam + 100]
        assert file.pread(100, len(whole) - 10) == whole[-10:]
        assert file.pread(100, len(whole) + 5) == b""


def test_what_another_zstd_made_is_taken_as_well(plain: Path, tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl.zst"
    path.write_bytes(zstandard.ZstdCompressor().compress(plain.read_bytes()))
    assert verify(path).document() == verify(plain).document()
    player = Player(path)
    player.seek(50 * SECOND)
    assert player.session.samples > 0


@pytest.mark.parametrize("cut", [0.3, 0.7, 0.99])
def test_a_cut_file_plays_up_to_the_cut(plain: Path, compressed: Path, tmp_path: Path, cut: float) -> None:
    path = tmp_path / "cut.zst"
    path.write_bytes(compressed.read_bytes()[: int(cut * compressed.stat().st_size)])
    found, _ = read(path)
    whole = [events.encode(event) for event in read(plain)[0]]
    assert [events.encode(event) for event in found] == whole[: len(found)]
    assert len(found) > 1


def test_a_damaged_frame_costs_that_frame_and_is_reported(compressed: Path, tmp_path: Path) -> None:
    frames = read_table(PlainBytes(compressed, "rb")) or []
    data = bytearray(compressed.read_bytes())
    middle = frames[2].offset + frames[2].length // 2
    data[middle] ^= 0xFF
    path = tmp_path / "damaged.zst"
    path.write_bytes(data)
    found, report = read(path)
    assert report.bad_lines >= 1
    last = read(compressed)[0][-1]
    assert found[-1].t == last.t, "what follows the damage plays"
    assert not verify(path).ok


def test_a_bomb_is_refused_before_it_fills_anything(tmp_path: Path) -> None:
    path = bomb(tmp_path / "bomb.zst", 300 << 20)
    assert path.stat().st_size < 100_000
    tracemalloc.start()
    with pytest.raises(HettopError, match="no recording does") as refusal:
        open_recording(path)
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()
    assert refusal.value.kind == "recording"


def test_a_table_that_promises_too_much_is_a_bomb(tmp_path: Path) -> None:
    frame = zstandard.ZstdCompressor().compress(b"x" * (1 << 24))
    count = 100
    entries = struct.pack("<II", len(frame), 1 << 24) * count + struct.pack("<IBI", count, 0, 0x8F92EAB1)
    path = tmp_path / "table.zst"
    path.write_bytes(frame * count + b"\x5e\x2a\x4d\x18" + struct.pack("<I", len(entries)) + entries)
    with pytest.raises(HettopError, match="no recording does"):
        open_recording(path)


def test_a_frame_never_unpacks_to_more_than_its_table_says(tmp_path: Path) -> None:
    frame = zstandard.ZstdCompressor().compress(b"x" * (1 << 26))
    entries = struct.pack("<II", len(frame), 10) + struct.pack("<IBI", 1, 0, 0x8F92EAB1)
    path = tmp_path / "more.zst"
    path.write_bytes(frame + b"\x5e\x2a\x4d\x18" + struct.pack("<I", len(entries)) + entries)
    file = PlainBytes(path, "rb")
    frames = read_table(file)
    assert frames is not None
    tracemalloc.start()
    assert FramedBytes(zstandard, file, frames).pread(100, 0) == b"x" * 10
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("change", [1, 5, 9, *range(10, 26)])
def test_a_damaged_table_is_not_believed(compressed: Path, tmp_path: Path, change: int) -> None:
    data = bytearray(compressed.read_bytes())
    data[-change] ^= 0x5A
    path = tmp_path / "table.zst"
    path.write_bytes(data)
    assert verify(path).report.samples == verify(compressed).report.samples


def test_an_empty_and_a_broken_file_are_refused_in_words(tmp_path: Path) -> None:
    for name, data in (
        ("empty", zstandard.ZstdCompressor().compress(b"")),
        ("broken", b"\x28\xb5\x2f\xfd" + bytes(50)),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(HettopError, match="zstd"):
            open_recording(path)


def test_frames_follow_each_other_without_loss() -> None:
    parts = [b"one\n", b"two\n" * 1000, b"3\n"]
    data = b"".join(packed(parts))
    with zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True) as reader:
        assert reader.read() == b"".join(parts)


def test_packing_refuses_to_replace_anything_but_its_like(plain: Path, tmp_path: Path) -> None:
    model = tmp_path / "model.onnx"
    model.write_bytes(b"a model")
    with pytest.raises(HettopError, match="already exists"):
        pack(plain, model)
    with pytest.raises(HettopError, match="has another format"):
        pack(plain, model, force=True)
    assert model.read_bytes() == b"a model"
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]


def test_without_the_package_it_says_what_to_install(compressed: Path) -> None:
    code = (
        "import sys; sys.modules['zstandard'] = None; from hettop.cli.main import run; "
        f"sys.exit(run(['replay', {os.fspath(compressed)!r}, '--headless']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        env=plain_environment(),
    )
    assert done.returncode == 2
    assert "hettop[zst]" in done.stderr
