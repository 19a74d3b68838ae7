"""Counts the frames that a 60 Hz screen would have missed, from the moments at which it got to draw.

Pure: the clock is the caller's; times are nanoseconds of it.
"""

from __future__ import annotations

FRAMES_PER_S = 60
PERIOD_NS = 10**9 // FRAMES_PER_S


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
