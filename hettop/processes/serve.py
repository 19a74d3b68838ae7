"""The child's side of `processes.call`: does one job from stdin, answers it on stdout, and ends.

Also what every child of ours begins with: its signals, and its stdout kept for what it has to say.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec

from hettop.errors import HettopError
from hettop.processes.framework_errors import named_reason
from hettop.processes.interruptions import ContinueListener, Interruptions, slept_ns, uninterrupted
from hettop.processes.qos import set_worker_qos
from hettop.text import clean

MORE = 16 << 20
"""Bytes beyond the largest file there that a folder must take, or else that is why something failed in it."""

CHUNK = 1 << 20
WRITTEN_KINDS = ("load", "format", "io", "predict", "input")
"""Kinds of errors that a file may lead to of which only the beginning could be written."""

# Half a minute of samples at 2,000/s that the kernel holds for a stalled reader; 64 KiB is the usual size.
PIPE_BYTES = 1 << 20

J = TypeVar("J")


class Request(msgspec.Struct, frozen=True):
    """The one line that the child is sent."""

    job: msgspec.Raw
    folder: str | None = None


class Progress(msgspec.Struct, frozen=True, tag_field="k", tag="progress"):
    """A line on the way to the answer."""

    value: msgspec.Raw


class Answered(msgspec.Struct, frozen=True, tag_field="k", tag="answer"):
    """The last line: what the job was to find."""

    value: msgspec.Raw


class Failed(msgspec.Struct, frozen=True, tag_field="k", tag="failed"):
    """The last line: why there is no answer, as `HettopError`."""

    kind: str
    message: str
    hint: str = ""


Line = Progress | Answered | Failed


@dataclass(frozen=True, slots=True)
class Caller:
    """Who waits for the answer. folder: for scratch files, which the caller removes; None if it gave none.

    send: says how far the job is, by a struct of the kind that the caller expects.
    """

    folder: Path | None
    send: Callable[[msgspec.Struct], None]

    @property
    def scratch(self) -> Path:
        """The folder, of a caller that gave one."""
        assert self.folder is not None  # noqa: S101 (the caller of this worker always gives one)
        return self.folder


class Replies:
    """Says lines to the caller, at once."""

    def __init__(self, out: int) -> None:
        self._stream = os.fdopen(out, "wb")
        self._encode = msgspec.json.Encoder().encode

    def progress(self, value: object) -> None:
        self._say(Progress(self._raw(value)))

    def answer(self, value: object) -> None:
        self._say(Answered(self._raw(value)))

    def failed(self, error: HettopError) -> None:
        self._say(Failed(error.kind, error.message, error.hint))

    def _raw(self, value: object) -> msgspec.Raw:
        return msgspec.Raw(self._encode(value))

    def _say(self, line: Line) -> None:
        self._stream.write(self._encode(line) + b"\n")
        self._stream.flush()


def serve(
    handler: Callable[[J, Caller], object], job_type: Any, *, unexpected: str = "predict", timed: bool = False
) -> NoReturn:
    """Does the job on stdin by `handler`, whose result is the answer; ends at once if stdin does before that.

    job_type: what `handler` takes, as msgspec decodes it. unexpected: the kind of an error that is not a HettopError.
    timed: the job measures time, so all of it is done again if the process was stopped or the machine slept meanwhile.
    The thread that answers has the quality of service of every thread that measures.
    """
    replies = Replies(begin_child())
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        os._exit(1)
    end_with_parent(1)
    set_worker_qos()
    request = msgspec.json.decode(line, type=Request)
    folder = None if request.folder is None else Path(request.folder)
    interruption = Interruptions(ContinueListener(), slept_ns).poll if timed else lambda: None
    try:
        job = msgspec.json.decode(request.job, type=job_type)
        folders = _folders(folder)
        replies.answer(uninterrupted(lambda: handler(job, Caller(next(folders), replies.progress)), interruption))
    except Exception as error:  # noqa: BLE001 (a framework may raise anything; the user reads it)
        replies.failed(explained(error, folder, unexpected))
    sys.stderr.flush()
    os._exit(0)  # frameworks' exit handlers have been seen to hang


def _folders(first: Path | None) -> Iterator[Path | None]:
    """The folder, then empty ones in it: a job that is done again must not meet files of its first attempt."""
    yield first
    while True:
        yield None if first is None else Path(tempfile.mkdtemp(dir=first))


def end_with_parent(status: int) -> None:
    """From now on this process ends when its stdin does, with this exit code."""

    def wait() -> None:
        sys.stdin.buffer.read()
        os._exit(status)

    threading.Thread(target=wait, daemon=True).start()


def begin_child(*ignored: signal.Signals) -> int:
    """Set up the signals of a child process, then take its stdout; returns what `take_stdout` does.

    The terminal sends SIGINT to the whole group, and others send more signals to it (`ignored`): hettop decides what
    they mean for its children. SIGALRM ends the child (`time_limit`), also where hettop was started with it ignored.
    """
    for number in (signal.SIGINT, *ignored):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGALRM})
    return take_stdout()


def take_stdout() -> int:
    """Takes stdout for a protocol and points fd 1 at the log, so that nothing printed can get into it.

    Returns the descriptor that leads where stdout led.
    """
    out = os.dup(1)
    os.dup2(2, 1)
    for fd in (out, 2):
        widen_pipe(fd)
    return out


def widen_pipe(fd: int) -> None:
    """Lets the pipe hold more, where the system can and the user's quota allows."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with contextlib.suppress(OSError):
            fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def explained(error: Exception, folder: Path | None, unexpected: str = "predict") -> HettopError:
    """The error in words; if it may be for want of room, and nothing can be written to the scratch folder, just that.

    unexpected: the kind of an error that is none of ours.
    Frameworks name a place in their source, or of a damaged file.
    """
    known = error if isinstance(error, HettopError) else HettopError(unexpected, named_reason(error))
    refused = _refused(folder) if folder is not None and known.kind in WRITTEN_KINDS else None
    if folder is None or refused is None:
        return known
    return HettopError(
        "scratch",
        f"a scratch file could not be written to {clean(str(folder.parent))}: {refused.strerror or refused}",
        "the disk may be full, or the limit of a file's size reached (ulimit -f); TMPDIR names another folder",
    )


def _refused(folder: Path) -> OSError | None:
    """Why a file larger than those there cannot be written; None if it can."""
    probe = folder / "probe"
    try:
        if not folder.is_dir():
            return None
        left = MORE + max((each.stat().st_size for each in folder.rglob("*") if each.is_file()), default=0)
        with probe.open("wb", buffering=0) as file:
            while left > 0:
                left -= file.write(bytes(min(CHUNK, left)))
    except OSError as error:
        return error
    finally:
        if os.path.lexists(probe):
            probe.unlink()
    return None
