"""What a window must hold, beyond its form, to be believed; the same for writing and reading.

Knows one window at a time; what lines say about each other is the reader's matter.
"""

from __future__ import annotations

import numpy as np

from hettop.events import LARGEST_EXACT, LATENCY_LIMIT_NS, TEXT_LIMIT, WINDOW_LIMIT, Samples

# A window is committed after its samples ended. Writers that stamp it at its start are forgiven up to this much;
# more means that a digit of t0 or of a gap is damaged.
CLOCK_SLACK_NS = 10 * 10**9


def clock_fault(window: Samples) -> str | None:
    """Why the window's times cannot be right, or None. In a believable window the last end is also the latest."""
    steps = window.gap_ns[1:] + window.lat_ns[:-1]
    if steps.size and int(steps.min()) < 0:
        return "a sample starts before the one ahead of it"
    # In float64: a damaged gap can make the exact sum overflow, and this only has to be right to a second.
    end = window.t0 + float(np.sum(steps, dtype=np.float64)) + int(window.lat_ns[-1])
    if end > window.t + CLOCK_SLACK_NS:
        return "samples that end after their window was written"
    return None


def form_fault(window: Samples) -> str | None:
    """Why a reader would refuse the window's numbers or texts, or None."""
    if not 1 <= window.n <= WINDOW_LIMIT:
        return f"a window of {window.n} samples"
    if max(len(window.unit), len(window.condition), len(window.thermal or "")) > TEXT_LIMIT:
        return f"a text of over {TEXT_LIMIT} characters"
    if window.t0 < 0 or max(window.t0, window.t) > LARGEST_EXACT:
        return "a time out of range"
    ranges = (
        ("gap", window.gap_ns, -LARGEST_EXACT, LARGEST_EXACT),
        ("latency", window.lat_ns, 0, LATENCY_LIMIT_NS),
        ("native latency", window.native_ns, 0, LATENCY_LIMIT_NS),
        ("lateness", window.late_ns, -LARGEST_EXACT, LARGEST_EXACT),
    )
    for name, column, lowest, highest in ranges:
        if column is not None and (int(column.min()) < lowest or int(column.max()) > highest):
            return f"a {name} out of range"
    return None
