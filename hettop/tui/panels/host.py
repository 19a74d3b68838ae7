"""Panel 6: what the rest of the machine was doing: cores, memory, swap, battery, and frames that came too late."""

from __future__ import annotations

from hettop.format import UNKNOWN, percent, size
from hettop.session.machine_views import HostView
from hettop.tui.charts import glyphs
from hettop.tui.charts.lines import Line, Span, fit, line
from hettop.tui.panels.snug import SnugPanel
from hettop.tui.picture import Picture

_LEVELS = len(glyphs.EIGHTHS) - 1
_BUSY = 0.85
_BYTES_PER_MB = 10**6


class HostPanel(SnugPanel):
    """The machine, in two or three lines."""

    NUMBER = 6

    def title(self, picture: Picture) -> Line:  # noqa: ARG002 - one title for all
        return line(("machine", "title"))

    def rows(self, picture: Picture, width: int) -> list[Line]:
        return draw_host(picture.session.host, width)


def draw_host(view: HostView | None, width: int) -> list[Line]:
    """The panel's lines, most important first."""
    if view is None:
        return [fit(line(("looking …", "muted")), width)]
    return [fit(row, width) for row in (_cores(view), _memory(view), _rest(view)) if row]


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
    swap = UNKNOWN if view.swap_mb is None else size(round(view.swap_mb * _BYTES_PER_MB))
    return line(("memory ", "muted"), (memory, "text"), ("  swap ", "muted"), (swap, "text"))


def _rest(view: HostView) -> Line:
    """Power supply and frames, where they are known."""
    spans: list[Span] = []
    if view.battery is not None:
        supply = "on battery" if view.on_battery else "on AC"
        spans += [("battery ", "muted"), (f"{percent(view.battery)} ", "text")]
        spans.append((supply, "warning" if view.on_battery else "muted"))
    if view.canary_due:
        late = view.canary_missed or 0
        spans.append(("  frames missed " if spans else "frames missed ", "muted"))
        spans.append((percent(late / view.canary_due), "high" if late else "text"))
    return line(*spans)
