"""The process that cuts and measures: `python -m hettop.studies.plan.cutting.worker`, job on stdin, answer on stdout.

On the way it reports how far it is, a line at a time.
"""

from __future__ import annotations

from hettop.models.cache import default_cache
from hettop.processes.serve import Caller, serve
from hettop.sources.engine.backend import Clock, RealClock
from hettop.studies.plan.cutting.messages import CompareJob, CuttingJob, MeasuringProgress, RepeatJob, SurveyJob
from hettop.studies.plan.cutting.result import Blocks, Compared, Ran, Survey

TELL_EVERY_NS = 200_000_000
KNOWN_EVERY_NS = 1_000_000_000
"""Nobody reads faster, and what is reported often would disturb what is measured."""


class ProgressSender:
    """Says what is going on when that changes, and now and then how far it is and what is known."""

    def __init__(self, caller: Caller, clock: Clock) -> None:
        self._caller = caller
        self._clock = clock
        self._last = ("", 0)
        self._known_at = clock.now()

    def __call__(self, text: str, share: float, compared: Compared | None = None) -> None:
        before, told_at = self._last
        now = self._clock.now()
        if now - self._known_at < KNOWN_EVERY_NS:
            compared = None
        if text != before or compared is not None or now - told_at >= TELL_EVERY_NS:
            self._last = (text, now)
            self._known_at = now if compared is not None else self._known_at
            self._caller.send(MeasuringProgress(doing=text, share=share, compared=compared))


def measured(job: CuttingJob, caller: Caller) -> Survey | Ran | Compared | Blocks:
    progress, cache, clock = ProgressSender(caller, RealClock()), default_cache(), RealClock()
    if isinstance(job, SurveyJob):
        from hettop.studies.plan.cutting.survey import survey

        return survey(job.subject, caller.scratch, cache, clock, tell=progress)
    if isinstance(job, CompareJob):
        from hettop.studies.granularities.ways import compare

        return compare(job, caller.scratch, cache, clock, progress)
    if isinstance(job, RepeatJob):
        from hettop.studies.plan.cutting.repeating import repeat

        return repeat(job, caller.scratch, cache, clock, tell=progress)
    from hettop.studies.plan.cutting.running import run_plan

    return run_plan(job.subject, job.pieces, caller.scratch, cache, clock, others=job.others, tell=progress)


if __name__ == "__main__":
    serve(measured, CuttingJob, timed=True)
