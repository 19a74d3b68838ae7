"""Has a model measured by a process of its own, waits for the answer, and leaves nothing behind.

Runs in hettop's own process, which imports no framework; the measuring process is killed if hettop dies.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace

import msgspec

from hettop.errors import HettopError
from hettop.processes.call import ask_in_folder
from hettop.processes.child_process import Log
from hettop.processes.log_warnings import sentences
from hettop.studies.layers.job import Job, decode_answer, encode
from hettop.studies.layers.rows import Measured
from hettop.text import clean

WORKER = (sys.executable, "-X", "faulthandler", "-P", "-m", "hettop.studies.layers.worker")
"""`-P`: the current folder is not searched for modules; it may hold anything, a `numpy.py` for one."""


def measure_in_child(
    job: Job, *, argv: Sequence[str] = WORKER, environment: Mapping[str, str] | None = None
) -> Measured:
    """The answer to `job`, whose folder is set here. Raises HettopError: as the measuring does, or `crashed`.

    However it ends, an interrupt included, the process is dead afterwards and the folder gone.
    """
    answer, log, status = ask_in_folder(
        lambda folder: encode(msgspec.structs.replace(job, folder=folder)), argv, environment, prefix="hettop-layers-"
    )
    return _measured(answer, log, status)


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
    return replace(told.measured, notes=(*told.measured.notes, *sentences(log.warnings.found)))
