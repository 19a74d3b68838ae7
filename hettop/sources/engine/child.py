"""The processes of one engine as their parent sees them: started, sent commands, listened to, and ended.

Knows the protocol but not why a unit runs; never waits for a process, except to collect it once it is dead.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from hettop.events import split_row
from hettop.processes.child_process import ChildExit, ChildProcess, ProcessGuard, environment_for_child, module_command
from hettop.processes.pipe_reader import PipeReader
from hettop.sources.engine.frames import AnyFrame, FrameReader
from hettop.sources.engine.job import AnyCommand, EngineJob, Limits, encode
from hettop.sources.engine.plan_child import PlanJob
from hettop.sources.engine.planning import PlanCall, start_planner
from hettop.units import NS_PER_S

ENGINE = module_command("hettop.sources.engine.worker")


@dataclass(frozen=True, slots=True)
class Channel:
    """Where bytes came from: a child's frames or its log."""

    child: Child
    is_log: bool


class Child:
    """A running engine process, collected by way of its frames' end."""

    def __init__(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        job: EngineJob,
        reader: PipeReader,
        guard: ProcessGuard,
        *,
        row: str | None = None,
    ) -> None:
        """`row`: what it runs for, if that is not just the job's unit. Raises OSError if it cannot be started."""
        self._process = ChildProcess(argv, environment, guard)
        self.unit = row or job.unit
        self.pid = self._process.pid
        stdout, stderr = self._process.release_pipes()
        reader.add(stdout, Channel(self, False))
        reader.add(stderr, Channel(self, True))
        self._frames = FrameReader()
        self.frames_ended = False
        self.log_ended = False
        self._process.send(encode(job))

    def send(self, command: AnyCommand) -> None:
        """Sends a command, now or as soon as the process has read earlier ones; never waits for it."""
        self._process.send(encode(command))

    def retry(self) -> None:
        """Sends what could not be sent before."""
        self._process.send()

    def hang_up(self) -> None:
        """Closes the process's stdin, at which it ends by itself unless it hangs."""
        self._process.hang_up()

    def kill(self) -> None:
        """SIGKILL; harmless for a process that is already dead."""
        self._process.kill()

    def collect(self, patience_s: float) -> ChildExit | None:
        """How the process ended, or None if it has not yet.

        To be called after `kill`, or once its frames have ended: it is then dying. Waits up to `patience_s` for it.
        """
        return self._process.collect(patience_s)

    def receive_frames(self, data: bytes) -> Iterator[AnyFrame]:
        """The frames that `data` completes. Raises BrokenStreamError."""
        if not data:
            self.frames_ended = True
        return self._frames.feed(data)

    def receive_log(self, data: bytes) -> bool:
        """Take what it printed, no bytes at the end; return whether there are new `warnings` in it."""
        if not data:
            self.log_ended = True
        return self._process.log.receive(data)

    @property
    def warnings(self) -> Mapping[str, str]:
        """What its log so far says of where the model may run, as `LogWarnings.found`."""
        return self._process.log.warnings.found

    def log(self) -> list[str]:
        """The last lines it printed, cleaned for a terminal."""
        return self._process.log.lines()


Changes = Callable[[str], Mapping[str, Any]]
"""What is different in the jobs of a variant of a unit, by the names of `EngineJob`."""


class Starter:
    """`job` is what all inference processes of the engine have in common; `argv` starts one.

    `variants` maps the name of each variant to what is different in its jobs.
    """

    def __init__(
        self,
        job: EngineJob,
        *,
        argv: Sequence[str],
        environment: Mapping[str, str] | None,
        reader: PipeReader,
        guard: ProcessGuard,
        variants: Mapping[str, Changes] | None = None,
    ) -> None:
        self.job = job
        self._variants = dict(variants or {})
        self._argv = argv
        self._environment = environment_for_child(os.environ if environment is None else environment)
        self._reader = reader
        self._guard = guard

    def inference(self, row: str, limits: Limits, *, condition: str, run: bool, recycled: bool) -> Child:
        """An engine process. One that replaces another answers as that did: it is not asked. Raises OSError.

        Nor is a variant: another model answers something else, and the same model the same.
        """
        unit, variant = split_row(row)
        asked = not recycled and variant is None
        job = msgspec.structs.replace(
            self.job,
            **{
                "unit": unit,
                "limits": limits,
                "condition": condition,
                "run": run,
                "input_sets": self.job.input_sets if asked else 0,
                **self._changes(row),
            },
        )
        return Child(self._argv, self._environment, job, self._reader, self._guard, row=row)

    def period_ns(self, row: str) -> int:
        """How long a sample of this row takes up at least: until the next one arrives, or after its rest."""
        changes = self._changes(row)
        rate_hz, rest_ns = (changes.get(name, getattr(self.job, name)) for name in ("rate_hz", "rest_ns"))
        return int(NS_PER_S / rate_hz) if rate_hz else int(rest_ns)

    def _changes(self, row: str) -> Mapping[str, Any]:
        unit, variant = split_row(row)
        return {} if variant is None else self._variants[variant](unit)

    def plan_job(self, unit: str, compiled: str) -> PlanJob:
        return PlanJob(backend=self.job.backend, compiled=compiled, unit=unit, function=self.job.function)

    def plan(self, job: PlanJob) -> PlanCall:
        """As `start_planner`."""
        return start_planner(job, self._environment, self._guard)
