"""Seeks to random moments of a recording: `python -m benchmarks.children.seek FILE SEEKS cold|cached`.

Prints the seconds each took and the bytes by which memory has grown as JSON. `cold` has the system forget the file
before each seek, where it can.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path

import psutil

from hettop.record.player import Player


def main() -> None:
    path, count, how = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    process = psutil.Process()
    before = process.memory_info().rss
    player = Player(path)
    rng = random.Random(3)
    seconds = []
    largest = 0
    for _ in range(count):
        target = rng.randrange(player.duration_ns)
        if how == "cold":
            _forget(path)
        begin = time.perf_counter()
        player.seek(target)
        seconds.append(time.perf_counter() - begin)
        largest = max(largest, process.memory_info().rss)
    player.close()
    json.dump({"seconds": seconds, "grown": [largest - before]}, sys.stdout)


def _forget(path: Path) -> None:
    if hasattr(os, "posix_fadvise"):
        with path.open("rb") as file:
            os.fsync(file.fileno())  # what is not written yet cannot be forgotten
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


if __name__ == "__main__":
    main()
