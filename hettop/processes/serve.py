"""The process at the other end of `asking`: reads one job from stdin, writes one answer to stdout, and ends.

Knows neither the job nor the answer: bytes both.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import NoReturn

from hettop.processes.qos import set_worker_qos

Tell = Callable[[bytes], None]
"""Says one line on the way to the answer: no line end may be in it."""


def answer_one(answer: Callable[[bytes], bytes]) -> NoReturn:
    """Answer the job on stdin; end at once if stdin ends before that, for then nobody waits for the answer."""
    answer_telling(lambda line, _tell: answer(line))


def answer_telling(answer: Callable[[bytes, Tell], bytes]) -> NoReturn:
    """As `answer_one`, and `answer` may tell whoever asked how far it is.

    The thread that answers has the quality of service of every thread that measures.
    """
    out = begin_child()
    line = sys.stdin.buffer.readline()
    if not line.endswith(b"\n"):
        os._exit(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    set_worker_qos()
    with os.fdopen(out, "wb") as stream:

        def tell(told: bytes) -> None:
            stream.write(told + b"\n")
            stream.flush()

        stream.write(answer(line, tell))
    os._exit(0)  # frameworks' exit handlers have been seen to hang


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


# Half a minute of samples at 2,000/s that the kernel holds for a stalled reader; 64 KiB is the usual size.
PIPE_BYTES = 1 << 20


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
