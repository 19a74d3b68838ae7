"""The workers' processes as the dispatch sees them: started, told, listened to, and collected when they die.

Knows the lines that travel, and nothing of who is to do what.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from hettop.errors import HettopError
from hettop.processes.child_process import Log, Process
from hettop.processes.log_warnings import sentences
from hettop.processes.reaper import Reaper
from hettop.sources.engine.backend import Clock
from hettop.studies.coexec.messages import Failed, Lines, Ready, Work, WorkerJob, decode_report, encode
from hettop.studies.coexec.result import Fault
from hettop.studies.coexec.stealing import Order
from hettop.studies.coexec.worker_names import unit_of

WORKER = (sys.executable, "-X", "faulthandler", "-P", "-m", "hettop.studies.coexec.worker")
"""`-P`: the current folder is not searched for modules; it may hold anything, a `numpy.py` for one."""

READ_BYTES = 1 << 16
COLLECT_S = 1.0
NS_PER_S = 10**9


@dataclass(frozen=True, slots=True)
class Began:
    """The unit can be given work."""

    unit: str
    ready: Ready


@dataclass(frozen=True, slots=True)
class Did:
    """The unit has done the number, from `start` to `end` (ns)."""

    unit: str
    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class GaveBack:
    """The unit had not begun the number, and will not."""

    unit: str
    number: int


@dataclass(frozen=True, slots=True)
class Died:
    """The unit's process is gone."""

    unit: str
    fault: Fault


Said = Began | Did | GaveBack | Died


class Crew(Protocol):
    """What the course of a measurement asks of its workers. end_asked: whether somebody wants it to end."""

    @property
    def end_asked(self) -> bool: ...

    def tell(self, order: Order) -> None: ...

    def kill(self, unit: str, why: str) -> None: ...

    def listen(self, until: int) -> list[Said]:
        """What they say; waits for something until then (ns)."""
        ...


@dataclass(slots=True)
class _Worker:
    unit: str
    process: Process
    lines: Lines = field(default_factory=Lines)
    log: Log = field(default_factory=Log)
    fault: Fault | None = None


class ProcessCrew:
    """One process for each worker, all of them known to `reaper`. `ending` is a descriptor whose end means to end."""

    def __init__(
        self,
        units: Sequence[str],
        work: Work,
        *,
        clock: Clock,
        reaper: Reaper,
        environment: Mapping[str, str],
        ending: int | None = None,
        argv: Sequence[str] = WORKER,
    ) -> None:
        """Raises HettopError: `crashed`, when a process cannot be started; those that were die with the reaper."""
        self.end_asked = False
        self._clock = clock
        self._ending = ending
        self._selector = selectors.DefaultSelector()
        if ending is not None:
            self._selector.register(ending, selectors.EVENT_READ, None)
        self._workers: dict[str, _Worker] = {}
        for unit in units:
            try:
                worker = _Worker(unit, Process(argv, environment, reaper))
            except OSError as error:
                raise HettopError("crashed", f"{unit}: no worker process could be started: {error}") from error
            self._workers[unit] = worker
            self._send(worker, encode(WorkerJob(unit=unit_of(unit), work=work)) + b"\n")
            self._selector.register(worker.process.stdout, selectors.EVENT_READ, worker)
            self._selector.register(worker.process.stderr, selectors.EVENT_READ, worker)

    def tell(self, order: Order) -> None:
        worker = self._workers.get(order.worker)
        if worker is not None:
            self._send(worker, b"%c%d\n" % (b"-" if order.back else b"+", order.number))

    def kill(self, unit: str, why: str) -> None:
        worker = self._workers.get(unit)
        if worker is not None:
            worker.fault = worker.fault or Fault("timeout", why)
            worker.process.kill()

    def listen(self, until: int) -> list[Said]:
        said: list[Said] = []
        left = max(0, until - self._clock.now()) / NS_PER_S
        # Logs first: what a worker printed while it loaded belongs to its being ready.
        ready = [key for key, _ in self._selector.select(left)]
        for key in sorted(ready, key=lambda key: key.data is None or key.fd != key.data.process.stderr):
            if key.data is None:
                self._hear_the_end(key.fd)
            elif key.data.unit not in self._workers:
                continue  # buried a moment ago, log and all
            elif key.fd == key.data.process.stderr:
                self._hear_log(key.data)
            else:
                said += self._hear(key.data)
        return said

    def close(self) -> None:
        """Kills and collects all of them."""
        for worker in self._workers.values():
            worker.process.kill()
        for worker in list(self._workers.values()):
            self._bury(worker)
        self._selector.close()

    def _send(self, worker: _Worker, line: bytes) -> None:
        # A pipe holds thousands of numbers, and a worker has a few: one that takes no more is gone, or as good as.
        with contextlib.suppress(BrokenPipeError, BlockingIOError, ValueError):
            worker.process.write(line)

    def _hear(self, worker: _Worker) -> list[Said]:
        data = os.read(worker.process.stdout, READ_BYTES)
        if not data:
            return [Died(worker.unit, self._bury(worker))]
        said: list[Said] = []
        for line in worker.lines.feed(data):
            try:
                told = _meant(worker.unit, line)
            except (ValueError, msgspec.MsgspecError):
                worker.fault = worker.fault or Fault("crashed", "the worker process sent what makes no sense")
                worker.process.kill()
                break
            if isinstance(told, Fault):
                worker.fault = told
            elif isinstance(told, Began):
                parts = (*sentences(worker.log.warnings.found), told.ready.note)
                note = " · ".join(part for part in parts if part)
                said.append(Began(worker.unit, msgspec.structs.replace(told.ready, note=note)))
            else:
                said.append(told)
        return said

    def _hear_log(self, worker: _Worker) -> None:
        data = os.read(worker.process.stderr, READ_BYTES)
        worker.log.receive(data)
        if not data:
            self._selector.unregister(worker.process.stderr)

    def _hear_the_end(self, descriptor: int) -> None:
        if not os.read(descriptor, READ_BYTES):
            self._selector.unregister(descriptor)
            self.end_asked = True

    def _bury(self, worker: _Worker) -> Fault:
        """Collects a process that is dying; why it died."""
        del self._workers[worker.unit]
        status = worker.process.collect(COLLECT_S) or "cannot be ended"
        os.set_blocking(worker.process.stderr, False)
        with contextlib.suppress(BlockingIOError):  # somebody else may hold its log open
            while data := os.read(worker.process.stderr, READ_BYTES):
                worker.log.receive(data)
        for descriptor in (worker.process.stdout, worker.process.stderr):
            with contextlib.suppress(KeyError):
                self._selector.unregister(descriptor)
            os.close(descriptor)
        hint = " · ".join(worker.log.lines()[-2:])
        return worker.fault or Fault("crashed", f"worker process {status}", hint)


def _meant(unit: str, line: bytes) -> Began | Did | GaveBack | Fault:
    """Raises ValueError or MsgspecError for what no worker says."""
    if line.startswith(b"="):
        number, start, end = map(int, line[1:].split())
        return Did(unit, number, start, end)
    if line.startswith(b"<"):
        return GaveBack(unit, int(line[1:]))
    report = decode_report(line)
    return report.fault() if isinstance(report, Failed) else Began(unit, report)
