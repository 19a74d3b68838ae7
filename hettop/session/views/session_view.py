"""Makes the views that the screen draws from a session and a request.

Pure: the same session and request give the same view, live and in a replay.
"""

from __future__ import annotations

from dataclasses import replace

from hettop.session.log import log, logged
from hettop.session.session import Session, current_condition
from hettop.session.views import machine
from hettop.session.views.answers import answers_view
from hettop.session.views.contrast import contrast
from hettop.session.views.latency import latency, ridge
from hettop.session.views.spike_surroundings import surroundings
from hettop.session.views.spikes import SpikesView, spikes
from hettop.session.views.structs import HeaderView, SessionView, ViewRequest
from hettop.session.views.timeline import timeline
from hettop.session.views.units import conditions, units

RATE_WINDOW_NS = 2 * 10**9
STALE_AFTER_NS = 1_500_000_000
"""Recordings are written in windows of up to a second, so in a replay the newest samples may be that old."""


def view(session: Session, request: ViewRequest) -> SessionView:
    """The views of all panels at `request.now_ns`."""
    unit = viewed_unit(session, request)
    reused = request.reused
    return SessionView(
        header=header(session, request),
        latency=latency(session, unit, request) if reused is None else reused.latency,
        timeline=timeline(session, unit, request),
        units=units(session, request) if reused is None else reused.units,
        power=machine.power(session, unit, request) if reused is None else reused.power,
        host=machine.host(session) if reused is None else reused.host,
        log=log(session, request) if reused is None else reused.log,
        conditions=conditions(session) if request.conditions else (),
        spikes=_spikes(session, unit, request) if request.spikes else None,
        studies=session.studies.all if request.studies else (),
        answers=answers_view(session, unit, request.now_ns) if request.answers else None,
        logged=logged(session) if reused is None else reused.logged,
        contrast=contrast(session, unit, request.contrast_columns) if request.contrast_columns else None,
        ridge=ridge(session, request) if reused is None else reused.ridge,
    )


def _spikes(session: Session, unit: str | None, request: ViewRequest) -> SpikesView:
    found = spikes(session, current_condition(session, unit) if unit else None, unit, request.now_ns)
    return replace(found, around=surroundings(session, found.rows, request))


def viewed_unit(session: Session, request: ViewRequest) -> str | None:
    """The requested unit, else the first active one, else the first known."""
    if request.unit is not None:
        return request.unit
    active = session.control.units if session.control else []
    return next(iter(active), next(iter(session.units), None))


def header(session: Session, request: ViewRequest) -> HeaderView:
    opening, control = session.header, session.control
    return HeaderView(
        model=(opening.model.name if opening else None) or "",
        backend=opening.model.backend if opening else None,
        chip=opening.host.chip if opening else None,
        simulated=session.simulated,
        units=tuple(control.units) if control else (),
        mode=control.mode if control else "single",
        paused=session.paused,
        elapsed_ns=request.now_ns,
        rate_per_s=_rate(session, request.now_ns),
        samples=session.samples,
        dropped=session.dropped,
        load=session.load,
        rate_hz=control.rate_hz if control else None,
        model_note=opening.model.note if opening else None,
        advised=session.advice.unit if session.advice else None,
        reset_ns=session.reset_ns,
        answering=opening is not None and opening.settings.get("answers") is not None,
        study=study.name if (study := session.studies.running) is not None else None,
    )


def _rate(session: Session, now_ns: int) -> float | None:
    """Steady samples per second over the last two seconds with samples."""
    ends = [condition.trailing.last_end_ns for condition in session.conditions.values()]
    newest = max((end for end in ends if end is not None), default=None)
    if newest is None or newest < now_ns - STALE_AFTER_NS or session.paused:
        return None
    counted = 0
    oldest = newest
    for condition in session.conditions.values():
        inside, latencies = condition.trailing.between(newest - RATE_WINDOW_NS, newest)
        if len(inside):
            counted += len(inside)
            oldest = min(oldest, int(inside[0] - latencies[0]))
    span = newest - oldest
    return counted / span * 1e9 if span > 0 else None
