"""Makes the sample sessions in recordings/: `python tools/samples.py [NAME …]`, on a machine that does
little else.

Steers a live feed by a fixed script, as a user would by keys; what is measured is measured, what is simulated says so.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hettop.app.live import LiveFeed
from hettop.measurement.measurement import Measurement
from hettop.measurement.options import MeasureOptions, ModelOptions
from hettop.measurement.setup import prepare
from hettop.sources.load.parts import parse_load

FOLDER = Path(__file__).resolve().parent.parent / "recordings"
PUMP_EVERY_S = 0.05


@dataclass(frozen=True, slots=True)
class Sample:
    """A session to record: file name, backend, units, rate, and what to do at which second; the last step ends it."""

    name: str
    backend: str
    units: tuple[str, ...]
    rate_hz: float | None
    steps: tuple[tuple[float, Callable[[LiveFeed], None]], ...]


def load(text: str) -> Callable[[LiveFeed], None]:
    return lambda feed: feed.set_load(parse_load(text))


def mark(text: str) -> Callable[[LiveFeed], None]:
    return lambda feed: feed.mark(text)


def switch(unit: str) -> Callable[[LiveFeed], None]:
    return lambda feed: feed.switch(unit)


def interleave(feed: LiveFeed) -> None:
    feed.interleave()


def study(name: str, for_s: float | None = None) -> Callable[[LiveFeed], None]:
    """Runs a study to its end, or ends it after so many seconds."""

    def run(feed: LiveFeed) -> None:
        feed.study(name)
        began = feed.now_ns
        while feed.session.studies.running is not None:
            feed.pump()
            time.sleep(PUMP_EVERY_S)
            if for_s is not None and feed.now_ns - began > for_s * 1e9:
                feed.end_study()

    return run


def end(_feed: LiveFeed) -> None:
    """Nothing more to do."""


SAMPLES = (
    Sample(
        "simulated-m2.jsonl",
        "simulated",
        ("all",),
        None,
        (
            (0, interleave),
            (14, mark("four units, no competing load")),
            (14.5, load("cpu:4")),
            (15, mark("four cores taken")),
            (21, load("none")),
            (22, switch("CPU_AND_GPU")),
            (25, switch("CPU_AND_NE")),
            (28, end),
        ),
    ),
    Sample(
        "simulated-m2-60hz.jsonl",
        "simulated",
        ("CPU_AND_GPU", "CPU_AND_NE"),
        60.0,
        (
            (0, switch("CPU_AND_GPU")),
            (14, load("gpu:1")),
            (14.1, mark("a second model takes the GPU")),
            (28, switch("CPU_AND_NE")),
            (42, end),
        ),
    ),
    Sample(
        "linux-x86-two-cores.jsonl",
        "onnxruntime",
        ("CPU_ONLY@1", "CPU_ONLY@2"),
        None,
        (
            (0, interleave),
            (19.5, mark("no competing load")),
            (20, load("cpu:1")),
            (32, mark("one of two cores taken")),
            (32.5, load("cpu:2")),
            (46, mark("both cores taken")),
            (46.5, load("none")),
            (52, end),
        ),
    ),
    Sample(
        "inside-mobilenetv2.jsonl",
        "onnxruntime",
        ("CPU_ONLY@1", "CPU_ONLY@2"),
        None,
        (
            (0, switch("CPU_ONLY@2")),
            (3, study("layers")),
            (3, study("roofline")),
            (3, study("sweep")),
            (3, study("variants")),
            (3, study("coexec", 25)),
            (3, study("plan")),
            (3, study("granularities")),
            (3, end),
        ),
    ),
)


def record(sample: Sample) -> None:
    model = ModelOptions(backend=sample.backend)
    setup = prepare(model, sample.units, os.cpu_count() or 1)
    options = MeasureOptions(rate_hz=sample.rate_hz, record=str(FOLDER / sample.name), force=True)
    feed = LiveFeed(Measurement(setup, options, rows=setup.units, raw_limit=0), model)
    try:
        for moment, step in sample.steps:
            while feed.now_ns < moment * 1e9:
                feed.pump()
                time.sleep(PUMP_EVERY_S)
            step(feed)
    finally:
        feed.close("the script ended")


if __name__ == "__main__":
    wanted = sys.argv[1:]
    for each in SAMPLES:
        if not wanted or each.name in wanted:
            record(each)
