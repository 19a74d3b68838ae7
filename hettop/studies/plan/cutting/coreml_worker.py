"""The process that measures Core ML's slices: `python -m hettop.studies.plan.cutting.coreml_worker`, job to answer.

Knows nothing of who started it; ends when it has answered, when stdin ends before that, or when the framework hangs.
"""

from __future__ import annotations

from pathlib import Path

from hettop.models.cache import default_cache
from hettop.processes.scratch import explained
from hettop.processes.serve import answer_telling
from hettop.sources.engine.clock import RealClock
from hettop.sources.engine.planning import separate_reader
from hettop.studies.plan.cutting.coreml_messages import Answer, FitJob, Job, MeasureJob, PrepareJob, decode_job, encode
from hettop.studies.plan.cutting.messages import Failed
from hettop.studies.plan.cutting.worker import Teller


def main() -> None:
    held: list[object] = []  # not freed before the process ends
    answer_telling(lambda line, tell: encode(_answer(decode_job(line), Teller(tell, RealClock()), held)))


def _answer(job: Job, teller: Teller, held: list[object]) -> Answer:
    try:
        return _measured(job, teller, held)
    except Exception as error:  # noqa: BLE001 (a framework may raise anything; the user reads it)
        told = explained(error, Path(job.common.folder))
        return Answer(failed=Failed(kind=told.kind, message=told.message, hint=told.hint))


def _measured(job: Job, teller: Teller, held: list[object]) -> Answer:
    if isinstance(job, PrepareJob):
        from hettop.models.resolve import core_ml_file

        core_ml_file(job.common.subject.model, default_cache())
        return Answer()
    from hettop.studies.plan.cutting.coreml_measuring import Bench, fit, measure, run

    bench = Bench(job.common, default_cache(), RealClock(), teller)
    held.append(bench)
    if isinstance(job, FitJob):
        return fit(job, bench, separate_reader("coreml"))
    return measure(job, bench) if isinstance(job, MeasureJob) else run(job, bench)


if __name__ == "__main__":
    main()
