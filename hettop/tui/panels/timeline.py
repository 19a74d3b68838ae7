"""Panel 2: what happened when: P90 and maximum per slot of the trailing window, spikes, marks."""

from __future__ import annotations

from hettop.format import count, milliseconds, seconds
from hettop.tui.charts import glyphs
from hettop.tui.charts.lines import Line, line
from hettop.tui.charts.timeline import draw_timeline, slot_columns
from hettop.tui.frame_state import FrameState
from hettop.tui.panels.panel import Panel, inner_size


class TimelinePanel(Panel):
    """Latency over time."""

    NUMBER = 2

    @property
    def columns(self) -> int:
        """How many slots there is room for."""
        return slot_columns(inner_size(self.size.width, self.size.height)[0])

    def title(self, frame_state: FrameState) -> Line:
        view = frame_state.session.timeline
        spikes = f"{count(view.spikes)} spike{'' if view.spikes == 1 else 's'}"
        if view.spikes is None:
            spikes = "too few samples for spikes"
        fence = (
            (f" · fence {glyphs.FENCE} {milliseconds(view.fence_ms)} ms", "muted")
            if view.fence_ms is not None
            else ("", "muted")
        )
        return line(
            ("timeline", "title"),
            (" · ", "muted"),
            (spikes, "high" if view.spikes else "muted"),
            (f" · {glyphs.FULL} max ", "muted"),
            (glyphs.SHADE, "low"),
            (f" P90 per {seconds(view.slot_ns)}", "muted"),
            fence,
        )

    def body(self, frame_state: FrameState, width: int, height: int) -> list[Line]:
        return draw_timeline(frame_state.session.timeline, width, height)
