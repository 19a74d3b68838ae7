"""The HTML report of one recording, and the reading of a recording for a report."""

from __future__ import annotations

from hettop.analysis.stretches import Stretches
from hettop.analysis.verdict import Question, verdict
from hettop.export.formats import Target
from hettop.record.defects import Report
from hettop.record.folding import fold
from hettop.record.opened import Recording
from hettop.report.html_page import html_page
from hettop.report.story import RecordingStory, page_of
from hettop.report.verdict import verdict_section
from hettop.stats.resampling import SEED


def export(recording: Recording, target: Target) -> None:
    target.main().write(html_page(page_of([read_story(recording)])).encode())


def read_story(recording: Recording) -> RecordingStory:
    """All that is told of one recording; memory does not grow with its length."""
    import numpy as np

    report, samples = Report(), Stretches()
    story = RecordingStory(recording.path.name)
    for event in recording.events(report):
        fold(story.session, event, report)
        story.course.add(event)
        samples.add(event)
    story.skipped = dict(report.skipped)
    found = verdict(story.session, Question(), samples.column, np.random.default_rng(SEED))
    story.verdict = verdict_section(found)
    return story
