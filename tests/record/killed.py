"""Kills writers of recordings at random moments and reports what each kill cost, as one JSON document a line.

Every writer is a process that writes a simulated engine's samples as fast as it can; the time of its stream is
made up as well, so that a kill a few milliseconds later is one a second later in the stream.
Usage: python -m tests.record.killed FOLDER KILLS SEED
"""

from __future__ import annotations

import json
import os
import random
import signal
import struct
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from hettop.errors import HettopError
from hettop.events import Samples
from hettop.record.defects import TORN
from hettop.record.writer import Writer
from hettop.session.session import Session
from tests.record.stories import flushes, header, read

STREAM_S = 400.0  # longer than any of them lives
LONGEST_LIFE_S = 0.12
SYNC_EVERY_S = (0.01, 60.0)  # while the disk is busy, and while it is not
TOLD = struct.Struct("<q")


def main() -> None:
    folder, kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    rng = random.Random(seed)
    stream = flushes(seed, STREAM_S)
    warm = Session(0)
    for flush in stream[:400]:  # what is imported on first use is there then, and no kill is spent on it
        warm.fold(flush)
    for kill in range(kills):
        path = folder / f"writer-{kill}.jsonl"
        told = killed_after(rng.uniform(0, LONGEST_LIFE_S), path, stream, SYNC_EVERY_S[kill % len(SYNC_EVERY_S)])
        print(json.dumps(cost(path, stream[: told + 1])), flush=True)
        path.unlink(missing_ok=True)


def killed_after(life_s: float, path: Path, stream: Sequence[Samples], sync_every_s: float) -> int:
    """Writes `stream` to `path` until it is killed; the index of the last flush that was handed over, or -1."""
    heard, telling = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(heard)
        try:
            write(path, stream, telling, sync_every_s)
        finally:
            os._exit(1)  # never on into what the parent does
    os.close(telling)
    time.sleep(life_s)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    with os.fdopen(heard, "rb") as pipe:
        said = pipe.read()
    return int(TOLD.unpack(said[-TOLD.size :])[0]) if said else -1


def write(path: Path, stream: Sequence[Samples], telling: int, sync_every_s: float) -> NoReturn:
    """What the child does."""
    writer = Writer(path, header(), sync_every_s=sync_every_s)
    for index, flush in enumerate(stream):
        os.write(telling, TOLD.pack(index))
        writer.write(flush)
        writer.tick(flush.t)
    time.sleep(LONGEST_LIFE_S)
    os._exit(1)


def cost(path: Path, handed_over: Sequence[Samples]) -> dict[str, Any]:
    """Seconds of the stream that are missing at the end, and what is harmed before that."""
    try:
        found, report = read(path, check_crc=True)
    except (HettopError, OSError):  # killed before there was a header
        return {"lost_s": handed_over[-1].t / 1e9 if handed_over else 0.0, "harmed": [], "samples": 0, "torn": 0}
    kept = [event for event in found if isinstance(event, Samples)]
    expected, there = columns(handed_over), columns(kept)
    harmed = [kind for kind in report.skipped if kind != TORN] + ["checksum"] * report.crc_errors
    if any(not np.array_equal(one[: len(other)], other) for one, other in zip(expected, there, strict=True)):
        harmed.append("samples")
    last = int(there[0][-1] + there[1][-1]) if len(there[0]) else 0
    lost = (handed_over[-1].t - last) / 1e9 if handed_over else 0.0
    return {"lost_s": lost, "harmed": harmed, "samples": len(there[0]), "torn": report.torn_bytes}


def columns(windows: Sequence[Samples]) -> tuple[np.ndarray, np.ndarray]:
    """Starts and latencies."""
    if not windows:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    return (
        np.concatenate([window.starts_ns() for window in windows]),
        np.concatenate([window.lat_ns for window in windows]),
    )


if __name__ == "__main__":
    main()
