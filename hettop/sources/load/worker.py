"""One worker of competing load, in a process of its own: busy for its share of every 100 ms, idle for the rest.

Writes the line `ready` once it is at work and an empty line each period, or the line of a `Failed` instead. It ends
when its standard input does, so that it never outlives who started it.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable
from functools import partial

from hettop.errors import HettopError
from hettop.processes.serve import Replies, begin_child, end_with_parent

READY, ALIVE = b"ready\n", b"\n"
"""Lines of a worker that works."""

PERIOD_S = 0.1
SLICE_S = 0.005  # how long a worker is busy between two looks at the clock
STREAM_BYTES = 256 << 20  # more than the last-level cache of any machine it may compete on


def _spin() -> Callable[[], None]:
    def work() -> None:
        end = time.perf_counter() + SLICE_S
        number = 1
        while time.perf_counter() < end:
            for _ in range(200):
                number = number * 1103515245 + 12345 & 0x7FFFFFFF

    return work


def _stream() -> Callable[[], None]:
    import numpy as np

    source = np.ones(STREAM_BYTES // 16, dtype=np.float64)
    target = np.empty_like(source)
    step = 1 << 17  # 1 MiB: about a slice's worth of copying
    position = 0

    def work() -> None:
        nonlocal position
        end = time.perf_counter() + SLICE_S
        while time.perf_counter() < end:
            target[position : position + step] = source[position : position + step]
            position = (position + step) % len(source)

    return work


MODEL = "mobilenetv2"


def _model(what: str) -> Callable[[], None]:
    """Loads a second Core ML model, whose each run is a slice. Raises HettopError as the backend does."""
    from hettop.models.ports import InputOptions
    from hettop.sources.engine.backend import LoadOptions, RealClock
    from hettop.sources.engine.backends import create
    from hettop.sources.engine.names import CORE_ML
    from hettop.sources.load.parts import UNITS

    backend = create(CORE_ML, RealClock())
    loaded = backend.load(MODEL, UNITS[what], LoadOptions())
    feed = backend.make_inputs(loaded.inputs, InputOptions())
    return lambda: backend.predict(feed)


KINDS: dict[str, Callable[[], Callable[[], None]]] = {
    "ane": partial(_model, "ane"),
    "cpu": _spin,
    "gpu": partial(_model, "gpu"),
    "memory": _stream,
}


def run(what: str, duty: float, signs: int) -> None:
    """Works for ever at the given duty cycle, 0..1; ends with the failure as its last line if there is no work to do.

    signs: the descriptor for its lines.
    """
    try:
        work = KINDS[what]()
    except HettopError as error:
        Replies(signs).failed(error)
        return
    os.write(signs, READY)
    os.set_blocking(signs, False)
    while True:
        began = time.perf_counter()
        while time.perf_counter() - began < PERIOD_S * duty:
            work()
        rest = PERIOD_S - (time.perf_counter() - began)
        if duty < 1 and rest > 0:
            time.sleep(rest)
        with contextlib.suppress(BlockingIOError):  # a parent that does not read must not stop the work
            os.write(signs, ALIVE)  # a sign of life: load that stands still must not be taken for load


if __name__ == "__main__":
    stdout = begin_child()
    end_with_parent(0)
    run(sys.argv[1], float(sys.argv[2]), stdout)
