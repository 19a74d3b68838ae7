"""Which module draws the answer of which study.

Knows their names and nothing of what they draw.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hettop.report.terminal.lines import Line
from hettop.tui.studies import coexec, granularities, layers, plan, roofline, sweep, variants

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
