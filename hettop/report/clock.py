"""The warning that a machine's clock became slower while it was measured, in words.

Pure; whether it did is known by the canary's fold.
"""

from __future__ import annotations

from hettop.events import NO_LOAD
from hettop.format import percent
from hettop.session.session import Session
from hettop.stats.clock import has_lost
from hettop.text import clean


def clock_notes(session: Session) -> list[str]:
    """A sentence if the clock was slower at the end of something measured than at its beginning; else nothing."""
    worst = session.canary.worst
    if worst is None or not has_lost(worst[1]):
        return []
    situation, loss = worst
    units = ", ".join(clean(unit, 30) for unit in situation.units) or "nothing"
    load = "" if situation.load == NO_LOAD else f" under {clean(situation.load, 40)}"
    return [
        f"this machine's clock is {percent(loss)} slower than when the session began to measure {units}{load}: the "
        "canary's fixed work takes that much longer, so part of what changed may be the machine's doing"
    ]
