"""How the answer of each study is drawn: a function of what was found and of the room at hand, in lines.

Knows neither commands nor processes: what was found comes with the session, live and in a replay alike.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hettop.tui.charts.lines import Line, fit, line
from hettop.tui.studies import coexec, granularities, layers, plan, roofline, sweep, variants

if TYPE_CHECKING:
    from hettop.events import Study

Drawing = Callable[[Any, int, int], list[Line]]
"""Of what was found, the width and the height in sight, in cells; longer than that is scrolled."""

DRAWINGS: dict[str, Drawing] = {
    "coexec": coexec.drawn,
    "granularities": granularities.drawn,
    "layers": layers.drawn,
    "plan": plan.drawn,
    "roofline": roofline.drawn,
    "sweep": sweep.drawn,
    "variants": variants.drawn,
}
"""By the studies' names."""


def answer(study: Study, width: int, height: int) -> list[Line]:
    """What the study has found by now, in lines of `width` cells; none while it has found nothing."""
    if study.found is None:
        return []
    drawing = DRAWINGS.get(study.name)
    if drawing is None:
        return [fit(line(("This version cannot draw what it found.", "muted")), width)]
    return [fit(each, width) for each in drawing(study.found, width, height)]
