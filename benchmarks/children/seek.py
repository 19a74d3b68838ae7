"""Goes about in a recording: `python -m benchmarks.children.seek FILE TIMES cold|cached|spikes|overview`.

`cold` and `cached` seek random moments, `spikes` goes from there to the next spike or the previous one, and `overview`
looks at all of it, for the scrub bar. Prints the seconds each took and the bytes by which memory has grown as JSON.
`cold` has the system forget the file before each seek, where it can.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from hettop.app.replay import SCANNED_AT_ONCE_BYTES
from hettop.record.player import Player

COLUMNS = 200


def main() -> None:
    path, count, how = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    process = psutil.Process()
    before = process.memory_info().rss
    player = Player(path)
    rng = random.Random(3)
    seconds: list[float] = []
    processor: list[float] = []
    pieces: list[float] = []
    largest = 0
    for _ in range(count):
        target = rng.randrange(player.duration_ns)
        if how == "spikes":
            player.seek(target)
        if how == "cold":
            _forget(path)
        if how == "overview":
            pieces += _look_at_all(player)
            seconds.append(sum(pieces))
        elif how == "spikes":
            seconds.append(_timed(lambda: player.next_spike(rng.choice((-1, 1)))))
        else:
            before_it = time.process_time()
            seconds.append(_timed(lambda moment=target: player.seek(moment)))  # type: ignore[misc]
            processor.append(time.process_time() - before_it)
        largest = max(largest, process.memory_info().rss)
    player.close()
    longest = [max(pieces)] if pieces else []
    told = {"seconds": seconds, "processor": processor, "longest": longest, "grown": [largest - before]}
    json.dump(told, sys.stdout)


def _look_at_all(player: Player) -> list[float]:
    """Seconds of each piece of work."""
    pieces = []
    while not player.scanned:
        pieces.append(_timed(lambda: player.scan(SCANNED_AT_ONCE_BYTES)))
    overview = player.overview()
    while not overview.done:
        pieces.append(_timed(overview.poll))
    pieces.append(_timed(lambda: overview.bands(COLUMNS)))
    return pieces


def _timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def _forget(path: Path) -> None:
    if sys.platform == "linux":
        with path.open("rb") as file:
            os.fsync(file.fileno())  # what is not written yet cannot be forgotten
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


if __name__ == "__main__":
    main()
