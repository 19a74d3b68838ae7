from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from contextlib import suppress

import pytest

from hettop.sources.engine.frames import (
    AnyFrame,
    FrameReader,
    LostReport,
    SampleFrame,
    StateReport,
    encode_report,
    encode_samples,
)
from hettop.sources.engine.publisher import FrameWriter

PER_FRAME = 100


def frame(number: int) -> bytes:
    starts = array("q", range(number * PER_FRAME, (number + 1) * PER_FRAME))
    return encode_samples("steady", starts, starts, None, None)


class Reader:
    """The other end of the pipe; reads only when asked to."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self.fd = fd
        self.frames: list[AnyFrame] = []
        self._reader = FrameReader()

    def read(self, size: int = 1 << 22) -> None:
        with suppress(BlockingIOError):
            self.frames += self._reader.feed(os.read(self.fd, size))

    @property
    def samples(self) -> int:
        return sum(len(frame.start) for frame in self.frames if isinstance(frame, SampleFrame))

    @property
    def lost(self) -> int:
        return sum(frame.n for frame in self.frames if isinstance(frame, LostReport))


@pytest.fixture
def pipe() -> Iterator[tuple[int, Reader]]:
    read, write = os.pipe()
    yield write, Reader(read)
    for fd in (read, write):
        with suppress(OSError):
            os.close(fd)


def test_a_reader_that_keeps_up_gets_everything_in_order(pipe: tuple[int, Reader]) -> None:
    writer, reader = FrameWriter(pipe[0], 1 << 20), pipe[1]
    for number in range(200):
        writer.post_samples(frame(number), PER_FRAME)
        writer.flush()
        reader.read()
    starts = [start for f in reader.frames if isinstance(f, SampleFrame) for start in f.start.tolist()]
    assert starts == list(range(200 * PER_FRAME))
    assert not writer.pending


def test_a_full_pipe_never_blocks_and_what_was_lost_is_declared(pipe: tuple[int, Reader]) -> None:
    # 64 KiB in the pipe and 20,000 bytes of backlog: of 1,000 frames of 1.6 kB most find no room.
    writer, reader = FrameWriter(pipe[0], 20_000), pipe[1]
    for number in range(1000):
        writer.post_samples(frame(number), PER_FRAME)
        writer.flush()
    assert writer.pending
    while writer.pending:
        reader.read()
        writer.flush()
    reader.read()
    assert reader.lost > 50_000
    assert reader.samples + reader.lost == 1000 * PER_FRAME


def test_the_declaration_stands_where_the_samples_would_have_been(pipe: tuple[int, Reader]) -> None:
    writer, reader = FrameWriter(pipe[0], 4 * len(frame(0))), pipe[1]
    posted = 0
    while not any(isinstance(f, LostReport) for f in reader.frames):
        writer.post_samples(frame(posted), PER_FRAME)
        writer.flush()
        posted += 1
        if posted > 100:  # by now the pipe is full
            reader.read(5000)
    place = next(i for i, f in enumerate(reader.frames) if isinstance(f, LostReport))
    before, lost = reader.frames[place - 1], reader.frames[place]
    assert isinstance(before, SampleFrame)
    assert isinstance(lost, LostReport)
    for number in range(posted, posted + 300):
        writer.post_samples(frame(number), PER_FRAME)
        writer.flush()
        reader.read()
    after = reader.frames[place + 1]
    assert isinstance(after, SampleFrame)
    assert int(after.start[0]) == int(before.start[-1]) + 1 + lost.n


def test_a_report_finds_room_when_samples_do_not(pipe: tuple[int, Reader]) -> None:
    writer, reader = FrameWriter(pipe[0], 2000), pipe[1]
    for number in range(100):
        writer.post_samples(frame(number), PER_FRAME)
        writer.flush()
    writer.post(encode_report(StateReport(state="paused")))
    while writer.pending:
        reader.read()
        writer.flush()
    reader.read()
    assert reader.frames[-1] == StateReport(state="paused")
    assert reader.samples + reader.lost == 100 * PER_FRAME


def test_closing_gives_up_on_a_reader_that_reads_nothing(pipe: tuple[int, Reader]) -> None:
    writer = FrameWriter(pipe[0], 1 << 20)
    for number in range(100):
        writer.post_samples(frame(number), PER_FRAME)
    writer.close(patience_s=0.05)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.write(pipe[0], b"")


def test_a_reader_that_is_gone_is_a_broken_pipe(pipe: tuple[int, Reader]) -> None:
    writer = FrameWriter(pipe[0], 1 << 20)
    os.close(pipe[1].fd)
    writer.post_samples(frame(0), PER_FRAME)
    with pytest.raises(BrokenPipeError):
        writer.flush()
