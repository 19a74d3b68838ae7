from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from hettop.processes.pipe_reader import READ_BYTES, Collector


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector(unread_bytes=100_000)
    yield made
    made.close()


def collect(collector: Collector, source: str, size: int) -> bytes:
    """What arrives from `source` until it is `size` bytes long or has ended."""
    received = b""
    while len(received) < size:
        collector.wait(10)
        pieces = [piece for piece in collector.take() if piece.source == source]
        received += b"".join(piece.data for piece in pieces)
        if any(not piece.data for piece in pieces):
            break
    return received


def test_bytes_come_with_their_source_and_an_end(collector: Collector) -> None:
    (read_a, write_a), (read_b, write_b) = os.pipe(), os.pipe()
    collector.add(read_a, "a")
    collector.add(read_b, "b")
    os.write(write_b, b"not for a")
    os.write(write_a, b"hello")
    os.close(write_a)
    assert collect(collector, "a", 100) == b"hello"
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(read_a)
    os.close(write_b)


def test_it_stops_reading_while_nobody_takes_and_loses_nothing(collector: Collector) -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    collector.add(read, "a")
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
    assert len(collect(collector, "a", sent + 1)) == sent
