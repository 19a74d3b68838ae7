"""What a screen that changes all the time sends over a line: bytes a second, as such, compressed, and from tmux."""

from __future__ import annotations

import shutil
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchmarks.plan import Plan, hettop
from benchmarks.rows import Row, Unit, for_comparison
from benchmarks.terminal import Terminal

FILLED_S = 12  # bars have spread over the panels by then
WINDOW_S = 4  # with one redraw a second, shorter ones have one more or less in them
WINDOWS = 5
MOST_BYTES = 1 << 24
KB_PER_SECOND = Unit(" kB/s", 1e-3, 1)
# OpenSSH's `Compression yes` is zlib at this level, flushed with each packet (RFC 4253, 6.2).
SSH_LEVEL = 6


@dataclass(frozen=True, slots=True)
class Case:
    """The demo on a screen of this size, redrawn so often; `keys` are pressed once it measures."""

    words: str
    columns: int = 120
    lines: int = 40
    fps: int = 4
    keys: str = ""
    tmux: bool = False
    compressed: bool = False


CASES = (
    Case("120x40", compressed=True),
    Case("80x24", columns=80, lines=24),
    Case("120x40, --fps 1", fps=1),
    Case("80x24, --fps 1", columns=80, lines=24, fps=1, compressed=True),
    Case("120x40, from tmux to its client", tmux=True),
    Case("120x40, frozen", keys="f"),
)


def measure(plan: Plan) -> Iterator[Row]:
    """A row for each case, and one more where the same bytes were compressed."""
    for case in CASES:
        if case.tmux and shutil.which("tmux") is None:
            continue
        sent, compressed = _watch(plan, case)
        yield for_comparison(f"remote: sent by the demo, {case.words}", sent, KB_PER_SECOND)
        if case.compressed:
            yield for_comparison(f"remote: the same, compressed as by ssh -C, {case.words}", compressed, KB_PER_SECOND)


def _watch(plan: Plan, case: Case) -> tuple[list[float], list[float]]:
    """Bytes a second in each window, and over all of them compressed."""
    argv = hettop("--demo", "--fps", str(case.fps))
    if case.tmux:
        argv = ["tmux", "-S", str(plan.folder / "tmux"), "-f", "/dev/null", "new-session", *argv]
    with Terminal(argv, case.columns, case.lines, MOST_BYTES) as terminal:
        terminal.await_text(rb"P[59]0\s*\d|inf/s", 30)
        time.sleep(plan.either(FILLED_S, 2))
        for key in case.keys:
            terminal.press(key)
        time.sleep(1.0)  # the key itself changes the whole screen
        before = terminal.kept
        totals = []
        for _ in range(plan.either(WINDOWS, 1) + 1):
            totals.append(terminal.total_bytes)
            time.sleep(WINDOW_S)
        kept = terminal.kept
        assert sum(map(len, kept)) < MOST_BYTES
        terminal.quit()
    sent = [(after - first) / WINDOW_S for first, after in pairwise(totals)]
    # The last sleep came after the last count: what was kept spans one window more.
    return sent, [_squeezed(before, kept) / (len(totals) * WINDOW_S)]


def _squeezed(before: Sequence[bytes], all_parts: Sequence[bytes]) -> float:
    """The compressed size of what came after `before`, whose words the compressor knows already."""
    squeeze = zlib.compressobj(SSH_LEVEL)
    size = 0
    for number, part in enumerate(all_parts):
        out = squeeze.compress(part) + squeeze.flush(zlib.Z_SYNC_FLUSH)
        size += len(out) if number >= len(before) else 0
    return float(size)
