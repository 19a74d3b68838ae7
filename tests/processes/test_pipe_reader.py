"""A thread that reads pipes: whose bytes they are, when it stops reading, and that no arrival is missed."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

from hettop.processes.pipe_reader import READ_BYTES, LineReader, PipeReader


@pytest.fixture
def reader() -> Iterator[PipeReader]:
    made = PipeReader(unread_bytes=100_000)
    yield made
    made.close()


def received(reader: PipeReader, source: str, size: int) -> bytes:
    """What arrives from `source` until it is `size` bytes long or has ended."""
    data = b""
    while len(data) < size:
        reader.wait(10)
        chunks = [chunk for chunk in reader.take() if chunk.source == source]
        data += b"".join(chunk.data for chunk in chunks)
        if any(not chunk.data for chunk in chunks):
            break
    return data


def test_bytes_come_with_their_source_and_an_end(reader: PipeReader) -> None:
    (read_a, write_a), (read_b, write_b) = os.pipe(), os.pipe()
    reader.add(read_a, "a")
    reader.add(read_b, "b")
    os.write(write_b, b"not for a")
    os.write(write_a, b"hello")
    os.close(write_a)
    assert received(reader, "a", 100) == b"hello"
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(read_a)
    os.close(write_b)


def test_it_stops_reading_while_nobody_takes_and_loses_nothing(reader: PipeReader) -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    reader.add(read, "a")
    sent = refused = 0
    while sent < 10_000_000 and refused < 100:  # in a row: the pipe stays full
        try:
            sent += os.write(write, bytes(50_000))
            refused = 0
        except BlockingIOError:
            refused += 1
            time.sleep(0.002)
    # The limit, one more read, and what the pipe itself holds.
    assert 100_000 <= sent < 100_000 + READ_BYTES + (1 << 20)
    os.close(write)
    assert len(received(reader, "a", sent + 1)) == sent


def test_what_arrives_while_the_last_is_taken_is_not_missed(reader: PipeReader) -> None:
    """A byte arrives before each line of `take` in turn: it is among what was taken, or is waited for with success."""
    read, write = os.pipe()
    reader.add(read, "a")
    lines = 0
    for arrives_at in range(1, 100):
        at = 0

        def trace(frame: FrameType, event: str, _arg: object) -> Any:
            nonlocal at
            at += event == "line"
            if event == "line" and at == arrives_at:  # noqa: B023 (called within this turn)
                os.write(write, b".")
                while select.select([read], [], [], 0)[0]:
                    time.sleep(0.001)
                time.sleep(0.02)  # from the pipe into the queue, if that is not locked now
            return trace if frame.f_code is PipeReader.take.__code__ else None

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            taken = reader.take()
        finally:
            sys.settrace(before)
        if at < arrives_at:
            break
        lines += 1
        assert taken or (reader.wait(5) and reader.take()), f"line {arrives_at}"
    assert lines >= 4
    os.close(write)


def test_one_that_is_closed_while_it_waits_for_room_ends_and_closes_its_pipes() -> None:
    reader = PipeReader(unread_bytes=1)
    read, write = os.pipe()
    reader.add(read, "a")
    os.write(write, b"more than it may keep")
    assert reader.wait(60)
    reader.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(read)
    os.close(write)


def test_lines_come_whole_however_their_bytes_come() -> None:
    reader = LineReader()
    assert reader.feed(b"one\ntw") == [b"one"]
    assert reader.unfinished == 2
    assert reader.feed(b"o\n\nthree\n") == [b"two", b"", b"three"]
    assert reader.unfinished == 0
