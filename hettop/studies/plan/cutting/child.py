"""Has a model cut and measured by a process of its own, which a framework may take down.

Runs in hettop's own process, which imports no framework.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from hettop.processes.call import call
from hettop.processes.child_process import module_command
from hettop.studies.plan.cutting.messages import (
    CompareJob,
    CuttingJob,
    MeasuringProgress,
    Piece,
    RepeatJob,
    RunJob,
    Subject,
    SurveyJob,
)
from hettop.studies.plan.cutting.result import Blocks, Compared, Ran, Survey

WORKER = module_command("hettop.studies.plan.cutting.worker")

A = TypeVar("A")

OnProgress = Callable[[MeasuringProgress], None]


def ignore_progress(_progress: MeasuringProgress) -> None:
    """Where nobody wants to know."""


def survey_in_child(
    subject: Subject, on_progress: OnProgress = ignore_progress, *, argv: Sequence[str] = WORKER
) -> Survey:
    """What the subject's layers and cuts cost. Raises HettopError: as the measuring does, and as `call`."""
    return _call(SurveyJob(subject=subject), Survey, on_progress, argv)


def run_in_child(
    subject: Subject,
    pieces: Sequence[Piece],
    on_progress: OnProgress = ignore_progress,
    *,
    others: Sequence[Sequence[Piece]] = (),
    argv: Sequence[str] = WORKER,
) -> Ran:
    """How the plan ran, and other plans after it. Raises HettopError: as the measuring does, and as `call`."""
    return _call(
        RunJob(subject=subject, pieces=tuple(pieces), others=tuple(map(tuple, others))), Ran, on_progress, argv
    )


def repeat_in_child(
    subject: Subject,
    pieces: Sequence[Piece],
    block_ns: int,
    on_progress: OnProgress = ignore_progress,
    *,
    argv: Sequence[str] = WORKER,
) -> Blocks:
    """When each piece ran, again and again. Raises HettopError: as the measuring does, and as `call`."""
    return _call(RepeatJob(subject=subject, pieces=tuple(pieces), block_ns=block_ns), Blocks, on_progress, argv)


def compare_in_child(
    subject: Subject, threads: int, duration_ns: int, on_progress: OnProgress = ignore_progress
) -> Compared:
    """How the model runs in parallel in every way. Raises HettopError: as the measuring does, and as `call`."""
    return _call(CompareJob(subject=subject, threads=threads, duration_ns=duration_ns), Compared, on_progress, WORKER)


def _call(job: CuttingJob, answer_type: type[A], on_progress: OnProgress, argv: Sequence[str]) -> A:
    called = call(argv, job, answer_type, scratch="plan", progress_type=MeasuringProgress, on_progress=on_progress)
    return called.answer
