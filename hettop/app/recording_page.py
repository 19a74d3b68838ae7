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
from hettop.report.story import RecordingStory, page_of
from hettop.report.verdict import verdict_section
from hettop.stats.resampling import SEED
from hettop.studies.recorded import study_sections


def export(recording: Recording, target: Target) -> None:
    """The page of one recording as HTML."""
    target.main().write(html_page(recordings_page([recording])).encode())


def recordings_page(recordings: Sequence[Recording]) -> Page:
    """One page of all of them."""
    return page_of([read_story(recording) for recording in recordings])


def read_story(recording: Recording) -> RecordingStory:
    """The content of the report on one recording; memory does not grow with its length."""
    import numpy as np

    report, samples = Report(), Stretches()
    story = RecordingStory(recording.path.name)
    for event in recording.events(report):
        fold(story.session, event, report)
        story.history.add(event)
        samples.add(event)
    story.skipped = dict(report.skipped)
    found = verdict(story.session, Question(), samples.column, np.random.default_rng(SEED))
    story.verdict = verdict_section(found, story.session)
    story.studies = list(study_sections(story.session, beside=bool(story.session.samples)))
    return story
