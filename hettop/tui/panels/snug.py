"""A panel that is as high as what it has to say, and no higher.

Knows not what that is: its kinds make their rows.
"""

from __future__ import annotations

from textual.geometry import Size

from hettop.tui.charts.lines import Line, fit
from hettop.tui.panels.panel import Panel, inner_size
from hettop.tui.picture import Picture

_FRAME = 2
_LEAST = 2  # rows; a smaller panel would have no frame


class SnugPanel(Panel):
    """Asks for a new layout when the number of its rows changes."""

    def rows(self, picture: Picture, width: int) -> list[Line]:
        """All there is to say, most important first."""
        raise NotImplementedError

    def body(self, picture: Picture, width: int, height: int) -> list[Line]:
        found = self.rows(picture, width)
        return [*found, *[fit((), width)] * (height - len(found))][:height]

    def show(self, picture: Picture) -> None:
        width, _ = inner_size(self.size.width, self.size.height)
        before = 0 if self.picture is None else len(self.rows(self.picture, width))
        super().show(picture)
        if len(self.rows(picture, width)) != before:
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's
        inside, _ = inner_size(width, viewport.height)
        return _FRAME + max(_LEAST, len(self.rows(self.picture, inside)) if self.picture is not None else 0)
