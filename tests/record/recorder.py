"""A program that records a simulated engine in real time until it is killed.

It says on stdout, for each window, when it began and was handed over, and how many samples there were by then.
Usage: python -m tests.record.recorder FILE [LARGEST_FILE_BYTES]
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

from hettop.record.writer import Writer
from tests.record.stories import MS, header, window


def main() -> None:
    path = Path(sys.argv[1])
    if len(sys.argv) > 2:
        limit = int(sys.argv[2])
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    writer = Writer(path, header(), sync_every_s=0.05)
    began = time.monotonic_ns()
    measured = 0
    while True:
        # Windows far finer than an engine's, so that a kill finds the writer busy.
        t0 = time.monotonic_ns() - began
        time.sleep(0.001)
        t = time.monotonic_ns() - began
        writer.write(window(t0, [MS // 20] * 10, gaps=[0] * 10, t=t))
        writer.tick(t)
        measured += 10
        print(t0, t, measured, writer.fault or "", flush=True)
        if writer.fault and measured > 30_000:
            closed = writer.close("disk full")
            print("closed", closed.samples, closed.dropped, closed.undeclared, flush=True)
            return


if __name__ == "__main__":
    main()
