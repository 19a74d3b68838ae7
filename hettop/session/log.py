"""The event log: which events are worth a line to the person watching, and how it reads.

A pure function of one event; spikes are not here, they are found by the fold.
"""

from __future__ import annotations

from hettop import events
from hettop.events import AnyEvent, LogEntry
from hettop.format import clock, milliseconds, percent
from hettop.session.drift import Drifted

NS_PER_MS = 1e6

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


def describe(event: AnyEvent) -> LogEntry | None:  # noqa: PLR0912 - a branch for each kind of event
    """The line this event adds to the log, or None."""
    found: tuple[str, str] | None = None
    kind = ""
    match event:
        case events.Header(model=events.ModelInfo(note=str(note))):
            kind = "header"
            found = ("info", f"{event.model.name}: {note}")
        case events.Engine():
            kind = "engine"
            found = _engine(event)
        case events.Plan():
            kind = "plan"
            found = _plan(event)
        case events.Outputs():
            kind = "outputs"
            found = _outputs(event)
        case events.PowerStatus():
            kind = "power"
            found = _power_status(event)
        case events.Baseline():
            kind = "baseline"
            found = ("info", f"idle baseline taken from {event.n} power samples, load {event.load}")
        case events.Control():
            kind = "control"
            # The action may come from a file: it is data, and only our own words have a place for the units.
            text = _ACTIONS.get(event.action, event.action.replace("{", "(")).replace("{units}", ", ".join(event.units))
            found = ("info", text)
        case events.Advice():
            kind = "advice"
            found = _advice(event)
        case events.Load():
            kind = "load"
            found = _load(event)
        case events.Study():
            kind = "study"
            found = _study(event)
        case events.Mark():
            kind = "mark"
            found = ("info", f"mark: {event.text}" if event.text else "mark")
        case events.Dropped():
            kind = "dropped"
            found = ("warning", f"{event.n} samples dropped: {event.why}")
        case events.End():
            kind = "end"
            found = ("info", f"end: {event.why}" if event.why else "end")
    if found is None:
        return None
    level, text = found
    return LogEntry(t=event.t, level=level, text=text[: events.TEXT_LIMIT], kind=kind)


def drifted(unit: str, found: Drifted) -> LogEntry:
    """The line that says that a unit's level has moved: when it began, and from where to where."""
    change = found.after_ns / found.before_ns - 1
    moved = f"{milliseconds(found.before_ns / NS_PER_MS)} → {milliseconds(found.after_ns / NS_PER_MS)} ms"
    text = f"{unit} drifts: median {moved} ({percent(change, signed=True)}) since {clock(found.from_ns)}"
    return LogEntry(t=found.known_ns, level="warning", text=text[: events.TEXT_LIMIT], kind="drift")


def overlapped(event: events.Power) -> LogEntry:
    """The line that says that a source tells of the same time more than once; only the first such sample has one."""
    text = f"{event.source} tells of the same time more than once: each moment is counted once"
    return LogEntry(t=event.t, level="warning", text=text[: events.TEXT_LIMIT], kind="power")


def _engine(event: events.Engine) -> tuple[str, str] | None:
    if event.state == "failed" and event.error is not None:
        hint = f" · {event.error.hint}" if event.error.hint else ""
        return "error", f"{event.unit} failed: {event.error.message}{hint}"
    if event.state == "failed":
        return "error", f"{event.unit} failed"
    if event.state == "spawning" and event.note is not None:
        return "info", f"{event.unit} {event.note}"
    if event.state in {"warming", "running"} and event.note is not None and event.load_ns is None:
        return "warning", f"{event.unit}: {event.note}"
    if event.first_ns is not None and event.load_ns is not None:
        note = f" · {event.note}" if event.note else ""
        took = f"loaded in {event.load_ns / 1e6:.0f} ms, first call {event.first_ns / 1e6:.1f} ms"
        return "info", f"{event.unit} {_compiled(event)}{took}{note}"
    return None


def _compiled(event: events.Engine) -> str:
    if event.cached:
        return "compiled before, "
    return "" if event.compile_ns is None else f"compiled in {event.compile_ns / 1e9:.1f} s, "


def _plan(event: events.Plan) -> tuple[str, str]:
    if event.error is not None:
        return "warning", f"{event.unit} has no plan: {event.error.message}"
    where = ", ".join(f"{device.ops} on {device.device}" for device in event.devices)
    return "info", f"{event.unit} plan (a claim): {where or 'no operation has a place'}"


def _outputs(event: events.Outputs) -> tuple[str, str] | None:
    if event.error is not None:
        return "warning", f"{event.unit} outputs not compared: {event.error.message}"
    broken = sum(output.not_finite for output in event.outputs)
    if broken:
        return "error", f"{event.unit} outputs: {broken} values are no numbers, unlike {event.reference}'s"
    apart = [output for output in event.outputs if output.top1 is not None and output.top1 < 1]
    if apart:
        return "warning", f"{event.unit} decides otherwise than {event.reference}: output {apart[0].name}"
    return None


def _power_status(event: events.PowerStatus) -> tuple[str, str] | None:
    if event.state == "running" and events.is_capture(event.source):
        return "warning", "power from a capture: it tells nothing of this run"
    if event.state == "running":
        return "info", f"power from {event.source}"
    if event.state in ("starting", "stopped"):
        return None
    reason = f": {event.reason}" if event.reason else ""
    if event.source == "none":
        return "warning", f"no power{reason}"
    return "warning", f"power source {event.source} {event.state}{reason}"


def _advice(event: events.Advice) -> tuple[str, str]:
    if event.unit is None:
        return "info", "no other unit is advised any more"
    told = f"advice under load {event.load}: {event.unit} instead of {event.over}"
    if event.p90_ns is None or event.over_p90_ns is None:
        return "info", told
    return "info", f"{told}: P90 {event.p90_ns / 1e6:.3g} ms, not {event.over_p90_ns / 1e6:.3g}"


def died(event: events.Study, worker: events.FoundWorker) -> LogEntry:
    """The line that says that units co-execute without one of them from now on."""
    redone = f"; {worker.redone} of its numbers were done by others" if worker.redone else ""
    text = f"{worker.unit} left the co-execution: {worker.error}{redone}"
    return LogEntry(t=event.t, level="error", text=text[: events.TEXT_LIMIT], kind="study")


def _study(event: events.Study) -> tuple[str, str] | None:
    """Its end; its beginning and how far it is are told where it is shown."""
    name = "co-execution" if event.name == "coexec" else f"study {event.name}"
    if event.state == "failed":
        return "error", f"{name} failed" + (f": {event.error.message}" if event.error else "")
    return None if event.state == "running" else ("info", f"{name} {event.state}")


def _load(event: events.Load) -> tuple[str, str]:
    simulated = "simulated " if event.simulated else ""
    if event.state == "failed" and event.error is not None:
        return "error", f"{simulated}load {event.what} failed: {event.error.message}"
    if event.state == "confirmed":
        return "info", f"{simulated}load now {event.condition}"
    level = "" if event.level is None else f" {event.level}"
    return "info", f"{simulated}load {event.what}{level} {event.state}"
