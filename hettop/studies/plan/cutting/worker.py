"""The process that cuts and measures: `python -m hettop.studies.plan.cutting.worker`, job on stdin, answer on stdout.

Knows nothing of who started it; ends when it has answered, or when stdin ends before that. On the way it tells how far
it is, a line at a time.
"""

from __future__ import annotations

from pathlib import Path

from hettop.models.cache import default_cache
from hettop.processes.scratch import explained
from hettop.processes.serve import Tell, answer_telling
from hettop.sources.engine.backend import Clock
from hettop.sources.engine.clock import RealClock
from hettop.studies.plan.cutting.messages import Answer, CompareJob, Doing, Failed, Job, SurveyJob, decode_job, encode
from hettop.studies.plan.cutting.result import Compared

TELL_EVERY_NS = 200_000_000
KNOWN_EVERY_NS = 1_000_000_000
"""Nobody reads faster, and what is told often would disturb what is measured."""


def main() -> None:
    answer_telling(lambda line, tell: encode(_answer(decode_job(line), Teller(tell, RealClock()))))


class Teller:
    """Tells what is going on when that changes, and now and then how far it is and what is known."""

    def __init__(self, tell: Tell, clock: Clock) -> None:
        self._tell = tell
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
            self._tell(encode(Doing(doing=text, share=share, compared=compared)))


def _answer(job: Job, teller: Teller) -> Answer:
    try:
        return _measured(job, teller)
    except Exception as error:  # noqa: BLE001 (a framework may raise anything; the user reads it)
        told = explained(error, Path(job.folder))
        return Answer(failed=Failed(kind=told.kind, message=told.message, hint=told.hint))


def _measured(job: Job, teller: Teller) -> Answer:
    if isinstance(job, SurveyJob):
        from hettop.studies.plan.cutting.survey import survey

        return Answer(survey=survey(job.subject, Path(job.folder), default_cache(), RealClock(), tell=teller))
    if isinstance(job, CompareJob):
        from hettop.studies.granularities.measuring import compare

        return Answer(compared=compare(job, default_cache(), RealClock(), teller))
    from hettop.studies.plan.cutting.running import run_plan

    return Answer(ran=run_plan(job.subject, job.pieces, Path(job.folder), default_cache(), RealClock(), tell=teller))


if __name__ == "__main__":
    main()
