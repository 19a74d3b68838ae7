"""What became of trials, as the statistics that every result has: one object each, whatever happened.

Knows the fold, and nothing of what the candidates have in common.
"""

from __future__ import annotations

import msgspec

from hettop.analysis.unit_samples import WALL, Measured, in_order_of, main_load, measured
from hettop.events import NO_LOAD, Failure
from hettop.measurement.rounds import Trial
from hettop.session.statistics import Reason, Statistics, statistics
from hettop.stats.quantiles import samples_needed

NOTHING = Failure(kind="none-measured", message="no steady sample was taken")


def statistics_of(trial: Trial, backend: str, *, modes: bool = True) -> Statistics:
    """The statistics object of a trial; n is 0 and `error` says why where nothing was measured.

    modes: whether to look for them, which is what takes longest.
    """
    rows = [] if trial.session is None else statistics(trial.session, modes=modes)
    if rows and trial.error is None:
        return max(rows, key=lambda row: row.n)  # one load; thermal states apart, the one with most samples tells most
    failure = trial.error or NOTHING
    error = Reason(kind=failure.kind, message=failure.message, hint=failure.hint)
    if rows:
        best = max(rows, key=lambda row: row.n)
        return best if best.error is not None else _with_error(best, error)
    return Statistics(
        unit=trial.unit,
        load=NO_LOAD,
        backend=backend,
        p90_needs=samples_needed(0.9),
        p99_needs=samples_needed(0.99),
        error=error,
    )


def samples_of(trial: Trial) -> Measured | None:
    """Its samples in order of arrival; None where there are none."""
    session = trial.session
    if session is None:
        return None
    found = measured(session, main_load(session), in_order_of(session), WALL)
    return found[0] if found else None


def _with_error(row: Statistics, error: Reason) -> Statistics:
    return msgspec.structs.replace(row, error=error)
