"""The event log: which events are worth a line to the person watching, and how it reads.

A pure function of one event; spikes are not here, they are found by the fold.
"""

from __future__ import annotations

from hettop import events
from hettop.events import AnyEvent, LogEntry

_ACTIONS = {
    "start": "measuring {units}",
    "switch": "unit → {units}",
    "interleave": "interleaving {units}",
    "pause": "inference paused",
    "resume": "inference resumed",
    "baseline": "inference paused for an idle baseline",
    "reset": "statistics reset",
}


def describe(event: AnyEvent) -> LogEntry | None:
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
        case events.Load():
            kind = "load"
            found = _load(event)
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


def _engine(event: events.Engine) -> tuple[str, str] | None:
    if event.state == "failed" and event.error is not None:
        hint = f" · {event.error.hint}" if event.error.hint else ""
        return "error", f"{event.unit} failed: {event.error.message}{hint}"
    if event.state == "failed":
        return "error", f"{event.unit} failed"
    if event.state == "spawning" and event.note is not None:
        return "info", f"{event.unit} {event.note}"
    if event.first_ns is not None and event.load_ns is not None:
        note = f" · {event.note}" if event.note else ""
        took = f"loaded in {event.load_ns / 1e6:.0f} ms, first call {event.first_ns / 1e6:.1f} ms"
        return "info", f"{event.unit} {took}{note}"
    return None


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
    if event.state == "running":
        return "info", f"power from {event.source}"
    if event.state in ("starting", "stopped"):
        return None
    reason = f": {event.reason}" if event.reason else ""
    if event.source == "none":
        return "warning", f"no power{reason}"
    return "warning", f"power source {event.source} {event.state}{reason}"


def _load(event: events.Load) -> tuple[str, str]:
    simulated = "simulated " if event.simulated else ""
    if event.state == "failed" and event.error is not None:
        return "error", f"{simulated}load {event.what} failed: {event.error.message}"
    if event.state == "confirmed":
        return "info", f"{simulated}load now {event.condition}"
    level = "" if event.level is None else f" {event.level}"
    return "info", f"{simulated}load {event.what}{level} {event.state}"
