"""How soon after a key is pressed the engine starts a sample of another unit, all units being loaded.

The whole way: the key through a real terminal, the screen's event loop, the engine process; and without the screen.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks import models
from benchmarks.plan import Plan, child
from benchmarks.recordings import units_that_ran, windows_of
from benchmarks.rows import MS_OF_NS, Row, at_most, worst_at_most
from benchmarks.terminal import Terminal
from hettop.app.live import LiveFeed
from hettop.measurement.measurement import Measurement
from hettop.measurement.options import DEFAULT_MODEL, MeasureOptions, ModelOptions
from hettop.measurement.setup import prepare
from hettop.sources.engine.backend import RealClock

LIMIT_NS = 100e6
FIRST_UNIT = "CPU_ONLY"
SWITCHES = 30
BETWEEN_S = (0.6, 1.2)  # so that keys meet every moment between two redraws
PUMP_S = 0.02
LOADING_S = 60.0


class FixedOrigin(RealClock):
    """The machine's clock, with its first reading kept."""

    def __init__(self) -> None:
        self.origin = RealClock.now()
        self.now = self._first  # only the first reading differs

    def _first(self) -> int:
        self.now = RealClock.now
        return self.origin


def measure(plan: Plan) -> Iterator[Row]:
    """Rows for the key in a real terminal and for the feed alone, with the default model and a fast one."""
    switches = plan.either(SWITCHES, 4)
    for name, model in (("MobileNetV2", DEFAULT_MODEL), ("a .3 ms model", str(models.sub_millisecond(plan.folder)))):
        pressed = _by_key(plan, model, switches)
        yield at_most(f"switch: key to first sample, {name}", LIMIT_NS, pressed, MS_OF_NS)
        yield worst_at_most(f"switch: key to first sample, {name}, worst", LIMIT_NS, pressed, MS_OF_NS)
        yield at_most(
            f"switch: the same without the screen, {name}", LIMIT_NS, _by_call(plan, model, switches), MS_OF_NS
        )


def _by_key(plan: Plan, model: str, switches: int) -> list[float]:
    recording, origin_file = plan.folder / "switch.jsonl", plan.folder / "origin"
    rng = random.Random(2)
    pressed = []
    units = len(prepare(ModelOptions(model), ("all",), os.cpu_count() or 1).units)
    with Terminal(child("live_noting_origin", model, FIRST_UNIT, str(recording), str(origin_file))) as terminal:
        _await_running(recording, 1)
        for loaded in range(2, units + 1):
            terminal.press("c")
            _await_running(recording, loaded)
        for _ in range(switches):
            time.sleep(rng.uniform(*BETWEEN_S))
            pressed.append(terminal.press("c"))
        time.sleep(1.5)
        terminal.quit()
    origin = int(origin_file.read_text(encoding="utf-8"))
    found = _to_first_sample(recording, [moment - origin for moment in pressed])
    recording.unlink()
    return found


def _await_running(recording: Path, units: int) -> None:
    """Wait until so many units have run; a change of state is in the file at once."""
    deadline = time.monotonic() + LOADING_S
    while not recording.exists() or len(units_that_ran(recording)) < units:
        if time.monotonic() > deadline:
            raise TimeoutError(f"not {units} units loaded after {LOADING_S} s")
        time.sleep(0.2)


def _by_call(plan: Plan, model: str, switches: int) -> list[float]:
    recording = plan.folder / "switch-call.jsonl"
    setup = prepare(ModelOptions(model), ("all",), os.cpu_count() or 1)
    clock = FixedOrigin()
    feed = LiveFeed(
        Measurement(setup, MeasureOptions(record=str(recording)), rows=setup.units, raw_limit=0, clock=clock)
    )
    rng = random.Random(2)
    called = []
    try:
        feed.switch(FIRST_UNIT)
        feed.measurement.engine.preload(setup.units)
        _pump(feed, 3.0, until_loaded=len(setup.units))
        for number in range(switches):
            called.append(clock.now() - clock.origin)
            feed.switch(setup.units[(number + 1) % len(setup.units)])
            _pump(feed, rng.uniform(*BETWEEN_S))
    finally:
        feed.close("done")
    found = _to_first_sample(recording, called)
    recording.unlink()
    return found


def _pump(feed: LiveFeed, seconds: float, until_loaded: int = 0) -> None:
    """Drain the feed for so long, and longer until so many units are loaded."""
    end = time.monotonic() + seconds
    while time.monotonic() < end or _loaded(feed) < until_loaded:
        feed.pump()
        time.sleep(PUMP_S)


def _loaded(feed: LiveFeed) -> int:
    return sum(state in ("running", "paused") for state in feed.measurement.engine.states.values())


def _to_first_sample(recording: Path, moments: list[int]) -> list[float]:
    """Ns from each moment to the first start after it of a sample that follows a break (phase `resume`)."""
    starts = np.sort([window.t0 for window in windows_of(recording) if window.phase == "resume"])
    places = np.searchsorted(starts, moments)
    return [float(starts[place] - moment) for place, moment in zip(places.tolist(), moments, strict=True)]
