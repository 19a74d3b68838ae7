"""The event log: which events have a line in it, and the text of that line.

The session keeps the events (`log_event`, `event_log`); their text is made when they are shown (`log`).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from hettop import events
from hettop.events import AnyEvent, Failure, LevelDrift, LogEntry, LogEvent, PowerOverlap, SpikeRun, WorkerLeft
from hettop.format import clock, milliseconds, percent
from hettop.session.event_log import KEPT, EventLog, Logged, kind_of
from hettop.session.views.structs import LogCounts, LogLine
from hettop.units import NS_PER_MS, NS_PER_S

if TYPE_CHECKING:
    from hettop.session.session import Session
    from hettop.session.views.structs import ViewRequest

_ACTIONS = {
    "start": "measuring {units}",
    "switch": "unit → {units}",
    "interleave": "interleaving {units}",
    "coexec": "co-executing {units}",
    "pause": "inference paused",
    "resume": "inference resumed",
    "baseline": "inference paused for an idle baseline",
    "reset": "statistics reset",
}


def log_event(event: AnyEvent) -> LogEvent | None:  # noqa: PLR0911 - a case for each kind of event
    """The part of an event that the log keeps for its line, or None if it has no line."""
    match event:
        case events.Samples():
            return None
        case events.Header(model=events.ModelInfo(name=name, note=str(note))):
            model = events.ModelInfo(name=name, note=note)
            return events.Header(t=event.t, format=event.format, version=event.version, model=model)
        case events.Engine() if _is_engine_news(event):
            return msgspec.structs.replace(event, inputs=[], error=_brief(event.error))
        case events.Plan():
            return msgspec.structs.replace(event, breaks=[], error=_brief(event.error))
        case events.Outputs() if event.error is not None or any(_is_wrong(output) for output in event.outputs):
            return msgspec.structs.replace(event, error=_brief(event.error))
        case events.PowerStatus() if event.state not in ("starting", "stopped"):
            return msgspec.structs.replace(event, fix="", refused={}, validated=[])
        case events.Load():
            return msgspec.structs.replace(event, error=_brief(event.error))
        case events.Study() if event.state != "running":  # its start and progress are shown on the screen of studies
            return msgspec.structs.replace(event, arguments=[], found=None, error=_brief(event.error))
        case events.Baseline() | events.Control() | events.Advice() | events.Mark() | events.Dropped() | events.End():
            return event
        case events.Interrupted():
            return event
    return None


def in_words(entry: LogEvent | LogEntry | SpikeRun) -> LogEntry:
    """The line of an event; one from a keyframe of format [1,0] is text already."""
    if isinstance(entry, LogEntry):
        return entry
    level, text = ("warning", _spikes(entry)) if isinstance(entry, SpikeRun) else _words(entry)
    return LogEntry(t=entry.t, level=level, text=text[: events.TEXT_LIMIT], kind=kind_of(entry))


def _spikes(run: SpikeRun) -> str:
    """`spikes CPU_ONLY, max 70.9 ms`; how many they are is said beside it."""
    slowest = milliseconds(run.max_ns / NS_PER_MS)
    return f"spike {run.unit}, {slowest} ms" if run.n == 1 else f"spikes {run.unit}, max {slowest} ms"


def _words(event: LogEvent) -> tuple[str, str]:  # noqa: PLR0911, PLR0912 - a case for each kind of event
    match event:
        case events.Header():
            return "info", f"{event.model.name}: {event.model.note}"
        case events.Engine():
            return _engine(event)
        case events.Plan():
            return _plan(event)
        case events.Outputs():
            return _outputs(event)
        case events.PowerStatus():
            return _power_status(event)
        case events.Baseline():
            return "info", f"idle baseline measured from {event.n} power samples, load {event.load}"
        case events.Control():
            # The action may come from a file: only our own texts have a place for the units.
            text = _ACTIONS.get(event.action, event.action.replace("{", "(")).replace("{units}", ", ".join(event.units))
            return "info", text
        case events.Advice():
            return _advice(event)
        case events.Load():
            return _load(event)
        case events.Study():
            return _study(event)
        case events.Mark():
            return "info", f"mark: {event.text}" if event.text else "mark"
        case events.Dropped():
            return "warning", f"{event.n} samples dropped: {event.why}"
        case events.Interrupted():
            what = "the machine slept" if event.why == "asleep" else f"the process of {event.unit} was stopped"
            return "warning", what + (f" for about {event.ns / NS_PER_S:.1f} s" if event.ns else "")
        case events.End():
            return "info", f"end: {event.why}" if event.why else "end"
        case LevelDrift():
            return "warning", _drift(event)
        case PowerOverlap():
            return "warning", f"{event.source} reported overlapping samples: each moment is counted once"
        case WorkerLeft():
            redone = f"; {event.redone} of its inferences were repeated by others" if event.redone else ""
            return "error", f"{event.unit} left the co-execution: {event.error}{redone}"


def _brief(error: Failure | None) -> Failure | None:
    return None if error is None else msgspec.structs.replace(error, log=[])


def _is_engine_news(event: events.Engine) -> bool:
    if event.state == "failed" or (event.first_ns is not None and event.load_ns is not None):
        return True
    if event.state == "spawning":
        return event.note is not None
    return event.state in {"warming", "running"} and event.note is not None and event.load_ns is None


def _engine(event: events.Engine) -> tuple[str, str]:
    if event.state == "failed" and event.error is not None:
        hint = f" · {event.error.hint}" if event.error.hint else ""
        return "error", f"{event.unit} failed: {event.error.message}{hint}"
    if event.state == "failed":
        return "error", f"{event.unit} failed"
    if event.state == "spawning" and event.note is not None:
        return "info", f"{event.unit} {event.note}"
    if event.first_ns is not None and event.load_ns is not None:
        note = f" · {event.note}" if event.note else ""
        took = f"loaded in {event.load_ns / NS_PER_MS:.0f} ms, first call {event.first_ns / NS_PER_MS:.1f} ms"
        return "info", f"{event.unit} {_compiled(event)}{took}{note}"
    return "warning", f"{event.unit}: {event.note or event.state}"


def _compiled(event: events.Engine) -> str:
    if event.cached:
        return "already compiled, "
    return "" if event.compile_ns is None else f"compiled in {event.compile_ns / 1e9:.1f} s, "


def _plan(event: events.Plan) -> tuple[str, str]:
    if event.error is not None:
        return "warning", f"{event.unit}: no plan: {event.error.message}"
    where = ", ".join(f"{device.ops} on {device.device}" for device in event.devices)
    return "info", f"{event.unit} plan (not measured): {where or 'no operation assigned'}"


def _is_wrong(output: events.OutputDifference) -> bool:
    return bool(output.not_finite) or (output.top1 is not None and output.top1 < 1)


def _outputs(event: events.Outputs) -> tuple[str, str]:
    if event.error is not None:
        return "warning", f"{event.unit} outputs not compared: {event.error.message}"
    broken = sum(output.not_finite for output in event.outputs)
    if broken:
        return "error", f"{event.unit} outputs: {broken} values not finite, unlike {event.reference}'s"
    name = next((output.name for output in event.outputs if _is_wrong(output)), "")
    return "warning", f"{event.unit} has another top 1 than {event.reference}: output {name}"


def _power_status(event: events.PowerStatus) -> tuple[str, str]:
    if event.state == "running" and events.is_capture(event.source):
        return "warning", "power from a capture, unrelated to this run"
    if event.state == "running":
        return "info", f"power from {event.source}"
    reason = f": {event.reason}" if event.reason else ""
    if event.source == "none":
        return "warning", f"no power{reason}"
    return "warning", f"power source {event.source} {event.state}{reason}"


def _advice(event: events.Advice) -> tuple[str, str]:
    if event.unit is None:
        return "info", "advice withdrawn"
    advice = f"advice under load {event.load}: {event.unit} instead of {event.over}"
    if event.p90_ns is None or event.over_p90_ns is None:
        return "info", advice
    return "info", f"{advice}: P90 {event.p90_ns / NS_PER_MS:.3g} ms instead of {event.over_p90_ns / NS_PER_MS:.3g} ms"


def _study(event: events.Study) -> tuple[str, str]:
    name = "co-execution" if event.name == "coexec" else f"study {event.name}"
    if event.state == "failed":
        return "error", f"{name} failed" + (f": {event.error.message}" if event.error else "")
    return "info", f"{name} {event.state}"


def _load(event: events.Load) -> tuple[str, str]:
    simulated = "simulated " if event.simulated else ""
    if event.state == "failed" and event.error is not None:
        return "error", f"{simulated}load {event.what} failed: {event.error.message}"
    if event.state == "confirmed":
        return "info", f"{simulated}load now {event.condition}"
    level = "" if event.level is None else f" {event.level}"
    return "info", f"{simulated}load {event.what}{level} {event.state}"


def _drift(event: LevelDrift) -> str:
    before, after = (milliseconds(value / NS_PER_MS) for value in (event.before_ns, event.after_ns))
    change = f" ({percent(event.after_ns / event.before_ns - 1, signed=True)})" if event.before_ns else ""
    return f"{event.unit} drifts: median {before} → {after} ms{change} since {clock(event.since_ns)}"


def log(session: Session, request: ViewRequest) -> tuple[LogLine, ...]:
    """The newest lines of the event log, as many as were asked for, oldest first."""
    held = session.log.held
    if held and held[-1].t > request.now_ns:  # by a clock that is a little ahead
        newest = (line for line in map(_line, reversed(held)) if line.t <= request.now_ns)
        return tuple(islice(newest, request.log_lines))[::-1]
    return _newest(session.log, session.log.changes, request.log_lines)


@lru_cache(maxsize=2)
def _newest(log: EventLog, changes: int, n: int) -> tuple[LogLine, ...]:  # noqa: ARG001 - the log is what it was with them
    """Made once for each change of the log: ten thousand lines take a tenth of a second on a slow core."""
    return tuple(islice(map(_line, reversed(log.held)), n))[::-1]


def logged(session: Session) -> LogCounts:
    """How much the event log holds."""
    known = session.log.lines is not None
    counts = tuple(sorted(session.log.counts.items())) if known else None
    return LogCounts(len(session.log), session.log.earlier, counts)


@lru_cache(maxsize=KEPT + 64)  # lines that do not grow any more stay what they are
def _line(logged: Logged) -> LogLine:
    entry = logged.entry
    said = in_words(entry)
    units = entry.units if isinstance(entry, events.Control) else [getattr(entry, "unit", None) or ""]
    return LogLine(logged.t, said.level, said.text, said.kind, logged.n, logged.last_ns, ", ".join(units))
