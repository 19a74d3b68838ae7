"""Stands in for powermetrics: prints property lists every STAND_IN_INTERVAL seconds, or fails as the real one does.

STAND_IN_POWERMETRICS is a key of WAYS. Like the real one it dies of SIGPIPE when nobody reads it any more.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count

from tests.sources.power.captures import CHIPS, intel_text, plist, truth_of, virtual_machine

DOCUMENT = plist(truth_of(CHIPS["M2 Pro"]))
INTERVAL = float(os.environ.get("STAND_IN_INTERVAL", "0.02"))


def documents(piece: bytes = DOCUMENT, first: bytes | None = None) -> Iterator[bytes]:
    """As the real stream: a NUL before each but the first."""
    yield piece if first is None else first
    while True:
        time.sleep(INTERVAL)
        yield b"\0" + piece


def steady() -> None:
    write(documents())


def slow() -> None:
    time.sleep(0.5)
    steady()


def split() -> None:
    write(bytes([byte]) for byte in DOCUMENT)
    steady()


def noise() -> None:
    write(documents(b"Second underflow occured.\n" + DOCUMENT, b"Second underflow occured.\n" + DOCUMENT))


def stuck() -> None:
    write([DOCUMENT])
    time.sleep(3600)


def silent() -> None:
    time.sleep(3600)


def deaf() -> None:
    """It stands still, and cannot be asked to end."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    stuck()


def killed() -> None:
    write([DOCUMENT])
    os.kill(os.getpid(), signal.SIGKILL)


def finite() -> None:
    write(piece for piece, _ in zip(documents(), range(3), strict=False))


def empty() -> None:
    pass


def binary() -> None:
    write(bytes(range(256)) * 400 for _ in count())


def damaged() -> None:
    write(documents(b"<plist><dict><key></plist>"))


def intel() -> None:
    write(documents(intel_text().encode()))


def virtual() -> None:
    write(documents(virtual_machine()))


def commas() -> None:
    write(documents(DOCUMENT.replace(b".", b",")))


def chatty() -> None:
    """Much more on stderr than a pipe holds."""
    for number in range(4000):
        sys.stderr.write(f"warning {number}: something of no consequence\n")
    steady()


def superuser() -> None:
    fail("powermetrics must be invoked as the superuser")


def sampler() -> None:
    fail("unrecognized sampler: gpu_power")


WAYS: dict[str, Callable[[], None]] = {
    way.__name__: way
    for way in (
        *(steady, slow, split, noise, stuck, silent, deaf, killed, finite, empty, binary, damaged, intel, virtual),
        *(commas, chatty, superuser, sampler),
    )
}


def write(pieces: Iterator[bytes] | list[bytes]) -> None:
    for piece in pieces:
        os.write(1, piece)


def fail(words: str) -> None:
    sys.stderr.write(words + "\n")
    sys.exit(1)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    WAYS[os.environ.get("STAND_IN_POWERMETRICS", "steady")]()
