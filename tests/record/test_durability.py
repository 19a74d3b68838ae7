"""Whatever ends a recording, and whenever: at most its last second is lost, and nothing before it is harmed."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hettop import events
from hettop.errors import HettopError
from hettop.events import AnyEvent, Samples
from hettop.record.disk import Disk
from hettop.record.player import Player
from hettop.record.verify import verify
from hettop.record.writer import Writer
from hettop.session.session import Session
from tests.cli.running import HETTOP, SIMULATED, one_document, plain_environment
from tests.processes.waiting import PATIENCE_S
from tests.record.killed import columns, cost
from tests.record.stories import SECOND, flushes, header, read, record, window

ROOT = Path(__file__).parents[2]
KILLS = 40  # processes; `python -m benchmarks kill` does 300
MOMENTS = 300
LOST_LIMIT_S = 1.0
LIMITED = (
    "import os, resource, sys; limit = int(sys.argv[1]); "
    "resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)); os.execv(sys.executable, sys.argv[2:])"
)


def test_writers_killed_at_random_moments_lose_at_most_a_second_and_harm_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.record.killed", str(tmp_path), str(KILLS), "7"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    costs = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(costs) == KILLS
    assert sum(each["samples"] > 0 for each in costs) > KILLS // 2, "most of them had written something"
    assert max(each["lost_s"] for each in costs) <= LOST_LIMIT_S
    assert not any(each["harmed"] for each in costs)


def test_cut_amid_any_append_it_has_all_but_the_last_second(tmp_path: Path) -> None:
    """What a kill leaves is the file up to some byte: here, up to 300 random ones of the appends."""
    appends: list[tuple[int, int, int]] = []  # moment of the stream, size before, length
    size = moment = 0

    def write(fd: int, data: memoryview) -> int:
        nonlocal size
        written = os.write(fd, data)
        appends.append((moment, size, written))
        size += written
        return written

    stream = flushes(3, 60.0)
    writer = Writer(tmp_path / "a.jsonl", header(), disk=replace(Disk(), write=write))
    for flush in stream:
        moment = flush.t
        writer.write(flush)
        writer.tick(flush.t)
    data = (tmp_path / "a.jsonl").read_bytes()
    writer.close("done")
    rng = random.Random(1)
    for _ in range(MOMENTS):
        moment, before, length = rng.choice(appends[1:])
        (tmp_path / "cut.jsonl").write_bytes(data[: before + rng.randrange(length)])
        found = cost(tmp_path / "cut.jsonl", [flush for flush in stream if flush.t <= moment])
        assert not found["harmed"]
        assert found["lost_s"] <= LOST_LIMIT_S


def test_cut_at_every_byte_it_plays_as_far_as_its_lines_go(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    record(path, [window(0, [100, 200]), events.Mark(t=5_000, text="m"), window(6_000, [300])])
    data = path.read_bytes()
    for cut in range(len(data) + 1):
        path.write_bytes(data[:cut])
        if cut <= data.index(b"\n"):
            with pytest.raises(HettopError):
                Player(path)
            continue
        player = Player(path)
        player.seek(player.duration_ns)
        committed = [json.loads(line) for line in data[:cut].split(b"\n")[:-1]]
        assert player.session.samples == sum(line.get("n", 0) for line in committed if line["k"] == "samples")
        assert player.duration_ns == committed[-1]["t"]
        player.close()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB; only those who may mount have one."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    mounted = mount and subprocess.run(
        [mount, "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if not mounted or mounted.returncode:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)  # also when a failed test holds a file open


def fill(path: Path) -> None:
    """Take all that is left of the disk."""
    fd = os.open(path, os.O_CREAT | os.O_WRONLY)
    with contextlib.suppress(OSError):
        while os.write(fd, b"x" * 4096):
            pass
    os.close(fd)


def test_on_a_disk_that_is_really_full_recording_goes_on_once_there_is_room(small_disk: Path) -> None:
    path, filler = small_disk / "a.jsonl", small_disk / "filler"
    writer = Writer(path, header())
    stream = flushes(5, 30.0)
    for index, flush in enumerate(stream):
        if index == len(stream) // 3:
            fill(filler)
        if index == 2 * len(stream) // 3:
            assert writer.fault is not None
            assert "ENOSPC" in writer.fault
            filler.unlink()
        writer.write(flush)
        writer.tick(flush.t)
    closed = writer.close("done")
    found, report = read(path, check_crc=True)
    declared = sum(event.n for event in found if isinstance(event, events.Dropped))
    assert not report.skipped
    assert report.ended
    assert declared > 0
    assert report.samples + declared == sum(flush.n for flush in stream)
    assert (closed.undeclared, closed.dropped) == (0, declared)


def test_what_is_missing_in_the_end_is_reported_at_exit(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", LIMITED, "3000", *HETTOP, "bench", *SIMULATED, "--duration", "3s", "--json"]
    done = subprocess.run(
        [*argv, "--record", "r.jsonl"],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        cwd=tmp_path,
        env=plain_environment(PYTHONDONTWRITEBYTECODE="1"),
    )
    assert done.stdout, done.stderr
    measured = sum(row["n"] for row in one_document(done.stdout)["conditions"])
    assert done.returncode == 3
    assert "EFBIG" in done.stderr
    assert "samples missing from the recording" in done.stderr
    assert "Traceback" not in done.stderr
    _, report = read(tmp_path / "r.jsonl")
    assert not report.skipped
    assert report.samples < measured


def test_a_machine_that_sleeps_for_hours_costs_no_sample_and_no_seek(tmp_path: Path) -> None:
    """The session's clock may stand still meanwhile, or go on: here it goes on, by half a day and by two days."""
    path = tmp_path / "a.jsonl"
    stream: list[AnyEvent] = []
    begin = 0
    for slept_h in (12, 48, 0):
        stream += flushes(begin % 97, 40.0, start=begin)
        begin = stream[-1].t + slept_h * 3600 * SECOND
    record(path, stream)
    found, report = read(path, check_crc=True)
    kept = [event for event in found if isinstance(event, Samples)]
    told = [event for event in stream if isinstance(event, Samples)]
    for one, other in zip(columns(kept), columns(told), strict=True):
        assert np.array_equal(one, other)
    assert not report.skipped
    assert verify(path).ok
    player = Player(path, folded_bytes=0)
    for moment in (told[-1].t, 13 * 3600 * SECOND, 39 * SECOND, 12 * 3600 * SECOND + 70 * SECOND):
        player.seek(moment)
        folded = Session(raw_limit=0)
        for event in found:
            if event.t <= player.position_ns:
                folded.fold(event)
        assert events.encode(player.session.keyframe(0, 0)) == events.encode(folded.keyframe(0, 0))
