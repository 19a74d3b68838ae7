"""A measurement whose inference rests now and then: because the user says so, for an idle baseline, or for a study.

What rests goes on by itself when what it rested for is over, if it ran before.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from enum import Enum, auto

import msgspec

from hettop import events
from hettop.app.study_power import StudyPower
from hettop.app.study_runner import Studies
from hettop.errors import HettopError
from hettop.measurement.measurement import Measurement, wall_clock
from hettop.measurement.options import MeasureOptions, ModelOptions
from hettop.measurement.power import PowerHere
from hettop.measurement.setup import Setup
from hettop.processes.child_process import environment_for_child
from hettop.record.writer import Closed
from hettop.sources.engine.backend import Clock
from hettop.sources.engine.watchdog import Timeouts
from hettop.studies.kinds import COEXEC, Kind, Together, coexecution, kinds
from hettop.tui.feed import Notice, StudyOffer

INFERENCE = "inference"
AT_WORK = ("spawning", "compiling", "loading", "warming")
"""What a unit does although inference is paused."""


class Rest(Enum):
    """What becomes of inference after the rest that an idle baseline needs: it stays paused, or goes on."""

    STAYS = auto()
    GOES_ON = auto()


class Resting(Measurement):
    """Pauses and goes on. `model` is as the user named it, for studies of it; without, there are none.

    together: how units are to co-execute.
    """

    def __init__(
        self,
        setup: Setup,
        options: MeasureOptions,
        *,
        rows: Sequence[str],
        raw_limit: int,
        clock: Clock | None = None,
        wall: Callable[[], datetime] = wall_clock,
        timeouts: Timeouts | None = None,
        model: ModelOptions | None = None,
        here: PowerHere | None = None,
    ) -> None:
        self._notices: list[Notice] = []
        self._rest: Rest | None = None
        self._goes_on = False
        self._before: events.Control | None = None
        self._spent: StudyPower | None = None
        self.together = Together()
        super().__init__(
            setup, options, rows=rows, raw_limit=raw_limit, clock=clock, wall=wall, timeouts=timeouts, here=here
        )
        environment = environment_for_child(os.environ)
        self._studies = None if model is None else Studies(model, self._reaper, environment)

    def pump(self) -> None:
        super().pump()
        self._mind_baseline(self.now_ns)
        if self._studies is not None and (told := self._studies.look(self.now_ns)) is not None:
            self._commit_study(told)
            if not self._studies.running:
                self._after_study()

    def close(self, why: str = "closed", last_word: Callable[[], events.AnyEvent] | None = None) -> Closed | None:
        self._stop_study()
        return super().close(why, last_word)

    def toggle_pause(self) -> None:
        if self._control.paused:
            self._end_study_for(INFERENCE)
            if not self._control.units:
                self.begin_inference()
                return
        self._forget_baseline()
        if self._control.paused:
            self._engine.resume()
        else:
            self._engine.pause()
        self._steer("resume" if self._control.paused else "pause", paused=not self._control.paused)

    def begin_inference(self) -> None:
        """Run something, for nothing has run yet: whoever steers this knows what."""

    def take_baseline(self) -> None:
        """Pause inference for some seconds to measure what an idle machine draws; asked again, break that off."""
        if self._rest is not None:
            self._notices.append(Notice("idle baseline broken off"))
            goes_on = self._rest is Rest.GOES_ON
            self._forget_baseline()
            if goes_on:
                self.toggle_pause()
            return
        if not self._power.running:
            status = self._power.status
            why = f": {status.reason}" if status is not None and status.reason else ""
            self._notices.append(Notice(f"no baseline without power{why}", "warning"))
            return
        if self._power.captured:
            self._notices.append(Notice("no baseline from a capture: it tells nothing of this machine", "warning"))
            return
        rest = Rest.STAYS if self._control.paused else Rest.GOES_ON
        self._engine.pause()
        self._steer("baseline", paused=True)
        self._power.begin_baseline(self.now_ns, self._session.load)
        self._rest = rest

    def _mind_baseline(self, t: int) -> None:
        """Goes on with inference once the baseline is taken, or waited for in vain; no rest while anything loads."""
        run, load = self._power.baseline, self._session.load
        if run is not None and (
            run.load != load or any(unit.state in AT_WORK for unit in self._session.units.values())
        ):
            run.disturbed(t, load)
        if self._rest is None or (self._power.baseline is not None and not self._power.baseline.expired(t)):
            return
        taken, goes_on = self._power.baseline is None, self._rest is Rest.GOES_ON
        self._forget_baseline()
        words = "idle baseline taken" if taken else "no idle baseline: the power source gave no usable sample"
        self._notices.append(Notice(words, "information" if taken else "error"))
        if goes_on:
            self.toggle_pause()

    def _forget_baseline(self) -> None:
        self._power.baseline = self._rest = None

    def studies(self) -> tuple[StudyOffer, ...]:
        return () if self._studies is None else tuple(StudyOffer(kind.name, kind.words) for kind in self._kinds())

    def study(self, name: str) -> None:
        """Run a study of the model; inference rests meanwhile, and goes on when it ends if it ran before."""
        kind = next((kind for kind in self._kinds() if kind.name == name), None)
        if self._studies is None or kind is None:
            raise HettopError("usage", f"there is no study called {name} here")
        if self._load.parts:
            raise HettopError("usage", "a study is measured without competing load", "l, then 0 ends the load")
        self._goes_on = self._goes_on or not self._control.paused
        self._stop_study()
        if kind.together:
            self._co_execute(kind)
        elif not self._control.paused:
            self.toggle_pause()
        else:
            self._leave_mode()
        self._commit(self._studies.start(kind, self.now_ns))

    def _co_execute(self, kind: Kind) -> None:
        """A mode of its own: other processes run these units now, while the session's own rest."""
        self._forget_baseline()
        self._engine.pause()
        self._before = self._control
        self._spent = None if self._setup.simulated else StudyPower(self._power.status, self._origin)
        self._steer(COEXEC, units=list(kind.together), mode=COEXEC, paused=True)

    def end_study(self) -> None:
        self._stop_study()
        self._after_study()

    def _stop_study(self) -> None:
        if self._studies is not None and (ended := self._studies.stop(self.now_ns)) is not None:
            self._commit_study(ended)

    def _commit_study(self, told: events.Study) -> None:
        """With the energy that this session measured meanwhile; an end puts the mode back that was before."""
        document = None if self._studies is None else self._studies.document
        self._commit(told if self._spent is None else self._spent.completed(told, document))
        if told.state != "running" and self._before is not None:
            before = self._before
            self._control = msgspec.structs.replace(self._control, units=before.units, mode=before.mode)
            self._spent = None

    def _take_in(self, event: events.AnyEvent) -> None:
        if self._spent is not None and isinstance(event, events.Power | events.PowerStatus):
            self._spent.take(event)
        super()._take_in(event)

    def _end_study_for(self, what: str) -> None:
        """A study that would be measured beside something else is no study."""
        if self._studies is not None and self._studies.running:
            self._stop_study()
            self._goes_on = False
            self._notices.append(Notice(f"the study was ended: {what} would be measured with it", "warning"))
            if what != INFERENCE:
                self._leave_mode()
            self._before = None

    def _after_study(self) -> None:
        if self._goes_on and self._control.paused:
            self._before = None
            self.toggle_pause()
        self._leave_mode()
        self._goes_on = False

    def _leave_mode(self) -> None:
        """Tell that units do not co-execute any more, where nothing else that is told now says so."""
        if self._before is not None:
            self._before = None
            self._steer("pause")

    def _kinds(self) -> tuple[Kind, ...]:
        if self._setup.simulated:  # there is no model to look into, but units that run
            return coexecution(self._setup.available, self.together)
        how = replace(self.together, block_ns=self._power.shortest_block_ns)
        looked_at = next(iter(self._control.units), self._setup.units[0])
        return kinds(looked_at, self._setup.available, how)

    def _steer(self, action: str, **change: object) -> None:
        fields = {name: getattr(self._control, name) for name in ("units", "mode", "paused", "rate_hz", "limit_ns")}
        self._control = events.Control(t=self.now_ns, action=action, **{**fields, **change})
        self._commit(self._control)
        if self._control.paused:
            self._power.told_rest(self._session.load)
