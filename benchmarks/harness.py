"""What the engine's sampling loop costs a sample, beyond the prediction and two readings of the clock.

The real loop writes to a real pipe; the bare loop beside it only reads the clock and predicts.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator, Sequence
from itertools import pairwise, repeat
from typing import Any

import numpy as np

from benchmarks.plan import Plan
from benchmarks.rows import Row, Unit, at_most
from hettop.events import NO_LOAD
from hettop.models.ports import Feed, InputOptions, Port
from hettop.processes.qos import frozen_collector
from hettop.processes.serve import widen_pipe
from hettop.sources.engine.backend import Clock, Loaded, LoadOptions, RealClock
from hettop.sources.engine.frames import FrameReader, SampleFrame
from hettop.sources.engine.job import Limits, RunMode, Stop, WorkerState
from hettop.sources.engine.loop import Sampler
from hettop.sources.engine.publisher import FrameWriter
from hettop.sources.engine.usage import UsageMeter, peak_memory_mb

LIMIT_NS = 1_000.0
NS = Unit(" ns", decimals=0)
BACKLOG_BYTES = 4 << 20
HALF_MS_NS = 500_000
ROUNDS = 30
NOTHING_SAMPLES = 200_000
HALF_MS_SAMPLES = 1_000  # half a second: ten flushes


class Busy:
    """A backend whose prediction keeps a core busy for `busy_ns`; for 0 it returns at once."""

    name = "busy"
    simulated = False
    has_native = False

    def __init__(self, busy_ns: int) -> None:
        self.clock: Clock = RealClock()
        self._busy_ns = busy_ns
        self.predict = self._busy if busy_ns else _nothing

    def units(self) -> dict[str, str | None]:
        return {}

    def load(self, model: str, unit: str, options: LoadOptions) -> Loaded:  # noqa: ARG002 (nothing to load)
        return Loaded(unit, None, 0, (), ())

    def make_inputs(self, ports: Sequence[Port], options: InputOptions) -> Feed:  # noqa: ARG002 (nothing to feed)
        return {}

    def outputs(self) -> dict[str, Any]:
        return {}

    def native_ns(self) -> int | None:
        return None

    def told_load(self, condition: str) -> None:
        pass

    def _busy(self, _feed: Feed) -> None:
        until = time.monotonic_ns() + self._busy_ns
        while time.monotonic_ns() < until:
            pass


class Counting(FrameWriter):
    """The engine's outlet, which orders the loop to stop once `enough` samples have gone through."""

    def __init__(self, fd: int, orders: WorkerState, enough: int) -> None:
        super().__init__(fd, BACKLOG_BYTES)
        self._orders = orders
        self._missing = enough
        self.frames: list[bytes] = []

    def post_samples(self, frame: bytes, n: int) -> None:
        super().post_samples(frame, n)
        self.frames.append(frame)
        self._missing -= n
        if self._missing <= 0:
            self._orders.obey(Stop())

    def samples(self) -> list[SampleFrame]:
        reader = FrameReader()
        decoded = [found for frame in self.frames for found in reader.feed(frame)]
        return [frame for frame in decoded if isinstance(frame, SampleFrame)]


def measure(plan: Plan) -> Iterator[Row]:
    """Rows for a prediction that takes no time, and for one of half a millisecond."""
    rounds = plan.either(ROUNDS, 3)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as reader:
        assert reader.stdin is not None
        fd = reader.stdin.fileno()
        widen_pipe(fd)
        with frozen_collector():
            back_to_back = [_per_sample(fd) - _bare_per_sample() for _ in range(rounds)]
            between = [_between_samples(fd) for _ in range(rounds)]
    yield at_most("harness: cost a sample beyond a prediction that takes no time", LIMIT_NS, back_to_back, NS)
    yield at_most("harness: all time between two samples of .5 ms, flushes included", LIMIT_NS, between, NS)


def _bare_per_sample() -> float:
    """Ns of one prediction that takes no time and two readings of the clock, in a loop."""
    backend = Busy(0)
    now, predict = backend.clock.now, backend.predict
    feed: Feed = {}
    begin = time.monotonic_ns()
    for _ in repeat(None, NOTHING_SAMPLES):
        now()
        predict(feed)
        now()
    return (time.monotonic_ns() - begin) / NOTHING_SAMPLES


def _per_sample(fd: int) -> float:
    """Ns a sample of the real loop, all told, with a prediction that takes no time."""
    sampler, out = _sampler(fd, Busy(0), NOTHING_SAMPLES)
    begin = time.monotonic_ns()
    sampler.run()
    return (time.monotonic_ns() - begin) / sum(len(frame.start) for frame in out.samples())


def _between_samples(fd: int) -> float:
    """Ns from the end of a sample to the start of the next, each flush spread over the samples it follows.

    Of both kinds of gap the median: the mean would count whatever else took the processor meanwhile.
    """
    sampler, out = _sampler(fd, Busy(HALF_MS_NS), HALF_MS_SAMPLES)
    sampler.run()
    frames = out.samples()[1:]  # the first is the loop's first call
    within = [frame.start[1:] - frame.start[:-1] - frame.latency[:-1] for frame in frames]
    flushes = [int(b.start[0] - a.start[-1] - a.latency[-1]) for a, b in pairwise(frames)]
    plain = np.concatenate(within)
    total = len(plain) * np.median(plain) + len(flushes) * np.median(flushes)
    return float(total / (len(plain) + len(flushes)))


def _sampler(fd: int, backend: Busy, samples: int) -> tuple[Sampler, Counting]:
    orders = WorkerState(RunMode.RUN, Limits(), NO_LOAD)
    out = Counting(fd, orders, samples)
    sampler = Sampler(
        backend,
        {},
        out,
        orders,
        warmup=0,
        rate_hz=None,
        read_usage=UsageMeter().read,
        peak_memory_mb=peak_memory_mb,
    )
    sampler.first_call()
    return sampler, out


def _nothing(_feed: Feed) -> None:
    pass
