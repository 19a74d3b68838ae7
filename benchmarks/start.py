"""How soon hettop answers: its version, its first paint against an empty Textual app, its first live number."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence

from benchmarks.plan import ROOT, Plan, child, hettop
from benchmarks.rows import MS_OF_S, RATIO, SECONDS, Row, at_most, for_comparison
from benchmarks.terminal import COLUMNS, LINES, Terminal

VERSION_LIMIT_S = 0.15
PAINT_LIMIT = 1.8
FIRST_NUMBER_LIMIT_S = 2.0
REPEATS = 20

PAINTED_BYTES = COLUMNS * LINES // 2
"""Half a screen of cells. What Textual sends before it paints (modes, queries) is below 500 bytes."""

FIRST_NUMBER = rb"P50\s*\d"


def measure(plan: Plan) -> Iterator[Row]:
    """Rows for the three answers. What is compared is run in turns."""
    repeats = plan.either(REPEATS, 3)
    for argv in (child("empty_app"), hettop()):
        _seconds_to_paint(argv)  # once before, so that everything is compiled and read from disk
    versions, bare = [], []
    for _ in range(repeats):
        versions.append(_run_seconds(hettop("--version")))
        bare.append(_run_seconds([sys.executable, "-c", "pass"]))
    yield at_most("start: `hettop --version`", VERSION_LIMIT_S, versions, MS_OF_S)
    yield for_comparison("start: `python -c pass`", bare, MS_OF_S)

    painted, empty = [], []
    for _ in range(repeats):
        empty.append(_seconds_to_paint(child("empty_app")))
        painted.append(_seconds_to_paint(hettop()))
    ratios = [one / other for one, other in zip(painted, empty, strict=True)]
    yield at_most("start: first paint, hettop / empty Textual app", PAINT_LIMIT, ratios, RATIO)
    yield for_comparison("start: first paint, hettop", painted, MS_OF_S)
    yield for_comparison("start: first paint, empty Textual app", empty, MS_OF_S)

    _seconds_to_number()  # builds the model, if this machine has never done so
    numbers = [_seconds_to_number() for _ in range(plan.either(10, 2))]
    yield at_most("start: first live P50 on screen, MobileNetV2, warm cache", FIRST_NUMBER_LIMIT_S, numbers, SECONDS)


def _run_seconds(argv: Sequence[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(argv, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def _seconds_to_paint(argv: Sequence[str]) -> float:
    with Terminal(argv) as terminal:
        return (terminal.await_bytes(PAINTED_BYTES, 20) - terminal.started) / 1e9


def _seconds_to_number() -> float:
    """From the start of the process to a P50 on the screen: eleven calls and a redraw after the load."""
    with Terminal(hettop()) as terminal:
        moment = terminal.await_text(FIRST_NUMBER, 30)
        terminal.quit()
        return (moment - terminal.started) / 1e9
