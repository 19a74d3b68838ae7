"""Everything that the panels draw in one frame: immutable, so that a panel is a function of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hettop.session.views.replay import Band
from hettop.session.views.structs import SessionView
from hettop.text import clean
from hettop.tui.feed import LoadDial, RecordingStatus, ReplayStatus, StudyOffer, VerdictPage

if TYPE_CHECKING:
    from hettop.report.page import Block


@dataclass(frozen=True, slots=True)
class FrameState:
    """A session's views, the state of its recording or replay, and whether the display is frozen.

    `fps` is the configured rate of redraws; `braille`: whether charts are drawn in braille, else in blocks;
    `loads` are the competing loads that can be set, none in a replay; `verdict`, `offers` (the studies) and `pages`
    (the results of studies) are set while their screens are open. `without_load_left_ns`: the time until the load
    starts again that was ended for a measurement without it; None where there is no such measurement.
    """

    session: SessionView
    recording: RecordingStatus | None
    replay: ReplayStatus | None
    frozen: bool
    fps: float
    braille: bool = True
    loads: tuple[LoadDial, ...] = ()
    bands: tuple[Band | None, ...] = ()
    verdict: VerdictPage | None = None
    offers: tuple[StudyOffer, ...] = ()
    pages: Mapping[str, Sequence[Block]] = field(default_factory=dict)
    without_load_left_ns: int | None = None

    @property
    def halted(self) -> str | None:
        """Why numbers do not change, if so: `FROZEN` has precedence, because it hides all changes."""
        header = self.session.header
        if self.frozen:
            return "FROZEN"
        if self.co_executing:
            return "CO-EXECUTING"
        if header.paused and header.study is not None:
            return f"STUDY: {clean(header.study, 20)}"
        return "PAUSED" if header.paused else None

    @property
    def waiting(self) -> str | None:
        """What the first samples wait for, while there are none of the viewed unit and a unit loads; else None."""
        viewed = self.session.latency
        loading = next((row for row in self.session.units.rows if row.waiting and not row.n), None)
        if viewed.n or loading is None or any(row.n and row.unit == viewed.unit for row in self.session.units.rows):
            return None
        return f"no samples yet: {clean(loading.unit, 30)} is {clean(loading.state, 30)}"

    @property
    def studying(self) -> str | None:
        """What a running study does to inference; None without one."""
        header = self.session.header
        if self.co_executing:
            return "co-executing"
        return "study running, inference paused" if header.paused and header.study is not None else None

    @property
    def co_executing(self) -> bool:
        """Whether units serve one stream together now, while the measurement of each alone is paused."""
        header = self.session.header
        return header.paused and header.mode == "coexec"
