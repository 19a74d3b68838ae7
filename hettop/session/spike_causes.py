"""What the statistics object says of spikes: for each candidate cause, how often it was present at them and else.

Pure; the figures are those that the screen shows.
"""

from __future__ import annotations

import msgspec

from hettop.session.condition import Condition
from hettop.session.session import Session
from hettop.session.spikes_view import cause_rows


class SpikeCause(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate under one condition. `inside`: share of the spikes that count (`spikes`, at least a second apart)
    at which it was present; `outside`: what spikes as long would have at all other moments; `p`: of so many by chance.
    """

    cause: str
    inside: float | None
    outside: float
    spikes: int
    p: float | None
    verdict: str


def spike_causes(session: Session, condition: Condition) -> list[SpikeCause]:
    """The candidates that were watched, the likeliest first."""
    return [
        SpikeCause(
            cause=row.name,
            inside=row.inside,
            outside=row.outside,
            spikes=condition.found.evidence(),
            p=row.p,
            verdict=row.verdict,
        )
        for row in cause_rows(session, condition)
    ]
