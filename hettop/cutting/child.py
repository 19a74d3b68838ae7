"""Has a model cut and measured by a process of its own, waits for the answer, and leaves nothing behind.

Runs in hettop's own process, which imports no framework; the measuring process is killed if hettop dies.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Mapping, Sequence

import msgspec

from hettop.cutting.messages import Answer, CompareJob, Job, Piece, RunJob, Subject, SurveyJob, decode_answer, encode
from hettop.cutting.result import Compared, Ran, Survey
from hettop.engine.asking import ask_process
from hettop.engine.child import environment_for_child
from hettop.engine.process import Log
from hettop.engine.reaper import Reaper
from hettop.errors import HettopError
from hettop.text import clean

WORKER = (sys.executable, "-X", "faulthandler", "-P", "-m", "hettop.cutting.worker")
"""`-P`: the current folder is not searched for modules; it may hold anything, a `numpy.py` for one."""


def survey_in_child(
    subject: Subject, *, argv: Sequence[str] = WORKER, environment: Mapping[str, str] | None = None
) -> Survey:
    """What the subject's layers and cuts cost. Raises HettopError: as the measuring does, or `crashed`."""
    answer = _asked(SurveyJob(subject=subject, folder=""), argv, environment)
    if answer.survey is None:
        raise HettopError("crashed", "the measuring process answered nothing")
    return answer.survey


def run_in_child(
    subject: Subject,
    pieces: Sequence[Piece],
    *,
    argv: Sequence[str] = WORKER,
    environment: Mapping[str, str] | None = None,
) -> Ran:
    """How the plan ran. Raises HettopError: as the measuring does, or `crashed`."""
    answer = _asked(RunJob(subject=subject, folder="", pieces=tuple(pieces)), argv, environment)
    if answer.ran is None:
        raise HettopError("crashed", "the measuring process answered nothing")
    return answer.ran


def compare_in_child(
    subject: Subject,
    threads: int,
    duration_ns: int,
    *,
    argv: Sequence[str] = WORKER,
    environment: Mapping[str, str] | None = None,
) -> Compared:
    """How the model runs in parallel in every way. Raises HettopError: as the measuring does, or `crashed`."""
    job = CompareJob(subject=subject, folder="", threads=threads, duration_ns=duration_ns)
    answer = _asked(job, argv, environment)
    if answer.compared is None:
        raise HettopError("crashed", "the measuring process answered nothing")
    return answer.compared


def _asked(job: Job, argv: Sequence[str], environment: Mapping[str, str] | None) -> Answer:
    """Its answer, which holds no failure. The process is dead afterwards and its folder gone, however it ends."""
    reaper = Reaper()
    try:
        with tempfile.TemporaryDirectory(prefix="hettop-plan-", ignore_cleanup_errors=True) as folder:
            inherited = environment_for_child(os.environ if environment is None else environment)
            question = encode(msgspec.structs.replace(job, folder=folder)) + b"\n"
            answer, log, status = ask_process(question, argv, inherited, reaper)
    finally:
        reaper.close()
    return _understood(answer, log, status)


def _understood(answer: bytes, log: Log, status: str) -> Answer:
    try:
        told: Answer = decode_answer(answer)
    except msgspec.MsgspecError as error:
        ended = "answered what makes no sense" if answer else status
        raise HettopError("crashed", f"the measuring process {ended}", " · ".join(log.lines()[-2:])) from error
    if told.failed is not None:
        raise HettopError(clean(told.failed.kind), clean(told.failed.message), clean(told.failed.hint))
    return told
