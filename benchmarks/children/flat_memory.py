"""Folds many samples into a session as a live view does, takes views of it, and prints how memory has grown as JSON.

After the first million: the largest resident size less the one then, and the slope of a straight line through all.

`python -m benchmarks.children.flat_memory SAMPLES`: windows of 1,000 samples of .5 ms; a view each 50,000 samples.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import psutil

from benchmarks.streams import windows
from hettop.session.session import Session
from hettop.session.views.session_view import view
from hettop.session.views.structs import ViewRequest

WINDOW = 1_000
VIEW_EVERY = 50
SETTLED = 1_000_000
LOOKED_BACK_NS = 30 * 10**9


def main() -> None:
    wanted = int(sys.argv[1])
    session, process = Session(raw_limit=0), psutil.Process()
    after_a_million = largest = 0
    folded: list[int] = []
    held: list[int] = []
    begin = time.process_time()
    for number, window in enumerate(windows(WINDOW, wanted // WINDOW, np.random.default_rng(1)), 1):
        session.fold(window)
        if number % VIEW_EVERY:
            continue
        view(session, ViewRequest(now_ns=window.t, window_ns=LOOKED_BACK_NS))
        resident = process.memory_info().rss
        if session.samples >= SETTLED:
            after_a_million = after_a_million or resident
            largest = max(largest, resident)
            folded.append(session.samples)
            held.append(resident)
    slope = float(np.polyfit(folded, held, 1)[0]) if len(folded) > 1 else 0.0
    told = {
        "samples": session.samples,
        "bytes": largest - after_a_million,
        "bytes_a_sample": slope,
        "resident": largest,
        "seconds": time.process_time() - begin,
    }
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()
