"""Child processes: started, spoken to, watched and ended here, each known to a guard until it has ended.

The guard kills what it knows if hettop dies. What a child is sent and answers is its user's business.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from hettop.processes.child_log import ChildLog
from hettop.processes.time_limit import SIGNAL

READ_BYTES = 1 << 16
MOST_BYTES = 64 << 20
"""What one `read` returns at most; a child that writes faster than it is read must not hold up its reader."""


class ProcessGuard(Protocol):
    """Kills what is registered with it, however this process ends."""

    def add(self, pid: int) -> None: ...

    def remove(self, pid: int) -> None: ...


@dataclass(frozen=True, slots=True)
class ChildExit:
    """How a child ended. status: as `Popen.returncode`; None for one that cannot be ended."""

    status: int | None

    @property
    def code(self) -> int | None:
        """The exit code, None for one that was killed."""
        return self.status if self.status is not None and self.status >= 0 else None

    @property
    def signal(self) -> int | None:
        """The signal that killed it, None for one that exited."""
        return -self.status if self.status is not None and self.status < 0 else None

    @property
    def timed_out(self) -> bool:
        """Whether its own time limit ended it (`processes.time_limit`)."""
        return self.signal == SIGNAL

    @property
    def words(self) -> str:
        """What is said of it after its name: `exited with status 3`, `killed by SIGSEGV`."""
        if self.status is None:
            return "cannot be ended"
        if self.signal is None:
            return f"exited with status {self.status}"
        try:
            name = signal.Signals(self.signal).name
        except ValueError:
            name = f"signal {self.signal}"
        return f"killed by {name}" + (": its time limit was over" if self.timed_out else "")


NOT_ENDED = ChildExit(None)


class ChildProcess:
    """A child whose pid is registered with `guard` for as long as the pid is its own.

    A child keeps its pid until it is waited for; from then on the system may give the pid to a stranger, whom neither
    the guard nor a late signal may hit. So nobody else waits for the child, and the pid is removed from the guard
    exactly once: before the wait for a child that was killed, at once after it for one that ended by itself.
    (`waitid` could look without waiting; macOS has had it only since Python 3.13.)

    No method waits for the child unless it says so. log: what it printed to stderr, as far as it was read.
    """

    def __init__(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str] | None,
        guard: ProcessGuard | None,
        *,
        stdin: bool = True,
        stdout: bool = True,
        stderr: bool = True,
        blocked: Collection[signal.Signals] = (signal.SIGINT,),
        new_session: bool = False,
        kill: Callable[[int, int], None] = os.kill,
    ) -> None:
        """Raises OSError when it cannot be started.

        stdin, stdout, stderr: whether it has that pipe; it has /dev/null instead.
        blocked: signals that wait until the child unblocks them (`serve.begin_child`), so that none ends it before it
        ignores them. kill: stands in for `os.kill`.
        """
        before = signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
        try:
            process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE if stdout else subprocess.DEVNULL,
                stderr=subprocess.PIPE if stderr else subprocess.DEVNULL,
                env=environment,
                bufsize=0,
                start_new_session=new_session,
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self.pid = process.pid
        self.log = ChildLog()
        self._process, self._guard, self._kill = process, guard, kill
        self._unsent: deque[bytes] = deque()
        if process.stdin is not None:
            os.set_blocking(process.stdin.fileno(), False)
        self._stdout, self._stderr = map(_taken, (process.stdout, process.stderr))
        if guard is not None:
            try:
                guard.add(self.pid)
            except BaseException:  # nobody would end it if hettop died
                process.kill()
                process.wait()
                self.close()
                raise

    # -- its end ------------------------------------------------------------------------------------------------

    def ended(self, within_s: float = 0) -> bool:
        """Whether it has ended by now, or does so within so many seconds."""
        try:
            self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            return False
        self._release()
        return True

    @property
    def exit(self) -> ChildExit | None:
        """None until `ended`, `end` or `collect` has seen its end."""
        return None if self._process.returncode is None else ChildExit(self._process.returncode)

    def signal(self, number: int) -> None:
        """Harmless once it has ended. Raises PermissionError for a child that runs as another user."""
        if self._process.returncode is not None:
            return
        # Not Popen.send_signal, which waits for a dead child while its pid is still registered.
        with contextlib.suppress(ProcessLookupError):  # it is just dying, or the system collects the dead itself
            self._kill(self.pid, number)
        if number == signal.SIGKILL:
            self._release()

    def kill(self) -> None:
        self.signal(signal.SIGKILL)

    def end(self) -> ChildExit:
        """Kills it if it still runs, and waits for its end."""
        self.kill()
        return ChildExit(self._process.wait())

    def collect(self, patience_s: float) -> ChildExit | None:
        """How it ended; None if it has not within `patience_s`.

        To be called after `kill`, or once its stdout has ended: it is then dying.
        """
        # One that closed its stdout without dying must not outlive its entry with the guard. To a dying process the
        # signal is nothing: how it ends was settled before its descriptors were closed.
        self.kill()
        self.hang_up()
        return self.exit if self.ended(patience_s) else None

    def close(self) -> None:
        """Closes the pipes; may be called twice."""
        self.hang_up()
        for descriptor in self.open_pipes:
            os.close(descriptor)
        self._stdout = self._stderr = None

    # -- what it receives --------------------------------------------------------------------------------------

    def write(self, data: bytes) -> int:
        """How much of it the stdin took. Raises BlockingIOError, BrokenPipeError, ValueError (hung up)."""
        assert self._process.stdin is not None  # noqa: S101 (it was asked for)
        return os.write(self._process.stdin.fileno(), data)

    def send(self, data: bytes = b"") -> None:
        """Writes it, now or with a later `send`: as soon as the child has read what it was sent before."""
        if data:
            self._unsent.append(data)
        with contextlib.suppress(BrokenPipeError, ValueError):  # it is dying or hung up: its end will be noticed
            while self._unsent:
                try:
                    written = self.write(self._unsent[0])
                except BlockingIOError:
                    return
                self._unsent[0] = self._unsent[0][written:]
                if not self._unsent[0]:
                    self._unsent.popleft()

    @property
    def unsent(self) -> bool:
        """Whether some of what was to be sent waits for a later `send`."""
        return bool(self._unsent)

    def hang_up(self) -> None:
        """Closes its stdin, at which a child of ours ends by itself unless it hangs."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    # -- what it says -------------------------------------------------------------------------------------------

    @property
    def output_ended(self) -> bool:
        """Whether `read` has seen the end of its stdout."""
        return self._stdout is None

    @property
    def open_pipes(self) -> list[int]:
        """Descriptors of stdout and stderr, of those that have not ended: to be waited for, not to be read."""
        return [each for each in (self._stdout, self._stderr) if each is not None]

    def release_pipes(self) -> tuple[int, int]:
        """The descriptors of stdout and stderr, which whoever takes them reads and closes from now on."""
        assert self._stdout is not None and self._stderr is not None  # noqa: S101, PT018 (they were asked for)
        released, self._stdout, self._stderr = (self._stdout, self._stderr), None, None
        return released

    def read(self) -> bytes:
        """What it has written to its stdout since, at most `MOST_BYTES`."""
        data, ended = _available(self._stdout)
        if ended and self._stdout is not None:
            os.close(self._stdout)
            self._stdout = None
        return data

    def read_log(self) -> bool:
        """Takes what it has printed to stderr since into `log`; whether there are new warnings in it."""
        data, ended = _available(self._stderr)
        news = bool(data) and self.log.receive(data)
        if ended and self._stderr is not None:
            os.close(self._stderr)
            self._stderr = None
            news = self.log.receive(b"") or news
        return news

    def wait(self, seconds: float | None, also: Collection[int] = ()) -> bool:
        """Waits until there is something to read, or to send, or one of `also` can be read; False after `seconds`."""
        writers = [self._process.stdin] if self._unsent and self._process.stdin is not None else []
        return any(select.select([*self.open_pipes, *also], writers, [], seconds))

    def _release(self) -> None:
        guard, self._guard = self._guard, None
        if guard is not None:
            guard.remove(self.pid)


def _taken(pipe: IO[bytes] | None) -> int | None:
    """A descriptor of our own for the pipe: whoever reads it closes it, and no file object does so, too."""
    if pipe is None:
        return None
    descriptor = os.dup(pipe.fileno())
    pipe.close()
    os.set_blocking(descriptor, False)
    return descriptor


def _available(descriptor: int | None) -> tuple[bytes, bool]:
    """What lies in the pipe, and whether no more will."""
    if descriptor is None:
        return b"", True
    parts: list[bytes] = []
    size = 0
    while size < MOST_BYTES:
        try:
            data = os.read(descriptor, READ_BYTES)
        except BlockingIOError:
            break
        if not data:
            return b"".join(parts), True
        parts.append(data)
        size += len(data)
    return b"".join(parts), False


def module_command(module: str) -> tuple[str, ...]:
    """What runs a module of ours as a child: with the stack in its log if it crashes.

    `-P`: the current folder is not searched for modules; it may hold anything, a `numpy.py` for one.
    """
    return (sys.executable, "-X", "faulthandler", "-P", "-m", module)


NO_TELEMETRY = ("ORT_DISABLE_TELEMETRY", "1")
"""ONNX Runtime, from 1.29 on, uploads what it runs: a thread, a data base and a connection in the process measured.
Only this variable, set before it is imported, keeps it from beginning; its API comes too late."""


def environment_for_child(inherited: Mapping[str, str]) -> dict[str, str]:
    """The environment in which a child finds this very hettop, installed or run from its source folder."""
    environment = dict(inherited)
    root = Path(__file__).resolve().parents[2]
    # An installed package is found anyway, and site-packages on PYTHONPATH could shadow the standard library.
    if root.name not in {"site-packages", "dist-packages"}:
        earlier = environment.get("PYTHONPATH")
        environment["PYTHONPATH"] = f"{root}{os.pathsep}{earlier}" if earlier else str(root)
    environment.setdefault(*NO_TELEMETRY)
    return environment
