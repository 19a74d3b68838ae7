"""The measuring process: `python -m hettop.studies.layers.worker`, a job on stdin, an answer on stdout.

Knows nothing of who started it; ends when it has answered, or when stdin ends before that.
"""

from __future__ import annotations

import psutil

from hettop.models.cache import default_cache
from hettop.processes.serve import Caller, serve
from hettop.sources.engine.backend import RealClock
from hettop.studies.layers.cache_size import last_level_cache_bytes
from hettop.studies.layers.job import PROFILED, LayersJob
from hettop.studies.layers.result import LayersResult, Roofs


def measured(job: LayersJob, caller: Caller) -> LayersResult:
    if job.backend != PROFILED:
        from hettop.sources.engine.backends import create
        from hettop.sources.engine.planning import separate_reader
        from hettop.studies.layers.estimating import estimate

        return estimate(job, create(job.backend, RealClock()), separate_reader(job.backend), default_cache())
    from hettop.studies.layers.running import measure

    return measure(job, caller.scratch, default_cache(), RealClock(), _roofs)


def _roofs(threads: int) -> Roofs:
    from hettop.studies.layers.kernels import measure_roofs

    free = psutil.virtual_memory().available
    return measure_roofs(threads, last_level_cache_bytes(), RealClock(), free_bytes=free)


if __name__ == "__main__":
    serve(measured, LayersJob)
