"""Panel 6: the rest of the machine: cores, memory, swap, battery, and missed frames."""

from __future__ import annotations

from hettop.format import UNKNOWN, percent, size
from hettop.report.terminal import glyphs
from hettop.report.terminal.lines import Line, Span, fit, line, width_of
from hettop.session.views.machine import HostView
from hettop.tui.frame_state import FrameState
from hettop.tui.panels.panel import AutoHeightPanel
from hettop.units import BYTES_PER_MB

_LEVELS = len(glyphs.EIGHTHS) - 1
_BUSY = 0.85


class HostPanel(AutoHeightPanel):
    """The machine, in two or three lines."""

    NUMBER = 6

    def title(self, frame_state: FrameState) -> Line:
        real = " · real" if frame_state.session.header.simulated else ""
        return line(("machine", "title"), (real, "warning"))

    def rows(self, frame_state: FrameState, width: int) -> list[Line]:
        return draw_host(frame_state.session.host, width)


def draw_host(view: HostView | None, width: int) -> list[Line]:
    """The panel's lines, most important first."""
    if view is None:
        return [fit(line(("no reading yet", "muted")), width)]
    supply, frames, clock = _supply(view), _frames(view), _clock(view)
    rest = [(*supply, ("  ", "text"), *frames)] if supply and frames else [supply or frames]
    if width_of(rest[0]) > width:
        rest = [supply, frames]
    return [fit(row, width) for row in (_cores(view), clock, _memory(view), *rest) if row]


def _cores(view: HostView) -> Line:
    if not view.cores:
        return line(("cores ", "muted"), (UNKNOWN, "muted"))
    bars: list[Span] = [
        (glyphs.EIGHTHS[max(1, round(busy * _LEVELS))], "high" if busy > _BUSY else "low") for busy in view.cores
    ]
    mean = sum(view.cores) / len(view.cores)
    return line(("cores ", "muted"), *bars, (f" {percent(mean)}", "text"))


def _memory(view: HostView) -> Line:
    memory = percent(view.memory)
    swap = UNKNOWN if view.swap_mb is None else size(round(view.swap_mb * BYTES_PER_MB))
    return line(("memory ", "muted"), (memory, "text"), ("  swap ", "muted"), (swap, "text"))


def _supply(view: HostView) -> Line:
    if view.battery is None:
        return ()
    supply = ("on battery", "warning") if view.on_battery else ("on AC", "muted")
    return line(("battery ", "muted"), (f"{percent(view.battery)} ", "text"), supply)


def _clock(view: HostView) -> Line:
    """A loss of clock speed that the system does not report, by the canary's fixed work."""
    if view.clock_loss is None:
        return ()
    return line((f"clock {percent(view.clock_loss)} slower than at the start", "warning"))


def _frames(view: HostView) -> Line:
    """The frames that the 60 Hz canary missed: how responsive the machine is meanwhile."""
    if not view.canary_due:
        return ()
    late = view.canary_missed or 0
    return line(("frames missed ", "muted"), (percent(late / view.canary_due), "high" if late else "text"))
