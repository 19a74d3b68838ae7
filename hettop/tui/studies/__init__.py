"""How the answer of each study is drawn: a function of what was found and of the room at hand, in lines.

Knows neither commands nor processes: what was found comes with the session, live and in a replay alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hettop.report.terminal.lines import Line, fit, line

if TYPE_CHECKING:
    from hettop.events import Study


def answer(study: Study, width: int, height: int) -> list[Line]:
    """What the study has found by now, in lines of `width` cells; none while it has found nothing."""
    if study.found is None:
        return []
    from hettop.tui.studies.drawings import DRAWINGS  # the first paint of the screen does without

    drawing = DRAWINGS.get(study.name)
    if drawing is None:
        return [fit(line(("This version cannot draw what it found.", "muted")), width)]
    return [fit(each, width) for each in drawing(study.found, width, height)]
