"""The writer: a private new file, lines that add up, and nothing lost without a word."""

from __future__ import annotations

import errno
import json
import os
import stat
import threading
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np
import pytest

from hettop import events
from hettop.errors import HettopError
from hettop.events import AnyEvent
from hettop.record.disk import Disk
from hettop.record.writer import Writer
from hettop.session.session import Session
from tests.record.stories import MS, SECOND, flushes, header, read, record, samples_of, story, window


@dataclass
class FaultyDisk:
    """A disk that holds `room` more bytes, then says `code`; and may refuse to truncate."""

    room: int = 1 << 30
    code: int = errno.ENOSPC
    truncates: bool = True
    writes: list[int] = field(default_factory=list)

    def write(self, fd: int, data: memoryview) -> int:
        if self.room <= 0:
            raise OSError(self.code, os.strerror(self.code))
        written = os.write(fd, data[: self.room])
        self.room -= written
        self.writes.append(written)
        return written

    def truncate(self, fd: int, size: int) -> None:
        if not self.truncates:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        self.room += os.fstat(fd).st_size - size
        os.ftruncate(fd, size)

    def as_disk(self) -> Disk:
        return Disk(write=self.write, truncate=self.truncate)


def lines_of(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_recording_holds_header_samples_and_end_as_plain_json(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    closed = record(path, [window(10, [100, 200]), events.Mark(t=5_000, text="here"), window(6_000, [300])])
    found = lines_of(path)
    assert [line["k"] for line in found] == ["header", "samples", "mark", "samples", "end"]
    before = zlib.crc32(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    assert found[-1].pop("line_crc32")
    assert found[-1] == {"k": "end", "t": 2_000_006_300, "why": "done", "samples": 3, "dropped": 0, "crc32": before}
    assert (closed.samples, closed.dropped, closed.undeclared, closed.fault) == (3, 0, 0, None)
    assert closed.size_bytes == path.stat().st_size


def test_what_was_written_is_what_is_read(tmp_path: Path) -> None:
    told = list(story(5, 60.0))
    record(tmp_path / "a.jsonl", told)
    found, report = read(tmp_path / "a.jsonl", check_crc=True)
    by_unit = [sorted(samples_of(events_)) for events_ in (told, found)]
    assert by_unit[0] == by_unit[1]
    assert not report.skipped
    assert report.crc_errors == 0
    assert report.ended


def test_only_the_owner_may_read_it(tmp_path: Path) -> None:
    record(tmp_path / "a.jsonl", [])
    assert stat.S_IMODE((tmp_path / "a.jsonl").stat().st_mode) == 0o600


PRECIOUS = events.encode(header()) + b"\n"  # an earlier recording


def test_force_replaces_nothing_but_recordings(tmp_path: Path) -> None:
    model = tmp_path / "model.onnx"
    model.write_bytes(b"\x08\x07 weights")
    (tmp_path / "link.jsonl").symlink_to(model)
    for path in (model, tmp_path / "link.jsonl"):
        with pytest.raises(HettopError, match="replaces recordings only"):
            Writer(path, header(), force=True)
    assert model.read_bytes() == b"\x08\x07 weights"


@pytest.mark.parametrize("before", [b"An example:\n\n", b"```json\n", b'{"k":"header","t":0}\n' + b" " * 100, b" "])
def test_force_replaces_no_text_that_contains_a_recording(before: bytes, tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_bytes(before + PRECIOUS)
    with pytest.raises(HettopError, match="replaces recordings only"):
        Writer(notes, header(), force=True)
    assert notes.read_bytes() == before + PRECIOUS


def test_the_old_recording_stays_until_there_is_a_sample_to_replace_it(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(PRECIOUS)
    writer = Writer(path, header(), force=True)
    writer.write(events.Mark(t=5))
    assert path.read_bytes() == PRECIOUS
    writer.discard()
    assert path.read_bytes() == PRECIOUS
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.jsonl"]


def test_a_discarded_recording_takes_no_stranger_along(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    writer = Writer(path, header())
    path.rename(tmp_path / "moved.jsonl")
    path.write_text("somebody else's")
    writer.discard()
    assert path.read_text() == "somebody else's"


def test_an_existing_file_is_replaced_only_by_force(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(PRECIOUS)
    path.chmod(0o644)
    with pytest.raises(HettopError) as refusal:
        Writer(path, header())
    assert "--force" in refusal.value.hint
    assert path.read_bytes() == PRECIOUS
    Writer(path, header(), force=True).close("done")
    assert [line["k"] for line in lines_of(path)] == ["header", "end"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.jsonl"]


def test_an_old_file_survives_when_the_disk_is_too_full_to_replace_it(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(PRECIOUS)
    with pytest.raises(HettopError, match="No space left"):
        Writer(path, header(), force=True, disk=FaultyDisk(room=10).as_disk())
    assert path.read_bytes() == PRECIOUS
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.jsonl"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing/a.jsonl", "folder not found"),
        ("folder", "folder"),
        ("file/a.jsonl", "Not a directory"),
        ("x" * 300, "too long"),
    ],
    ids=["missing folder", "a folder", "a file as folder", "name too long"],
)
def test_a_place_that_cannot_be_written_is_refused_in_words(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(HettopError, match=words) as refusal:
        Writer(tmp_path / name, header())
    assert refusal.value.kind == "io"
    assert refusal.value.hint


def test_a_folder_without_permission_is_refused_in_words(tmp_path: Path) -> None:
    def refuse(path: str, flags: int, mode: int) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", path)

    with pytest.raises(HettopError, match="Permission denied"):
        Writer(tmp_path / "a.jsonl", header(), disk=Disk(open=refuse))


def test_a_device_is_never_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(HettopError, match="not a regular file"):
        Writer(pipe, header(), force=True)


def test_each_line_is_one_append(tmp_path: Path) -> None:
    disk = FaultyDisk()
    writer = Writer(tmp_path / "a.jsonl", header(), disk=disk.as_disk())
    for flush in flushes(1, 5.0):
        writer.write(flush)
    writer.close("done")
    lines = (tmp_path / "a.jsonl").read_bytes().splitlines(keepends=True)
    assert disk.writes == [len(line) for line in lines]


def test_keyframes_come_every_ten_seconds_with_the_checksum_of_the_lines_before_them(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    record(path, flushes(2, 45.0))
    stretch = b""
    times = []
    for line in path.read_bytes().splitlines(keepends=True):
        found = json.loads(line)
        if found["k"] == "keyframe":
            assert found["crc32"] == zlib.crc32(stretch)
            times.append(found["t"])
            stretch = b""
        else:
            stretch += line
    assert len(times) == 4
    assert all(10 * SECOND <= later - earlier < 12 * SECOND for earlier, later in zip([0, *times], times, strict=False))


def test_a_keyframe_is_the_fold_of_the_lines_before_it(tmp_path: Path) -> None:
    record(tmp_path / "a.jsonl", list(story(2, 45.0)))
    session = Session(raw_limit=0)
    keyframes = 0
    for event in read(tmp_path / "a.jsonl")[0]:
        if isinstance(event, events.Keyframe):
            keyframes += 1
            assert events.encode(event) == events.encode(session.keyframe(event.t, event.crc32))
        session.fold(event)
    assert keyframes >= 4


def test_time_alone_makes_held_back_samples_and_keyframes_appear(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "a.jsonl", header())
    writer.write(window(0, [5 * MS]))
    assert [line["k"] for line in lines_of(tmp_path / "a.jsonl")] == ["header"]
    writer.tick(SECOND)
    assert [line["k"] for line in lines_of(tmp_path / "a.jsonl")] == ["header", "samples"]
    writer.tick(11 * SECOND)
    assert [line["k"] for line in lines_of(tmp_path / "a.jsonl")] == ["header", "samples", "keyframe"]
    writer.close("done")


def test_a_recording_started_in_mid_session_counts_from_its_own_origin(tmp_path: Path) -> None:
    opening: list[AnyEvent] = [
        events.Engine(t=3 * SECOND, unit="A", state="running"),
        events.Control(t=2 * SECOND, action="start", units=["A"]),
    ]
    writer = Writer(tmp_path / "a.jsonl", header(t=77), origin_ns=100 * SECOND, opening=opening)
    writer.write(window(100 * SECOND - 50, [40, 40, 40], gaps=[0, 20, 20], unit="A"))  # starts at -50, +10, +70
    writer.write(window(99 * SECOND, [10], unit="A", t=100 * SECOND + 200))  # wholly before
    writer.write(events.Mark(t=101 * SECOND, text="m"))
    closed = writer.close("done", 102 * SECOND)
    found = lines_of(tmp_path / "a.jsonl")
    assert [(line["k"], line["t"]) for line in found] == [
        ("header", 0), ("engine", 0), ("control", 0), ("samples", SECOND), ("mark", SECOND), ("end", 2 * SECOND)
    ]  # fmt: skip
    assert (found[3]["t0"], found[3]["lat_ns"]) == (10, [40, 40])
    assert (closed.samples, closed.dropped) == (2, 0)


def test_time_in_the_file_never_decreases_even_if_events_come_late(tmp_path: Path) -> None:
    record(tmp_path / "a.jsonl", [events.Mark(t=500), events.Mark(t=300), events.Mark(t=400)])
    assert [line["t"] for line in lines_of(tmp_path / "a.jsonl")] == [0, 500, 500, 500, 2 * SECOND + 400]


def test_a_full_disk_is_said_at_once_and_declared_when_there_is_room_again(tmp_path: Path) -> None:
    disk = FaultyDisk()
    path = tmp_path / "a.jsonl"
    writer = Writer(path, header(), disk=disk.as_disk())
    disk.room = 20
    writer.write(window(0, [100, 100]))
    writer.write(events.Control(t=1_000, action="pause", paused=True))
    assert writer.fault == "No space left on device (ENOSPC): 2 samples not recorded"
    assert path.read_bytes().count(b"\n") == 1
    assert path.read_bytes().endswith(b"\n"), "half a line was left"
    disk.room = 1 << 20
    writer.write(window(2_000, [100, 100, 100]))
    closed = writer.close("done", 3_000)
    found = lines_of(path)
    assert [line["k"] for line in found] == ["header", "dropped", "control", "samples", "end"]
    assert (found[1]["n"], found[1]["why"]) == (2, "No space left on device (ENOSPC)")
    assert found[2]["paused"] is True
    assert (found[-1]["samples"], found[-1]["dropped"]) == (3, 2)
    assert (closed.undeclared, closed.fault) == (0, None)


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EFBIG, errno.EIO, errno.EDQUOT])
def test_what_a_broken_disk_never_took_is_reported_at_close(tmp_path: Path, code: int) -> None:
    disk = FaultyDisk(code=code)
    writer = Writer(tmp_path / "a.jsonl", header(), disk=disk.as_disk())
    disk.room = 0
    for flush in flushes(1, 30.0):
        writer.write(flush)
        writer.tick(flush.t)
    closed = writer.close("done")
    assert closed.undeclared == sum(flush.n for flush in flushes(1, 30.0))
    assert closed.fault is not None
    assert errno.errorcode[code] in closed.fault
    assert [line["k"] for line in lines_of(tmp_path / "a.jsonl")] == ["header"]


@pytest.mark.parametrize("room", range(0, 400, 7))
def test_wherever_the_disk_fills_up_the_file_stays_whole_and_the_sum_is_right(tmp_path: Path, room: int) -> None:
    disk = FaultyDisk()
    path = tmp_path / "a.jsonl"
    writer = Writer(path, header(), disk=disk.as_disk())
    disk.room = room
    for index in range(6):
        writer.write(window(index * SECOND, [100] * 3))
        writer.write(events.Mark(t=index * SECOND + 500))
        if index == 4:
            disk.room = 1 << 20
    writer.close("done")
    found, report = read(path, check_crc=True)
    assert not report.skipped
    dropped = sum(event.n for event in found if isinstance(event, events.Dropped))
    assert report.samples + dropped == 18


def test_a_half_line_that_cannot_be_taken_back_costs_one_line_and_keeps_the_checksum(tmp_path: Path) -> None:
    disk = FaultyDisk(truncates=False)
    path = tmp_path / "a.jsonl"
    writer = Writer(path, header(), disk=disk.as_disk())
    disk.room = 20
    writer.write(events.Mark(t=1, text="lost"))
    disk.room = 1 << 20
    writer.write(events.Mark(t=2, text="kept"))
    writer.tick(11 * SECOND)
    writer.close("done")
    found, report = read(path, check_crc=True)
    assert [event.text for event in found if isinstance(event, events.Mark)] == ["kept"]
    assert (report.bad_lines, report.crc_errors, report.keyframes) == (1, 0, 1)


def test_a_disk_that_takes_nothing_is_broken_not_asked_for_ever(tmp_path: Path) -> None:
    taken: list[int] = []

    def write(fd: int, data: memoryview) -> int:
        taken.append(len(data))
        return os.write(fd, data) if len(taken) == 1 else 0

    writer = Writer(tmp_path / "a.jsonl", header(), disk=Disk(write=write))
    writer.write(events.Mark(t=1))
    assert writer.fault is not None
    assert "EIO" in writer.fault
    writer.close("done")


def wait_for(found: Callable[[], bool], ping: threading.Event) -> None:
    for _ in range(200):
        if found():
            return
        ping.wait(0.05)
    raise AssertionError("did not happen")


def test_a_failed_sync_is_reported_for_good_and_recording_goes_on(tmp_path: Path) -> None:
    asked = threading.Event()
    threads: list[str] = []

    def sync(fd: int) -> None:
        threads.append(threading.current_thread().name)
        asked.set()
        if len(threads) == 1:
            raise OSError(errno.EIO, "Input/output error")

    writer = Writer(tmp_path / "a.jsonl", header(), disk=Disk(sync=sync), sync_every_s=0.001)
    wait_for(lambda: writer.fault is not None, asked)
    writer.write(events.Mark(t=1, text="after"))
    closed = writer.close("done")
    assert closed.fault is not None
    assert "EIO" in closed.fault
    assert [line["k"] for line in lines_of(tmp_path / "a.jsonl")] == ["header", "mark", "end"]
    assert threading.current_thread().name not in threads, "synced on the caller's thread"


def test_closing_syncs_what_was_written_last(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    sizes: list[int] = []
    disk = Disk(sync=lambda fd: sizes.append(os.fstat(fd).st_size))
    Writer(path, header(), disk=disk, sync_every_s=3600.0).close("done")
    assert sizes == [path.stat().st_size]


def test_texts_too_long_to_be_read_back_are_cut_and_kept(tmp_path: Path) -> None:
    failure = events.Failure(kind="crashed", message="m" * 5_000, log=["\ud800 half a pair"])
    record(tmp_path / "a.jsonl", [events.Engine(t=1, unit="A", state="failed", error=failure)])
    found, report = read(tmp_path / "a.jsonl")
    [engine] = [event for event in found if isinstance(event, events.Engine)]
    assert not report.skipped
    assert engine.error is not None
    assert engine.error.message == "m" * 199 + "…"
    assert engine.error.log == ["? half a pair"]


def test_an_event_no_reader_would_take_is_a_fault_not_a_line(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "a.jsonl", header())
    writer.write(events.Power(t=1, source="s", elapsed_ns=1, mw={"cpu": -5.0}))
    assert writer.fault is not None
    assert "could not be recorded" in writer.fault
    writer.close("done")
    assert [line["k"] for line in lines_of(tmp_path / "a.jsonl")] == ["header", "end"]


def test_a_window_longer_than_a_line_is_split(tmp_path: Path) -> None:
    number = 200 * SECOND
    whole = window(0, [number] * 20_000, gaps=[number] * 20_000, native=[number] * 20_000)
    late = msgspec.structs.replace(whole, late_ns=np.full(20_000, 2 * 10**15))
    record(tmp_path / "a.jsonl", [late])
    found, report = read(tmp_path / "a.jsonl")
    assert not report.skipped
    assert [event.n for event in found if isinstance(event, events.Samples)] == [10_000, 10_000]
    assert samples_of(found) == samples_of([late])


def test_header_keyframe_and_end_of_others_are_not_taken_in(tmp_path: Path) -> None:
    record(tmp_path / "a.jsonl", [header(), events.Keyframe(t=1, crc32=0), events.End(t=2)])
    assert [line["k"] for line in lines_of(tmp_path / "a.jsonl")] == ["header", "end"]


def test_closing_twice_and_writing_after_close_change_nothing(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "a.jsonl", header())
    closed = writer.close("done")
    writer.write(events.Mark(t=5))
    writer.tick(50 * SECOND)
    assert writer.close("again") == closed
    assert len(lines_of(tmp_path / "a.jsonl")) == 2


@pytest.mark.parametrize(
    ("harm", "word"),
    [
        (lambda path: path.unlink(), "deleted"),
        (lambda path: (path.rename(path.with_name("b")), path.write_text("x")), "replaced"),
        (lambda path: os.truncate(path, 0), "truncated"),
    ],
    ids=["deleted", "replaced", "cut"],
)
def test_a_file_that_somebody_takes_away_is_reported_at_once_and_at_the_end(
    tmp_path: Path, harm: Callable[[Path], object], word: str
) -> None:
    path = tmp_path / "a.jsonl"
    writer = Writer(path, header())
    writer.tick(SECOND)
    assert writer.fault is None
    harm(path)
    writer.tick(3 * SECOND)
    assert word in (writer.fault or "")
    assert word in (writer.close("done").fault or "")
