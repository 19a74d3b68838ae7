"""One engine process as its parent sees it: started, told, listened to, and ended.

Knows the protocol but not why a unit runs; never waits for the process, except to collect it once it is dead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hettop.processes.child_process import ChildExit, ChildProcess, ProcessGuard, module_command
from hettop.processes.pipe_reader import PipeReader
from hettop.sources.engine.frames import AnyFrame, FrameReader
from hettop.sources.engine.job import AnyCommand, EngineJob, encode

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
