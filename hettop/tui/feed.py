"""What the screen asks of whatever feeds it: the seam at which live measurement and replay look the same.

The screen knows these protocols alone; `hettop.app` provides both implementations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from hettop.session.views.replay import Band, Selection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hettop.events import Study
    from hettop.report.page import Block
    from hettop.session.session import Session


@dataclass(frozen=True, slots=True)
class RecordingStatus:
    """Where the session is being recorded to, or why not. `fault` is what the disk said, shown at once."""

    path: str
    size_bytes: int
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class ReplayStatus:
    """Where the replay stands, in nanoseconds of the recording; `marks_ns` are the user's marks, for the scrub bar.

    `changes` are the moments at which units (`control`) or the competing load (`load`) changed. `folded_by` names the
    version of hettop whose fold the figures go on from, where that is another.
    """

    path: str
    position_ns: int
    duration_ns: int
    speed: float
    playing: bool
    marks_ns: tuple[int, ...] = ()
    changes: tuple[tuple[int, str], ...] = ()
    selection: Selection | None = None
    folded_by: str | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to tell the user now, once: a toast. `severity` is `information`, `warning` or `error`."""

    text: str
    severity: str = "information"


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """A command that gives access to power figures, and what is to be said before it asks for a password."""

    command: tuple[str, ...]
    explanation: str


@dataclass(frozen=True, slots=True)
class LoadDial:
    """One kind of competing load: the level that is set (0: none), of at most `highest`, and its duty cycle.

    `reason` says why this machine cannot run it; None where it can.
    """

    what: str
    level: int
    duty_percent: int
    highest: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class StudyOffer:
    """A study that can be run: its name, and in a few words what it finds out."""

    name: str
    words: str


@dataclass(frozen=True, slots=True)
class VerdictPage:
    """Which unit to use, by what was measured until `judged_ns`; no blocks where nothing was."""

    judged_ns: int
    blocks: Sequence[Block] = ()


class LiveControls(Protocol):
    """What a live measurement can be told."""

    def switch(self, unit: str) -> None: ...

    def interleave(self) -> None: ...

    def toggle_pause(self) -> None: ...

    def reset(self) -> None: ...

    def mark(self, text: str) -> None: ...

    def toggle_recording(self) -> None: ...

    def restart(self, unit: str) -> None: ...

    def loads(self) -> tuple[LoadDial, ...]: ...

    def change_load(self, what: str, level: int, duty_percent: int) -> None:
        """Have `level` workers of one kind from now on, 0 for none; the other kinds stay. Raises HettopError."""
        ...

    def end_load(self) -> None: ...

    def studies(self) -> tuple[StudyOffer, ...]: ...

    def study(self, name: str) -> None:
        """Run a study; inference rests meanwhile. What comes of it is in the session. Raises HettopError."""
        ...

    def end_study(self) -> None: ...

    def take_baseline(self) -> None: ...

    def power_access(self) -> AccessRequest:
        """What would give access to power figures. Raises HettopError where nothing would, or nobody can be asked."""
        ...

    def retry_power(self) -> None: ...


class ReplayControls(Protocol):
    """What a replay can be told. Positions are nanoseconds of the recording, clamped to it."""

    def toggle_play(self) -> None: ...

    def seek(self, position_ns: int) -> None: ...

    def step_window(self, direction: int) -> None: ...

    def change_speed(self, direction: int) -> None: ...

    def next_mark(self, direction: int) -> None: ...

    def next_spike(self, direction: int) -> None: ...

    def select(self, direction: int) -> None:
        """Let the selection begin (`direction` < 0) or end at this moment; begin again where it begins: none."""
        ...

    def toggle_loop(self) -> None: ...

    def overview(self, columns: int) -> tuple[Band | None, ...]:
        """The whole recording in `columns` stretches, as far as it is known by now."""
        ...


class Feed(Protocol):
    """Where the screen gets its session from: drained once per frame, on the screen's own thread.

    `live` is None in a replay and `replay` is None in a live view: the screen offers what is there.
    """

    @property
    def live(self) -> LiveControls | None: ...

    @property
    def replay(self) -> ReplayControls | None: ...

    def pump(self) -> None:
        """Take in what has happened since the last call."""
        ...

    @property
    def session(self) -> Session: ...

    @property
    def now_ns(self) -> int: ...

    def recording_status(self) -> RecordingStatus | None: ...

    def replay_status(self) -> ReplayStatus | None: ...

    def verdict(self) -> VerdictPage | None:
        """Which unit to use by what the session holds, judged every few seconds; tables in `width` cells.

        None until it is judged for the first time, which takes a moment.
        """
        ...

    def study_page(self, study: Study) -> Sequence[Block]:
        """What a study has found by now, as blocks; empty where this version does not know it."""
        ...

    def notices(self) -> list[Notice]:
        """What has come up since the last call."""
        ...

    def drew_frame(self, duration_ns: int) -> None:
        """The screen took this long to draw a frame: a candidate cause of spikes, so it goes into the stream."""
        ...
