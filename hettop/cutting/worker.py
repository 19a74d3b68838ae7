"""The process that cuts and measures: `python -m hettop.cutting.worker`, a job on stdin, an answer on stdout.

Knows nothing of who started it; ends when it has answered, or when stdin ends before that.
"""

from __future__ import annotations

from pathlib import Path

from hettop.cutting.messages import Answer, CompareJob, Failed, Job, SurveyJob, decode_job, encode
from hettop.engine.answering import answer_one
from hettop.engine.clock import RealClock
from hettop.errors import HettopError
from hettop.models.cache import default_cache


def main() -> None:
    answer_one(lambda line: encode(_answer(decode_job(line))))


def _answer(job: Job) -> Answer:
    try:
        return _measured(job)
    except HettopError as error:
        return Answer(failed=Failed(kind=error.kind, message=error.message, hint=error.hint))
    except Exception as error:  # noqa: BLE001 (a framework may raise anything; the user reads it)
        return Answer(failed=Failed(kind="predict", message=f"{type(error).__name__}: {error}"))


def _measured(job: Job) -> Answer:
    if isinstance(job, SurveyJob):
        from hettop.cutting.survey import survey

        return Answer(survey=survey(job.subject, Path(job.folder), default_cache(), RealClock()))
    if isinstance(job, CompareJob):
        from hettop.cutting.granularities import compare

        return Answer(compared=compare(job, default_cache(), RealClock()))
    from hettop.cutting.running import run_plan

    return Answer(ran=run_plan(job.subject, job.pieces, Path(job.folder), default_cache(), RealClock()))


if __name__ == "__main__":
    main()
