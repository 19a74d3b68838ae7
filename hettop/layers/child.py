"""Has a model measured by a process of its own, waits for the answer, and leaves nothing behind.

Runs in hettop's own process, which imports no framework; the measuring process is killed if hettop dies.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import sys
import tempfile
from collections.abc import Mapping, Sequence

import msgspec

from hettop.engine.child import environment_for_child
from hettop.engine.process import Log, Process
from hettop.engine.reaper import Reaper
from hettop.errors import HettopError
from hettop.layers.job import Job, decode_answer, encode
from hettop.layers.rows import Measured
from hettop.text import clean

WORKER = (sys.executable, "-X", "faulthandler", "-P", "-m", "hettop.layers.worker")
"""`-P`: the current folder is not searched for modules; it may hold anything, a `numpy.py` for one."""

READ_BYTES = 1 << 16
COLLECT_S = 1.0


def measure_in_child(
    job: Job, *, argv: Sequence[str] = WORKER, environment: Mapping[str, str] | None = None
) -> Measured:
    """The answer to `job`, whose folder is set here. Raises HettopError: as the measuring does, or `crashed`.

    However it ends, an interrupt included, the process is dead afterwards and the folder gone.
    """
    reaper = Reaper()
    try:
        with tempfile.TemporaryDirectory(prefix="hettop-layers-", ignore_cleanup_errors=True) as folder:
            inherited = environment_for_child(os.environ if environment is None else environment)
            answer, log, status = _ask(msgspec.structs.replace(job, folder=folder), argv, inherited, reaper)
    finally:
        reaper.close()
    return _measured(answer, log, status)


def _ask(job: Job, argv: Sequence[str], environment: Mapping[str, str], reaper: Reaper) -> tuple[bytes, Log, str]:
    """What it answered, its log, and how it ended."""
    try:
        process = Process(argv, environment, reaper)
    except OSError as error:
        raise HettopError("crashed", f"no measuring process could be started: {error}") from error
    log, answer, status = Log(), b"", None
    try:
        with contextlib.suppress(BrokenPipeError):  # it died at once: its log and its end tell why
            process.write(encode(job) + b"\n")  # a few hundred bytes, which a pipe takes at once
        answer = _listen(process, log)
    finally:
        status = process.collect(COLLECT_S)
        for descriptor in (process.stdout, process.stderr):
            os.close(descriptor)
    return answer, log, status or "cannot be ended"


def _listen(process: Process, log: Log) -> bytes:
    """All that it says, until it says no more; its stdin stays open until then, for it ends with that."""
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


def _measured(answer: bytes, log: Log, status: str) -> Measured:
    try:
        told = decode_answer(answer)
    except msgspec.MsgspecError as error:
        ended = "answered what makes no sense" if answer else status
        raise HettopError("crashed", f"the measuring process {ended}", " · ".join(log.lines()[-2:])) from error
    if told.failed is not None:
        raise HettopError(clean(told.failed.kind), told.failed.message, told.failed.hint)
    if told.measured is None:
        raise HettopError("crashed", "the measuring process answered nothing")
    return told.measured
