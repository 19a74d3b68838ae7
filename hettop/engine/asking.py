"""Asks one question of a process of its own, waits for the answer, and leaves no process behind.

Knows neither the question nor the answer: bytes both.
"""

from __future__ import annotations

import contextlib
import os
import selectors
from collections.abc import Mapping, Sequence

from hettop.engine.process import Log, Process
from hettop.engine.reaper import Reaper
from hettop.errors import HettopError

READ_BYTES = 1 << 16
COLLECT_S = 1.0


def ask_process(
    question: bytes, argv: Sequence[str], environment: Mapping[str, str], reaper: Reaper
) -> tuple[bytes, Log, str]:
    """What it answered on its stdout to `question`, its log, and how it ended. Raises HettopError: `crashed`.

    question: a line of at most some kilobytes, which a pipe takes at once. The process's stdin stays open until it has
    answered: it should end when that ends. However this ends, an interrupt included, the process is dead afterwards.
    """
    try:
        process = Process(argv, environment, reaper)
    except OSError as error:
        raise HettopError("crashed", f"no measuring process could be started: {error}") from error
    log, answer, status = Log(), b"", None
    try:
        with contextlib.suppress(BrokenPipeError):  # it died at once: its log and its end tell why
            process.write(question)
        answer = _listen(process, log)
    finally:
        status = process.collect(COLLECT_S)
        for descriptor in (process.stdout, process.stderr):
            os.close(descriptor)
    return answer, log, status or "cannot be ended"


def _listen(process: Process, log: Log) -> bytes:
    """All that it says, until it says no more."""
    answer = b""
    with selectors.DefaultSelector() as selector:
        for descriptor in (process.stdout, process.stderr):
            selector.register(descriptor, selectors.EVENT_READ)
        while process.stdout in selector.get_map():
            for key, _ in selector.select():
                data = os.read(key.fd, READ_BYTES)
                if not data:
                    selector.unregister(key.fd)
                elif key.fd == process.stdout:
                    answer += data
                else:
                    log.receive(data)
    return answer
