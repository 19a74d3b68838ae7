"""The workers' processes as the dispatch sees them: started, sent to, read from, and collected when they die."""

from __future__ import annotations

import os
import selectors
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from hettop.errors import HettopError
from hettop.processes.child_log import sentences
from hettop.processes.child_process import NOT_ENDED, ChildProcess, ProcessGuard, module_command
from hettop.processes.pipe_reader import LineReader
from hettop.processes.serve import Failed
from hettop.sources.engine.backend import Clock
from hettop.studies.coexec.blocks import unit_of
from hettop.studies.coexec.messages import Ready, Work, WorkerJob, decode_report, encode
from hettop.studies.coexec.rates import Fault
from hettop.studies.coexec.stealing import Order
from hettop.units import NS_PER_S

WORKER = module_command("hettop.studies.coexec.worker")

READ_BYTES = 1 << 16
COLLECT_S = 1.0


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
    """What a measurement asks of its workers. end_asked: whether somebody wants it to end."""

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
    process: ChildProcess
    lines: LineReader = field(default_factory=LineReader)
    fault: Fault | None = None


@dataclass(frozen=True, slots=True)
class _Pipe:
    """Where something can be read: a worker's log, or what it says."""

    worker: _Worker
    is_log: bool


class ProcessCrew:
    """One process for each worker, all of them known to `guard`. `ending` is a descriptor whose end means to end."""

    def __init__(
        self,
        units: Sequence[str],
        work: Work,
        *,
        clock: Clock,
        guard: ProcessGuard,
        environment: Mapping[str, str],
        ending: int | None = None,
        argv: Sequence[str] = WORKER,
    ) -> None:
        """Raises HettopError: `crashed`, when a process cannot be started; those that were die with the guard."""
        self.end_asked = False
        self._clock = clock
        self._ending = ending
        self._selector = selectors.DefaultSelector()
        if ending is not None:
            self._selector.register(ending, selectors.EVENT_READ, None)
        self._workers: dict[str, _Worker] = {}
        for unit in units:
            try:
                worker = _Worker(unit, ChildProcess(argv, environment, guard))
            except OSError as error:
                raise HettopError("crashed", f"{unit}: cannot start a worker process: {error}") from error
            self._workers[unit] = worker
            worker.process.send(encode(WorkerJob(unit=unit_of(unit), work=work)) + b"\n")
            stdout, stderr = worker.process.open_pipes
            self._selector.register(stdout, selectors.EVENT_READ, _Pipe(worker, False))
            self._selector.register(stderr, selectors.EVENT_READ, _Pipe(worker, True))

    def tell(self, order: Order) -> None:
        worker = self._workers.get(order.worker)
        if worker is not None:
            worker.process.send(b"%c%d\n" % (b"-" if order.back else b"+", order.number))

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
        for key in sorted(ready, key=lambda key: key.data is None or not key.data.is_log):
            pipe: _Pipe | None = key.data
            if pipe is None:
                self._receive_end(key.fd)
            elif pipe.worker.unit not in self._workers:
                continue  # buried a moment ago, log and all
            elif pipe.is_log:
                pipe.worker.process.read_log()
                if key.fd not in pipe.worker.process.open_pipes:
                    self._selector.unregister(key.fd)
            else:
                said += self._receive(pipe.worker)
        return said

    def close(self) -> None:
        """Kills and collects all of them."""
        for worker in self._workers.values():
            worker.process.kill()
        for worker in list(self._workers.values()):
            self._bury(worker)
        self._selector.close()

    def _receive(self, worker: _Worker) -> list[Said]:
        said: list[Said] = []
        for line in worker.lines.feed(worker.process.read()):
            try:
                message = _meant(worker.unit, line)
            except (ValueError, msgspec.MsgspecError):
                worker.fault = worker.fault or Fault("crashed", "the worker process sent an invalid message")
                worker.process.kill()
                break
            if isinstance(message, Fault):
                worker.fault = message
            elif isinstance(message, Began):
                parts = (*sentences(worker.process.log.warnings.found), message.ready.note)
                note = " · ".join(part for part in parts if part)
                said.append(Began(worker.unit, msgspec.structs.replace(message.ready, note=note)))
            else:
                said.append(message)
        if worker.process.output_ended:
            said.append(Died(worker.unit, self._bury(worker)))
        return said

    def _receive_end(self, descriptor: int) -> None:
        if not os.read(descriptor, READ_BYTES):
            self._selector.unregister(descriptor)
            self.end_asked = True

    def _bury(self, worker: _Worker) -> Fault:
        """Collects a process that is dying; why it died."""
        del self._workers[worker.unit]
        for key in list(self._selector.get_map().values()):
            if key.data is not None and key.data.worker is worker:
                self._selector.unregister(key.fd)
        ended = worker.process.collect(COLLECT_S) or NOT_ENDED
        worker.process.read_log()
        worker.process.close()
        return worker.fault or Fault("crashed", f"worker process {ended.words}", worker.process.log.hint)


def _meant(unit: str, line: bytes) -> Began | Did | GaveBack | Fault:
    """Raises ValueError or MsgspecError for what no worker says."""
    if line.startswith(b"="):
        number, start, end = map(int, line[1:].split())
        return Did(unit, number, start, end)
    if line.startswith(b"<"):
        return GaveBack(unit, int(line[1:]))
    report = decode_report(line)
    if isinstance(report, Failed):
        return Fault(report.kind, report.message, report.hint)
    return Began(unit, report)
