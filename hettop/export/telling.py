"""Reads a recording for its story: the fold, the course and the samples in order, in one pass, and lets it be judged.

Joins an opened recording to the report; numbers and words are made there.
"""

from __future__ import annotations

from hettop.analysis.stretches import Stretches
from hettop.analysis.verdict import Question, verdict
from hettop.record.defects import Report
from hettop.record.folding import fold
from hettop.record.opened import Recording
from hettop.report.story import Told
from hettop.report.verdict_section import verdict_section

SEED = 20_250_601  # of the resamples: the same recording gives the same page, and the page what decide gives


def tell(recording: Recording) -> Told:
    """All that is told of one recording; memory does not grow with its length."""
    import numpy as np

    report, samples = Report(), Stretches()
    told = Told(recording.path.name)
    for event in recording.events(report):
        fold(told.session, event, report)
        told.course.add(event)
        samples.add(event)
    told.skipped = dict(report.skipped)
    found = verdict(told.session, Question(), samples.column, np.random.default_rng(SEED))
    told.verdict = verdict_section(found)
    return told
