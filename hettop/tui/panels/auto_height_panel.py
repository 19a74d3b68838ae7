"""A panel that is as high as what it has to say, and no higher.

Knows not what that is: its kinds make their rows.
"""

from __future__ import annotations

from textual.geometry import Size

from hettop.report.terminal.lines import Line, fit
from hettop.tui.frame_state import FrameState
from hettop.tui.panels.panel import Panel, inner_size

_FRAME = 2
_LEAST = 2  # rows; a smaller panel would have no frame


class AutoHeightPanel(Panel):
    """Asks for a new layout when the number of its rows changes."""

    def rows(self, frame_state: FrameState, width: int) -> list[Line]:
        """All there is to say, most important first."""
        raise NotImplementedError

    def body(self, frame_state: FrameState, width: int, height: int) -> list[Line]:
        found = self.rows(frame_state, width)
        return [*found, *[fit((), width)] * (height - len(found))][:height]

    def show(self, frame_state: FrameState) -> None:
        width, _ = inner_size(self.size.width, self.size.height)
        before = 0 if self.frame_state is None else len(self.rows(self.frame_state, width))
        super().show(frame_state)
        if len(self.rows(frame_state, width)) != before:
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's
        inside, _ = inner_size(width, viewport.height)
        return _FRAME + max(_LEAST, len(self.rows(self.frame_state, inside)) if self.frame_state is not None else 0)
