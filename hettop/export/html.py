"""The HTML report of one recording, and the reading of a recording for a report."""

from __future__ import annotations

from hettop.analysis.stretches import Stretches
from hettop.analysis.verdict import Question, verdict
from hettop.export.formats import Target
from hettop.record.defects import Report
from hettop.record.folding import fold
from hettop.record.opened import Recording
from hettop.report.html_page import html_page
from hettop.report.story import Told, page_of
from hettop.report.verdict import verdict_section


def export(recording: Recording, target: Target) -> None:
    target.main().write(html_page(page_of([tell(recording)])).encode())


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
