"""A worker of a co-execution, one unit in a process of its own: `python -m hettop.studies.coexec.worker`.

It generates its inputs from the seed and receives sequence numbers; it ends when its
standard input does. Its one thread listens between two inferences.
"""

from __future__ import annotations

import os
import select
import signal
import statistics
from collections import deque

from hettop.errors import HettopError
from hettop.models.ports import Feed
from hettop.processes.framework_errors import named_reason
from hettop.processes.pipe_reader import LineReader
from hettop.processes.qos import frozen_collector, set_worker_qos
from hettop.processes.serve import Failed, begin_child
from hettop.sources.engine.backend import Backend, Clock, LoadOptions, RealClock, split_unit
from hettop.sources.engine.backends import create
from hettop.studies.coexec.messages import Ready, WorkerJob, decode_work, encode

READ_BYTES = 1 << 16
STDIN = 0
CLEAN, FAILED, PARENT_GONE = 0, 1, 2


class PartedError(Exception):
    """Who gives the work is gone, or wants no more."""


class Given:
    """The numbers that are to be done, in the order in which they came; those taken back are put into `back`."""

    def __init__(self, fd: int) -> None:
        self.back: list[int] = []
        self._fd = fd
        self._lines = LineReader()
        self._pending: list[bytes] = []
        self._numbers: deque[int] = deque()

    def first_line(self) -> bytes:
        while not self._pending:
            self._listen()
        return self._pending.pop(0)

    def next(self) -> int | None:
        """The number to do now; waits for one, or returns None if there is only something to give back."""
        readable = select.select([self._fd], [], [], 0 if self._numbers or self._pending else None)[0]
        if readable:
            self._listen()
        for line in self._pending:
            number = int(line[1:])
            if line.startswith(b"+"):
                self._numbers.append(number)
            elif number in self._numbers:
                self._numbers.remove(number)
                self.back.append(number)
        self._pending.clear()
        return self._numbers.popleft() if self._numbers else None

    def _listen(self) -> None:
        data = os.read(self._fd, READ_BYTES)
        if not data:
            raise PartedError
        self._pending += self._lines.feed(data)


def main() -> None:
    out = begin_child(signal.SIGTERM, signal.SIGHUP)  # `timeout` sends them to the whole group
    given = Given(STDIN)
    status = FAILED
    try:
        _serve(decode_work(given.first_line()), given, out)
    except (PartedError, BrokenPipeError):
        status = PARENT_GONE
    except HettopError as error:
        os.write(out, encode(Failed(kind=error.kind, message=error.message, hint=error.hint)) + b"\n")
    except Exception as error:  # noqa: BLE001 (a framework may raise anything; the user reads it in the unit's row)
        os.write(out, encode(Failed(kind="predict", message=named_reason(error))) + b"\n")
    os._exit(status)  # frameworks' exit handlers have been seen to hang


def _serve(job: WorkerJob, given: Given, out: int) -> None:
    qos = set_worker_qos()
    backend, feed, placed, note = _loaded(job)
    with frozen_collector():
        usual_ns = _warm_up(backend, feed, job.work.warmup)
        ready = Ready(usual_ns=usual_ns, simulated=backend.simulated, placed=placed, note=note, qos=qos)
        os.write(out, encode(ready) + b"\n")
        _work(backend, feed, given, out)


def _loaded(job: WorkerJob) -> tuple[Backend, Feed, str | None, str]:
    work = job.work
    try:
        backend = create(work.backend, RealClock())
        name, threads = split_unit(job.unit)
        options = LoadOptions(threads, work.function, hints=work.hints, strict=work.strict, custom_ops=work.custom_ops)
        loaded = backend.load(work.model, name, options)
        return backend, backend.make_inputs(loaded.inputs, work.inputs()), loaded.placed, loaded.note
    except HettopError:
        raise
    except Exception as error:
        raise HettopError("load", named_reason(error)) from error


def _warm_up(backend: Backend, feed: Feed, warmup: int) -> int:
    """The first call and `warmup` more; the median of these, or the first call's latency without them."""
    first, *others = (_timed(backend, feed, backend.clock) for _ in range(warmup + 1))
    return round(statistics.median(others)) if others else first


def _timed(backend: Backend, feed: Feed, clock: Clock) -> int:
    start = clock.now()
    backend.predict(feed)
    return clock.now() - start


def _work(backend: Backend, feed: Feed, given: Given, out: int) -> None:
    predict, now = backend.predict, backend.clock.now
    while True:
        number = given.next()
        for each in given.back:
            os.write(out, b"<%d\n" % each)
        given.back.clear()
        if number is not None:
            start = now()
            predict(feed)
            end = now()
            os.write(out, b"=%d %d %d\n" % (number, start, end))


if __name__ == "__main__":
    main()
