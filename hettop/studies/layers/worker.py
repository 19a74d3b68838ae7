"""The measuring process: `python -m hettop.studies.layers.worker`, a job on stdin, an answer on stdout.

Knows nothing of who started it; ends when it has answered, or when stdin ends before that.
"""

from __future__ import annotations

from pathlib import Path

import psutil

from hettop.models.cache import default_cache
from hettop.processes.scratch import explained
from hettop.processes.serve import answer_one
from hettop.sources.engine.clock import RealClock
from hettop.studies.layers.cache_size import last_level_cache_bytes
from hettop.studies.layers.job import PROFILED, Answer, Failed, Job, decode_job, encode
from hettop.studies.layers.rows import Measured, Roofs


def main() -> None:
    answer_one(lambda line: encode(_answer(decode_job(line))))


def _answer(job: Job) -> Answer:
    try:
        return Answer(measured=_measured(job))
    except Exception as error:  # noqa: BLE001 (a framework may raise anything; the user reads it)
        told = explained(error, Path(job.folder))
        return Answer(failed=Failed(kind=told.kind, message=told.message, hint=told.hint))


def _measured(job: Job) -> Measured:
    if job.backend != PROFILED:
        from hettop.sources.engine.backends import create
        from hettop.sources.engine.planning import separate_reader
        from hettop.studies.layers.estimating import estimate

        return estimate(job, create(job.backend, RealClock()), separate_reader(job.backend), default_cache())
    from hettop.studies.layers.running import measure

    return measure(job, default_cache(), RealClock(), _roofs)


def _roofs(threads: int) -> Roofs:
    from hettop.studies.layers.kernels import measure_roofs

    free = psutil.virtual_memory().available
    return measure_roofs(threads, last_level_cache_bytes(), RealClock(), free_bytes=free)


if __name__ == "__main__":
    main()
