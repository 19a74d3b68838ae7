"""Runs a short command of the system, such as `sysctl`, and returns what it printed."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from hettop.processes.child_process import ChildExit, ChildProcess, ProcessGuard

PATIENCE_S = 5.0
END_S = 1.0

Start = Callable[[Sequence[str], Mapping[str, str] | None, ProcessGuard | None], ChildProcess]
"""Starts a command in an environment; None: this process's own. Raises OSError."""


@dataclass(frozen=True, slots=True)
class Completed:
    """What a command printed. exit: None where it did not end in time. errors: the last lines of its stderr."""

    output: bytes
    errors: tuple[str, ...]
    exit: ChildExit | None


def start_command(
    argv: Sequence[str], environment: Mapping[str, str] | None, guard: ProcessGuard | None = None
) -> ChildProcess:
    """A program that is not ours: it has no stdin, and meets signals as it would anywhere.

    It stays in this very session and process group: a ticket of sudo belongs to the terminal it was given on. Python
    ignores SIGPIPE; `Popen` sets it back for the child, which dies of its closed pipe.
    """
    return ChildProcess(argv, environment, guard, stdin=False, blocked=())


def run_command(
    argv: Sequence[str],
    environment: Mapping[str, str] | None = None,
    *,
    patience_s: float = PATIENCE_S,
    start: Start = start_command,
) -> Completed:
    """Runs it to its end, or for so long. Raises OSError when it cannot be started."""
    process = start(argv, environment, None)
    output, deadline = b"", time.monotonic() + patience_s
    try:
        while process.open_pipes and (left := deadline - time.monotonic()) > 0:
            process.wait(left)
            output += process.read()
            process.read_log()
        ended = not process.open_pipes and process.ended(max(0.0, deadline - time.monotonic()))
        if not ended:
            # What runs as root cannot be killed by a user, and is not waited for.
            with contextlib.suppress(PermissionError):
                process.kill()
                process.ended(END_S)
        return Completed(output, tuple(process.log.lines()), process.exit if ended else None)
    finally:
        process.close()


def command_output(argv: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """What a short command prints; "" if there is none, or it does not end in time, or fails, or prints no text."""
    try:
        done = run_command(argv, environment)
        return done.output.decode() if done.exit is not None and done.exit.code == 0 else ""
    except (OSError, UnicodeDecodeError):
        return ""
