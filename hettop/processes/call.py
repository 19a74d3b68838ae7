"""Asks one question of a process of its own, waits for the answer, and leaves no process behind.

Knows neither the question nor the answer: bytes both. What the process tells on its way are lines before the answer.
"""

from __future__ import annotations

import contextlib
import os
import selectors
from collections.abc import Callable, Mapping, Sequence

from hettop.errors import HettopError
from hettop.processes.child_process import Log, Process, environment_for_child
from hettop.processes.reaper import Reaper
from hettop.processes.scratch import scratch_folder

READ_BYTES = 1 << 16
COLLECT_S = 1.0


Hear = Callable[[bytes], None]
"""Takes a line that the process told on its way, without its end."""


def ask_in_folder(
    question: Callable[[str], bytes],
    argv: Sequence[str],
    environment: Mapping[str, str] | None,
    *,
    prefix: str,
    hear: Hear | None = None,
) -> tuple[bytes, Log, str]:
    """As `ask_process`, with a scratch folder whose path the question holds; whatever is temporary there is made in it.

    environment: that of the process, this one's own by default. However this ends, SIGKILL included, process and folder
    are gone afterwards.
    """
    reaper = Reaper()
    try:
        with scratch_folder(reaper, prefix) as folder:
            inherited = environment_for_child(os.environ if environment is None else environment)
            return ask_process(question(folder) + b"\n", argv, {**inherited, "TMPDIR": folder}, reaper, hear)
    finally:
        reaper.close()


def ask_process(
    question: bytes, argv: Sequence[str], environment: Mapping[str, str], reaper: Reaper, hear: Hear | None = None
) -> tuple[bytes, Log, str]:
    """What it answered on its stdout to `question`, its log, and how it ended. Raises HettopError: `crashed`.

    question: a line of at most some kilobytes, which a pipe takes at once. The process's stdin stays open until it has
    answered: it should end when that ends. However this ends, an interrupt included, the process is dead afterwards.
    hear: takes the lines that it tells at once; the answer is what follows the last of them. Without it all is answer.
    """
    try:
        process = Process(argv, environment, reaper)
    except OSError as error:
        raise HettopError("crashed", f"no measuring process could be started: {error}") from error
    log, answer, status = Log(), b"", None
    try:
        with contextlib.suppress(BrokenPipeError):  # it died at once: its log and its end tell why
            process.write(question)
        answer = _listen(process, log, hear)
    finally:
        status = process.collect(COLLECT_S)
        for descriptor in (process.stdout, process.stderr):
            os.close(descriptor)
    return answer, log, status or "cannot be ended"


def _listen(process: Process, log: Log, hear: Hear | None) -> bytes:
    """All that it says, until it says no more; but for the lines that `hear` takes."""
    answer = b""
    with selectors.DefaultSelector() as selector:
        for descriptor in (process.stdout, process.stderr):
            selector.register(descriptor, selectors.EVENT_READ)
        while process.stdout in selector.get_map():
            for key, _ in selector.select():
                data = os.read(key.fd, READ_BYTES)
                if not data:
                    selector.unregister(key.fd)
                    if key.fd == process.stderr:
                        log.receive(data)
                elif key.fd == process.stderr:
                    log.receive(data)
                elif hear is None:
                    answer += data
                else:
                    *lines, answer = (answer + data).split(b"\n")
                    for told in lines:
                        hear(told)
    return answer
