"""The interface between the screen and its source of data, the same for live measurement and replay.

The screen depends on these protocols only; `hettop.app` provides both implementations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from hettop.session.views.replay import Band, Selection

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hettop.analysis.budget import Budget
    from hettop.events import Study
    from hettop.report.evidence import Evidence
    from hettop.report.page import Block
    from hettop.session.session import Session


@dataclass(frozen=True, slots=True)
class RecordingStatus:
    """The file that the session is recorded to. `fault` is the error of the disk, if there was one."""

    path: str
    size_bytes: int
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class ReplayStatus:
    """The position of the replay, in nanoseconds of the recording; `marks_ns` are the user's marks.

    `changes` are the moments at which units (`control`) or the competing load (`load`) changed. `folded_by` names the
    version of hettop that computed the keyframe which the figures continue from, where that is another version.
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
    """A message to show once. `severity` is `information`, `warning` or `error`."""

    text: str
    severity: str = "information"


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """A command that grants access to power readings, and the text to print before it asks for a password."""

    command: tuple[str, ...]
    explanation: str


@dataclass(frozen=True, slots=True)
class LoadDial:
    """One kind of competing load: its level (0: none), at most `highest`, and its duty cycle.

    `reason`: why this machine cannot run it; None where it can.
    """

    what: str
    level: int
    duty_percent: int
    highest: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class StudyOffer:
    """A study: its name, and its question in a few words. `reason`: why it cannot be run here; None where it can."""

    name: str
    words: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class VerdictPage:
    """Which unit to use, by the measurements until `judged_ns`; no blocks where there are none.

    evidence: the verdict in one sentence, and its evidence to draw.
    """

    judged_ns: int
    blocks: Sequence[Block] = ()
    evidence: Evidence | None = None


class LiveControls(Protocol):
    """The controls of a live measurement."""

    def switch(self, unit: str) -> None: ...

    def interleave(self) -> None: ...

    def toggle_pause(self) -> None: ...

    def reset(self) -> None: ...

    def mark(self, text: str) -> None: ...

    def toggle_recording(self) -> None: ...

    def restart(self, unit: str) -> None: ...

    def loads(self) -> tuple[LoadDial, ...]: ...

    def change_load(self, what: str, level: int, duty_percent: int) -> None:
        """Set the number of workers of one kind, 0 for none; the other kinds stay. Raises HettopError."""
        ...

    def end_load(self) -> None: ...

    def measure_without_load(self) -> None:
        """End the load, measure for some seconds, and start it again; called meanwhile, start it again at once."""
        ...

    def without_load_left_ns(self) -> int | None:
        """The time until the load starts again; None while no measurement without it runs."""
        ...

    def studies(self) -> tuple[StudyOffer, ...]: ...

    def study(self, name: str) -> None:
        """Run a study; inference is paused meanwhile. The result is in the session. Raises HettopError."""
        ...

    def end_study(self) -> None: ...

    def take_baseline(self) -> None: ...

    def power_access(self) -> AccessRequest:
        """The command that grants access to power readings. Raises HettopError where there is none."""
        ...

    def retry_power(self) -> None: ...


class ReplayControls(Protocol):
    """The controls of a replay. Positions are nanoseconds of the recording, clamped to it."""

    def toggle_play(self) -> None: ...

    def seek(self, position_ns: int) -> None: ...

    def step_window(self, direction: int) -> None: ...

    def change_speed(self, direction: int) -> None: ...

    def next_mark(self, direction: int) -> None: ...

    def next_spike(self, direction: int) -> None: ...

    def read_earlier_log(self) -> None: ...

    def select(self, direction: int) -> None:
        """Start (`direction` < 0) or end the selection at this moment; the same end again clears it."""
        ...

    def toggle_loop(self) -> None: ...

    def overview(self, columns: int) -> tuple[Band | None, ...]:
        """The whole recording in `columns` parts, as far as it has been read."""
        ...


class Feed(Protocol):
    """The source of the session, polled once per frame on the screen's thread.

    `live` is None in a replay and `replay` is None in a live view.
    """

    @property
    def live(self) -> LiveControls | None: ...

    @property
    def replay(self) -> ReplayControls | None: ...

    def pump(self) -> None:
        """Process the events since the last call."""
        ...

    @property
    def session(self) -> Session: ...

    @property
    def now_ns(self) -> int: ...

    def recording_status(self) -> RecordingStatus | None: ...

    def replay_status(self) -> ReplayStatus | None: ...

    def verdict(self) -> VerdictPage | None:
        """Which unit to use by the session so far, evaluated every few seconds; None until the first result."""
        ...

    def budget(self) -> Budget | None:
        """The latency budget that units are judged by; None without one."""
        ...

    def study_page(self, study: Study) -> Sequence[Block]:
        """The result of a study so far, as blocks; empty for a study that this version cannot show."""
        ...

    def notices(self) -> list[Notice]:
        """The messages since the last call."""
        ...

    def drew_frame(self, duration_ns: int) -> None:
        """Report the time that a frame took: redraws are a candidate cause of spikes, so the stream has them."""
        ...
