"""What a terminal is really sent: nothing of a hostile recording reaches it but as text."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from pathlib import Path

import pytest

from tests.cli.running import HETTOP, plain_environment
from tests.export.recordings import hostile
from tests.processes.waiting import PATIENCE_S

SHOWN = b"<img"  # of every hostile text: literally, as what it is
NEVER = {
    "the clipboard": b"\x1b]52",
    "a bell": b"\x07",
    "right to left": "\u202e".encode(),
    "C1": "\x9b".encode(),
}
SHAPES = re.compile(rb"\x1b\]22;[a-z-]*\x07")  # of the pointer: the screen's own
KEYS = b"3\r?q4zz"  # units, details, help and out of it, events, zoom


@pytest.mark.parametrize("size", [(40, 120), (24, 80)])
def test_a_replay_of_a_hostile_recording_sends_no_sequence_of_its(tmp_path: Path, size: tuple[int, int]) -> None:
    recording = hostile(tmp_path)
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    process = subprocess.Popen(
        [*HETTOP, "replay", str(recording.path), "--at", "13s"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        env=plain_environment(),
    )
    os.close(slave)
    try:
        sent = sent_until(master, SHOWN)
        for key in KEYS:
            os.write(master, bytes([key]))
            sent += sent_for(master, 0.2)
        os.write(master, b"q")
        sent += sent_for(master, PATIENCE_S)
        assert process.wait(PATIENCE_S) == 0
    finally:
        process.kill()
        process.wait()
        os.close(master)
    sent = SHAPES.sub(b"", sent)
    for what, found in NEVER.items():
        assert found not in sent, what


def sent_until(master: int, wanted: bytes) -> bytes:
    """All that is sent up to `wanted`."""
    deadline = time.monotonic() + PATIENCE_S
    sent = b""
    while wanted not in sent:
        assert time.monotonic() < deadline, f"{wanted!r} never came: {sent[-2000:]!r}"
        sent += sent_for(master, 0.1)
    return sent


def sent_for(master: int, seconds: float) -> bytes:
    """What is sent in so many seconds, or until the other end is closed."""
    deadline = time.monotonic() + seconds
    sent = b""
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([master], [], [], left)[0]:
            break
        try:
            part = os.read(master, 1 << 16)
        except OSError:  # Linux says so when the other end is closed
            break
        if not part:
            break
        sent += part
    return sent
