"""What the terminal can show, by its environment, as facts for the doctor.

Asks nothing of the terminal itself: an answer to a question would land in whatever reads the keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SMALLEST = (80, 24)
"""Columns and rows below which some of the four charts and tables that matter most have no room."""

ROOMY = (110, 34)
"""From here on all panels are there at once."""

DUMB = ("", "dumb", "unknown")


@dataclass(frozen=True, slots=True)
class Terminal:
    """Where output goes. `size`: columns and rows, None if it is no terminal; `encoding` of what is printed."""

    size: tuple[int, int] | None = None
    encoding: str = "utf-8"
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        return self.environment.get("TERM", "")

    @property
    def is_dumb(self) -> bool:
        return self.kind in DUMB

    @property
    def is_small(self) -> bool:
        return self.size is not None and (self.size[0] < SMALLEST[0] or self.size[1] < SMALLEST[1])

    @property
    def speaks_unicode(self) -> bool:
        return self.encoding.lower().replace("-", "").startswith("utf")

    @property
    def wants_no_colour(self) -> bool:
        """NO_COLOR with any value but an empty one, as no-color.org has it."""
        return bool(self.environment.get("NO_COLOR"))

    @property
    def colours(self) -> str:
        """How many it says it has; more than it says is not assumed."""
        if self.environment.get("COLORTERM", "").lower() in ("truecolor", "24bit") or self.kind.endswith("-direct"):
            return "16 million"
        return "256" if "256color" in self.kind else "16"

    @property
    def inside(self) -> str | None:
        """The multiplexer it is a window of."""
        if self.environment.get("TMUX"):
            return "tmux"
        return "screen" if self.environment.get("STY") else None
