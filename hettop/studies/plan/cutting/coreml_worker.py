"""The process that measures Core ML's slices: `python -m hettop.studies.plan.cutting.coreml_worker`, job to answer.

Knows nothing of who started it; ends when it has answered, when stdin ends before that, or when the framework hangs.
"""

from __future__ import annotations

from functools import partial

from hettop.models.cache import default_cache
from hettop.processes.serve import Caller, serve
from hettop.sources.engine.backend import RealClock
from hettop.sources.engine.planning import separate_reader
from hettop.studies.plan.cutting.coreml_messages import FitJob, Fitted, MeasureJob, PrepareJob, ProgramJob, Timed
from hettop.studies.plan.cutting.result import Ran
from hettop.studies.plan.cutting.worker import ProgressSender


def measured(job: ProgramJob, caller: Caller, held: list[object]) -> Fitted | Timed | Ran | None:
    if isinstance(job, PrepareJob):
        from hettop.models.resolve import core_ml_file

        core_ml_file(job.common.subject.model, default_cache())
        return None
    from hettop.studies.plan.cutting.coreml_measuring import Bench, fit, measure, run

    bench = Bench(job.common, caller.scratch, default_cache(), RealClock(), ProgressSender(caller, RealClock()))
    held.append(bench)
    if isinstance(job, FitJob):
        return fit(job, bench, separate_reader("coreml"))
    return measure(job, bench) if isinstance(job, MeasureJob) else run(job, bench)


if __name__ == "__main__":
    kept: list[object] = []  # not freed before the process ends
    serve(partial(measured, held=kept), ProgramJob)
