"""Has a model cut and measured by a process of its own, waits for the answer, and leaves nothing behind.

Runs in hettop's own process, which imports no framework; the measuring process is killed if hettop dies.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence

import msgspec

from hettop.errors import HettopError
from hettop.processes.call import ask_in_folder
from hettop.processes.child_process import Log
from hettop.studies.plan.cutting.messages import (
    Answer,
    CompareJob,
    Doing,
    Job,
    Piece,
    RunJob,
    Subject,
    SurveyJob,
    decode_answer,
    decode_doing,
    encode,
)
from hettop.studies.plan.cutting.result import Compared, Ran, Survey
from hettop.text import clean

WORKER = (sys.executable, "-X", "faulthandler", "-P", "-m", "hettop.studies.plan.cutting.worker")
"""`-P`: the current folder is not searched for modules; it may hold anything, a `numpy.py` for one."""


Hear = Callable[[Doing], None]
"""What it tells on its way."""


def _deaf(_told: Doing) -> None:
    """Where nobody wants to know."""


def survey_in_child(
    subject: Subject,
    hear: Hear = _deaf,
    *,
    argv: Sequence[str] = WORKER,
    environment: Mapping[str, str] | None = None,
) -> Survey:
    """What the subject's layers and cuts cost. Raises HettopError: as the measuring does, or `crashed`."""
    answer = _asked(SurveyJob(subject=subject, folder=""), hear, argv, environment)
    if answer.survey is None:
        raise HettopError("crashed", "the measuring process answered nothing")
    return answer.survey


def run_in_child(
    subject: Subject,
    pieces: Sequence[Piece],
    hear: Hear = _deaf,
    *,
    argv: Sequence[str] = WORKER,
    environment: Mapping[str, str] | None = None,
) -> Ran:
    """How the plan ran. Raises HettopError: as the measuring does, or `crashed`."""
    answer = _asked(RunJob(subject=subject, folder="", pieces=tuple(pieces)), hear, argv, environment)
    if answer.ran is None:
        raise HettopError("crashed", "the measuring process answered nothing")
    return answer.ran


def compare_in_child(
    subject: Subject,
    threads: int,
    duration_ns: int,
    hear: Hear = _deaf,
    *,
    argv: Sequence[str] = WORKER,
    environment: Mapping[str, str] | None = None,
) -> Compared:
    """How the model runs in parallel in every way. Raises HettopError: as the measuring does, or `crashed`."""
    job = CompareJob(subject=subject, folder="", threads=threads, duration_ns=duration_ns)
    answer = _asked(job, hear, argv, environment)
    if answer.compared is None:
        raise HettopError("crashed", "the measuring process answered nothing")
    return answer.compared


def _asked(job: Job, hear: Hear, argv: Sequence[str], environment: Mapping[str, str] | None) -> Answer:
    """Its answer, which holds no failure. The process is dead afterwards and its folder gone, however it ends."""
    answer, log, status = ask_in_folder(
        lambda folder: encode(msgspec.structs.replace(job, folder=folder)),
        argv,
        environment,
        prefix="hettop-plan-",
        hear=lambda line: hear(heard(line)),
    )
    return _understood(answer, log, status)


def heard(line: bytes) -> Doing:
    """What a measuring process says it is doing. Raises HettopError: `crashed`."""
    try:
        told: Doing = decode_doing(line)
    except msgspec.MsgspecError as error:
        raise HettopError("crashed", "the measuring process told what makes no sense") from error
    return told


def _understood(answer: bytes, log: Log, status: str) -> Answer:
    try:
        told: Answer = decode_answer(answer)
    except msgspec.MsgspecError as error:
        ended = "answered what makes no sense" if answer else status
        raise HettopError("crashed", f"the measuring process {ended}", " · ".join(log.lines()[-2:])) from error
    if told.failed is not None:
        raise HettopError(clean(told.failed.kind), clean(told.failed.message), clean(told.failed.hint))
    return told
