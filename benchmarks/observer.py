"""The observer effect: what the screen does to the latencies it shows, against a bare loop in a process of its own.

hettop and two bare loops take turns: while one runs, the others are stopped, so they never compete. The second bare
loop against the first tells how much two equal processes differ.
"""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil

from benchmarks import models
from benchmarks.plan import Plan, child
from benchmarks.recordings import samples_of
from benchmarks.rows import RATIO, Row, Unit, at_most, for_comparison
from benchmarks.terminal import Terminal

LIMITS = {"P50": (0.50, 1.02), "P99": (0.99, 1.10)}
LAUNCHES = 4  # new processes each: where code and data come to lie in memory alone makes some per cent
BLOCKS = 12  # in each launch, of each kind
BLOCK_S = 0.75
SETTLE_S = 0.25  # of each block these are left out: caches fill again, and the screen catches up
WATCHED_S = 20
UNIT = "CPU_ONLY@1"
MS = Unit(" ms", 1e-6, 4)
Block = dict[str, float]


def measure(plan: Plan) -> Iterator[Row]:
    """Rows for the ratio of P50 and of P99, screen to bare and bare to bare, and for the bare P50 itself."""
    model = models.sub_millisecond(plan.folder)
    pairs = []
    for launch in range(plan.either(LAUNCHES, 1)):
        plan.say(f"observer: launch {launch + 1}")
        pairs += _launch(plan, model, launch)
    for name, (_, limit) in LIMITS.items():
        watched = [screen[name] / bare[name] for bare, screen, _ in pairs]
        yield at_most(f"observer: {name} with the full screen / bare", limit, watched, RATIO)
        control = [again[name] / bare[name] for bare, _, again in pairs]
        yield for_comparison(f"observer: {name} bare / bare (A/A control)", control, RATIO)
    for name in LIMITS:
        yield for_comparison(f"observer: {name} of the bare loop", [bare[name] for bare, _, _ in pairs], MS)


class Bare:
    """A bare loop in a process of its own; `run` lets it go for one block."""

    def __init__(self, model: Path) -> None:
        self._process = subprocess.Popen(child("bare_loop", str(model)), stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self) -> Block:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{SETTLE_S} {BLOCK_S}\n".encode())
        self._process.stdin.flush()
        size = int(self._process.stdout.readline())
        return _quantiles(np.frombuffer(self._process.stdout.read(size), dtype=np.int64))

    def __enter__(self) -> Bare:
        self.run()  # once before, uncounted
        return self

    def __exit__(self, *_error: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


class Screen:
    """hettop in a terminal, stopped whenever it is not its turn; its samples come from its recording."""

    def __init__(self, terminal: Terminal, recording: Path, origin: Path, watched_s: float) -> None:
        self._terminal, self._recording, self._origin = terminal, recording, origin
        self._begun: list[int] = []
        terminal.await_text(rb"P50\s*\d", 30)
        time.sleep(watched_s)
        self._screen = psutil.Process(terminal.process.pid)
        engines = [
            process for process in self._screen.children() if "hettop.sources.engine.worker" in process.cmdline()
        ]
        self._engine = engines[0]
        self._stop()

    def run(self) -> None:
        self._begun.append(time.monotonic_ns())
        self._go_on()
        time.sleep(SETTLE_S + BLOCK_S)
        self._stop()

    def blocks(self) -> list[Block]:
        """What it measured in each block. Ends it."""
        self._go_on()
        time.sleep(1.0)
        self._terminal.quit()
        starts, latencies = samples_of(self._recording)
        starts += int(self._origin.read_text(encoding="utf-8"))
        blocks = []
        for begun in self._begun:
            settled = begun + int(SETTLE_S * 1e9)
            bounds = np.searchsorted(starts, (settled, settled + int(BLOCK_S * 1e9)))
            # The last sample may have been under way when the block ended, and hold the stop.
            blocks.append(_quantiles(latencies[bounds[0] : bounds[1] - 1]))
        return blocks

    def _stop(self) -> None:
        self._screen.suspend()
        self._engine.suspend()

    def _go_on(self) -> None:
        self._engine.resume()
        self._screen.resume()


def _launch(plan: Plan, model: Path, launch: int) -> list[tuple[Block, Block, Block]]:
    """Blocks (bare, screen, bare again) from new processes; the order of the three is drawn anew each time."""
    rng = random.Random(launch)
    bare: list[tuple[Block, Block]] = []
    recording, origin = plan.folder / f"observer-{launch}.jsonl", plan.folder / f"origin-{launch}"
    argv = child("live_noting_origin", str(model), UNIT, str(recording), str(origin))
    with Bare(model) as one, Bare(model) as other, Terminal(argv) as terminal:
        screen = Screen(terminal, recording, origin, plan.either(WATCHED_S, 3))
        for _ in range(plan.either(BLOCKS, 3)):
            found: dict[str, Block] = {}
            for turn in rng.sample(("one", "screen", "other"), 3):
                if turn == "screen":
                    screen.run()
                else:
                    found[turn] = (one if turn == "one" else other).run()
            bare.append((found["one"], found["other"]))
        watched = screen.blocks()
    return [(first, block, second) for (first, second), block in zip(bare, watched, strict=True)]


def _quantiles(latencies: np.ndarray) -> Block:
    return {name: float(np.quantile(latencies, level)) for name, (level, _) in LIMITS.items()}
