"""Makes the report of recordings: their events, their verdict and the results of their studies."""

from __future__ import annotations

from collections.abc import Sequence

from hettop.analysis.unit_samples import Stretches
from hettop.analysis.verdict import Question, verdict
from hettop.export.formats import Target
from hettop.record.defects import Report
from hettop.record.opened import Recording
from hettop.record.reader import fold
from hettop.report.html_page import html_page
from hettop.report.page import Page
from hettop.report.recording_report import RecordingReport, page_of
from hettop.report.verdict import verdict_section
from hettop.stats.resampling import SEED
from hettop.studies.recorded import study_sections


def export(recording: Recording, target: Target) -> None:
    """The page of one recording as HTML."""
    target.main().write(html_page(recordings_page([recording])).encode())


def recordings_page(recordings: Sequence[Recording]) -> Page:
    """One page of all of them."""
    return page_of([read_content(recording) for recording in recordings])


def read_content(recording: Recording) -> RecordingReport:
    """The content of the report on one recording; memory does not grow with its length."""
    import numpy as np

    report, samples = Report(), Stretches()
    content = RecordingReport(recording.path.name)
    for event in recording.events(report):
        fold(content.session, event, report)
        content.history.add(event)
        samples.add(event)
    content.damage = list(report.warnings())
    found = verdict(content.session, Question(), samples.column, np.random.default_rng(SEED))
    content.verdict = verdict_section(found, content.session)
    content.studies = list(study_sections(content.session, beside=bool(content.session.samples)))
    return content
