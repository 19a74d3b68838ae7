"""The canary, a process of its own: draws nothing 60 times a second, and reports how often it came too late.

What it misses, the user of this machine sees stutter. Once a second it also times a fixed piece of arithmetic in CPU
time: when that takes longer, the clock of the core is lower, whatever the system says. Ends with its standard input.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time

from hettop.processes.serve import begin_child, end_with_parent

FRAMES_PER_S = 60
PERIOD_NS = 10**9 // FRAMES_PER_S

BLOCK = bytes(16 << 10)  # stays in the first-level cache: memory traffic of others must not look like a lower clock
ROUNDS = 32  # about a millisecond, far above the clock's resolution, far below a frame


class FrameCounter:
    """Frames are due every `PERIOD_NS` from `first_due_ns` on; one that is not drawn before the next is due is missed.

    due, missed, worst_ns: since the last `reset`; `worst_ns` is the longest delay of a drawing behind its frame.
    """

    def __init__(self, first_due_ns: int) -> None:
        self.next_due_ns = first_due_ns
        self.due = self.missed = self.worst_ns = 0

    def drew(self, now_ns: int) -> None:
        """A frame was drawn at `now_ns`: the newest one due, for those before it nobody sees any more."""
        late_ns = now_ns - self.next_due_ns
        if late_ns < 0:
            return
        missed = late_ns // PERIOD_NS
        self.due += missed + 1
        self.missed += missed
        self.worst_ns = max(self.worst_ns, late_ns)
        self.next_due_ns += (missed + 1) * PERIOD_NS

    def reset(self) -> None:
        self.due = self.missed = self.worst_ns = 0


def kernel_ns() -> int:
    """CPU time of the fixed piece of arithmetic: time that others take from this core does not count."""
    began = time.thread_time_ns()
    for _ in range(ROUNDS):
        hashlib.sha256(BLOCK)
    return time.thread_time_ns() - began


def run(out: int) -> None:
    """Reports a line on `out` each second, for ever."""
    os.set_blocking(out, False)
    counter = FrameCounter(time.monotonic_ns())
    while True:
        for _ in range(FRAMES_PER_S):
            pause_ns = counter.next_due_ns - time.monotonic_ns()
            if pause_ns > 0:
                time.sleep(pause_ns / 1e9)
            counter.drew(time.monotonic_ns())
        _report(out, counter, kernel_ns())
        counter.reset()


def _report(out: int, counter: FrameCounter, kernel: int) -> None:
    line = {"due": counter.due, "missed": counter.missed, "worst_ns": counter.worst_ns, "kernel_ns": kernel}
    with contextlib.suppress(BlockingIOError):  # a parent that does not read must not make frames late
        os.write(out, json.dumps(line).encode() + b"\n")


if __name__ == "__main__":
    stdout = begin_child()
    end_with_parent(0)
    run(stdout)
