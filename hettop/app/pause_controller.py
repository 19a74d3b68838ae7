"""Pauses the inference of a measurement: because the user says so, for an idle baseline, or for a study.

What was paused goes on by itself when what it was paused for is over, if it ran before.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import Enum, auto
from typing import Any

import msgspec

from hettop import events
from hettop.app.study_runner import StudyRunner
from hettop.errors import HettopError
from hettop.events import Power, PowerStatus, Study
from hettop.measurement.measurement import Measurement
from hettop.measurement.options import ModelOptions
from hettop.processes.child_process import environment_for_child
from hettop.studies.coexec.measure import with_energy
from hettop.studies.coexec.power import TogetherPower
from hettop.studies.coexec.result import CoexecResult
from hettop.studies.kinds import COEXEC, Kind, Together, coexecution, kinds
from hettop.studies.registry import result_of
from hettop.tui.feed import Notice, StudyOffer

INFERENCE = "inference"
AT_WORK = ("spawning", "compiling", "loading", "warming")
"""What a unit does although inference is paused."""


class Rest(Enum):
    """What becomes of inference after the rest that an idle baseline needs: it stays paused, or goes on."""

    STAYS = auto()
    GOES_ON = auto()


class PauseController:
    """Pauses `measurement` and lets it go on.

    notify: takes what the user is to be told. model: as the user named it, for studies of it; without, there are none.
    together: how units are to co-execute.
    """

    def __init__(
        self,
        measurement: Measurement,
        notify: Callable[[Notice], None],
        model: ModelOptions | None,
        together: Together,
    ) -> None:
        self._measurement = measurement
        self._notify = notify
        self._rest: Rest | None = None
        self._goes_on = False
        self._before: events.Control | None = None
        self._spent: StudyPower | None = None
        self._together = together
        environment = environment_for_child(os.environ)
        self._backend = None if model is None else model.backend
        self._studies = None if model is None else StudyRunner(model, measurement.reaper, environment)

    def tick(self) -> None:
        """Look at baseline and study; to be called after each pump of the measurement."""
        self._watch_baseline(self._measurement.now_ns)
        if self._studies is not None and (news := self._studies.poll(self._measurement.now_ns)) is not None:
            self._commit_study(news)
            if not self._studies.running:
                self._after_study()

    def stop(self) -> None:
        """End a study that runs; to be called before the measurement is closed."""
        if self._studies is not None and (ended := self._studies.stop(self._measurement.now_ns)) is not None:
            self._commit_study(ended)

    # -- pause and baseline --------------------------------------------------------------------------------------

    def toggle_pause(self) -> None:
        if not self._paused:
            self._pause()
            return
        self.make_way()
        self._resume()

    def make_way(self, what: str = INFERENCE) -> None:
        """End what cannot go on beside `what`: a study, which would be measured with it, and a baseline."""
        if self._studies is not None and self._studies.running:
            self.stop()
            self._goes_on = False
            self._notify(Notice(f"the study was ended: {what} would be measured with it", "warning"))
            if what != INFERENCE:
                self._leave_mode()
            self._before = None
        if what == INFERENCE:
            self._forget_baseline()

    def take_baseline(self) -> None:
        """Pause inference for some seconds to measure what an idle machine draws; asked again, break that off."""
        measurement = self._measurement
        if self._rest is not None:
            self._notify(Notice("idle baseline broken off"))
            goes_on = self._rest is Rest.GOES_ON
            self._forget_baseline()
            if goes_on:
                self._resume()
            return
        if (why := self._why_no_baseline()) is not None:
            self._notify(Notice(f"no baseline {why}", "warning"))
            return
        rest = Rest.STAYS if self._paused else Rest.GOES_ON
        measurement.pause("baseline")
        measurement.power.begin_baseline(measurement.now_ns, measurement.session.load)
        self._rest = rest

    @property
    def _paused(self) -> bool:
        return self._measurement.control.paused

    def _pause(self) -> None:
        self._forget_baseline()
        self._measurement.pause()

    def _resume(self) -> None:
        self._forget_baseline()
        if self._measurement.control.units:
            self._measurement.resume()
        else:  # nothing has run yet
            self._measurement.switch(self._measurement.setup.units[0])

    def _why_no_baseline(self) -> str | None:
        power = self._measurement.power
        if power.running and power.captured:
            return "from a capture: it tells nothing of this machine"
        if power.running:
            return None
        return f"without power: {power.status.reason}" if power.status and power.status.reason else "without power"

    def _watch_baseline(self, t: int) -> None:
        """Goes on with inference once the baseline is taken, or waited for in vain; no rest while anything loads."""
        power, session = self._measurement.power, self._measurement.session
        run, load = power.baseline, session.load
        if run is not None and (run.load != load or any(unit.state in AT_WORK for unit in session.units.values())):
            run.disturbed(t, load)
        if self._rest is None or (power.baseline is not None and not power.baseline.expired(t)):
            return
        taken, goes_on = power.baseline is None, self._rest is Rest.GOES_ON
        self._forget_baseline()
        words = "idle baseline taken" if taken else "no idle baseline: the power source gave no usable sample"
        self._notify(Notice(words, "information" if taken else "error"))
        if goes_on:
            self._resume()

    def _forget_baseline(self) -> None:
        self._measurement.power.baseline = self._rest = None

    # -- studies -------------------------------------------------------------------------------------------------

    def studies(self) -> tuple[StudyOffer, ...]:
        """Those that can be run now."""
        return () if self._studies is None else tuple(StudyOffer(kind.name, kind.words) for kind in self._kinds())

    def study(self, name: str) -> None:
        """Run a study of the model; inference rests meanwhile, and goes on when it ends if it ran before."""
        kind = next((kind for kind in self._kinds() if kind.name == name), None)
        if self._studies is None or kind is None:
            raise HettopError("usage", f"there is no study called {name} here")
        if self._measurement.load.parts:
            raise HettopError("usage", "a study is measured without competing load", "l, then 0 ends the load")
        self._goes_on = self._goes_on or not self._paused
        self.stop()
        if kind.together:
            self._co_execute(kind)
        elif not self._paused:
            self._pause()
        else:
            self._leave_mode()
        self._measurement.commit(self._studies.start(kind, self._measurement.now_ns))

    def end_study(self) -> None:
        """End the study that runs; what was found so far stays."""
        self.stop()
        self._after_study()

    def _co_execute(self, kind: Kind) -> None:
        """A mode of its own: other processes run these units now, while the session's own rest."""
        measurement = self._measurement
        self._forget_baseline()
        measurement.engine.pause()
        self._before = measurement.control
        if not measurement.setup.simulated:
            self._spent = StudyPower(measurement.power.status, measurement.origin_ns)
            measurement.power_listener = self._spent.take
        measurement.run_control(COEXEC, units=list(kind.together), mode=COEXEC, paused=True)

    def _commit_study(self, news: events.Study) -> None:
        """With the energy that this session measured meanwhile; an end puts the mode back that was before."""
        document = None if self._studies is None else self._studies.document
        self._measurement.commit(news if self._spent is None else self._spent.completed(news, document))
        if news.state != "running" and self._before is not None:
            measurement, before = self._measurement, self._before
            measurement.control = msgspec.structs.replace(measurement.control, units=before.units, mode=before.mode)
            self._spent = measurement.power_listener = None

    def _after_study(self) -> None:
        if self._goes_on and self._paused:
            self._before = None
            self._resume()
        self._leave_mode()
        self._goes_on = False

    def _leave_mode(self) -> None:
        """Tell that units do not co-execute any more, where nothing else that is told now says so."""
        if self._before is not None:
            self._before = None
            self._measurement.run_control("pause")

    def _kinds(self) -> tuple[Kind, ...]:
        setup = self._measurement.setup
        if setup.simulated:  # there is no model to look into, but units that run
            return coexecution(setup.available, self._together)
        how = replace(self._together, block_ns=self._measurement.power.shortest_block_ns)
        row = next(iter(self._measurement.control.units), setup.units[0])
        unit, _variant = events.split_row(row)  # a study is of the model as it was named, not of its variants
        return kinds(unit, setup.available, how, self._backend)


class StudyPower:
    """Completes what a co-execution tells by the power of the blocks in which all worked.

    status: what the source said of itself before. origin_ns: of the session, on the machine's monotonic clock.
    """

    def __init__(self, status: PowerStatus | None, origin_ns: int) -> None:
        self._spent = TogetherPower()
        self._origin_ns = origin_ns
        if status is not None:
            self.take(status)

    def take(self, event: Power | PowerStatus) -> None:
        self._spent.take(event, self._origin_ns)

    def completed(self, told: Study, document: Mapping[str, Any] | None) -> Study:
        """The same with its energy, or with the reason why there is none."""
        result = result_of(told)
        if not isinstance(result, CoexecResult) or document is None:
            return told
        self._spent.block([(int(since), int(until)) for since, until in document["together_ns"]])
        energy = self._spent.energy(result.together_per_s)
        return msgspec.structs.replace(told, found=with_energy(result, energy).line())
