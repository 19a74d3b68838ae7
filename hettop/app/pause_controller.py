"""Pauses the inference of a measurement: on the user's request, or for an idle baseline.

Inference that was paused for a baseline resumes after it, if it ran before.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto

from hettop.measurement.measurement import Measurement
from hettop.tui.feed import Notice

AT_WORK = ("spawning", "compiling", "loading", "warming")
"""States in which a unit is busy although inference is paused."""


class Rest(Enum):
    """What inference does after an idle baseline: stay paused, or resume."""

    STAYS = auto()
    GOES_ON = auto()


class PauseController:
    """Pauses and resumes `measurement`. notify: receives the messages for the user."""

    def __init__(self, measurement: Measurement, notify: Callable[[Notice], None]) -> None:
        self._measurement = measurement
        self._notify = notify
        self._rest: Rest | None = None

    @property
    def paused(self) -> bool:
        return self._measurement.control.paused

    def pause(self) -> None:
        self.forget_baseline()
        self._measurement.pause()

    def resume(self) -> None:
        self.forget_baseline()
        if self._measurement.control.units:
            self._measurement.resume()
        else:  # nothing has run yet
            self._measurement.switch(self._measurement.setup.units[0])

    def take_baseline(self) -> None:
        """Pause inference for some seconds to measure the idle power; called again, cancel that."""
        measurement = self._measurement
        if self._rest is not None:
            self._notify(Notice("idle baseline cancelled"))
            goes_on = self._rest is Rest.GOES_ON
            self.forget_baseline()
            if goes_on:
                self.resume()
            return
        if (why := self._why_no_baseline()) is not None:
            self._notify(Notice(f"no idle baseline {why}", "warning"))
            return
        rest = Rest.STAYS if self.paused else Rest.GOES_ON
        measurement.pause("baseline")
        measurement.power.begin_baseline(measurement.now_ns, measurement.session.load)
        self._rest = rest

    def _why_no_baseline(self) -> str | None:
        power = self._measurement.power
        if power.running and power.captured:
            return "from a capture: it is not a measurement of this machine"
        if power.running:
            return None
        return (
            f"without power readings: {power.status.reason}"
            if power.status and power.status.reason
            else "without power readings"
        )

    def tick(self) -> None:
        """Resume inference once the baseline was measured or has timed out; extend it while a unit loads.

        To be called after each poll of the measurement.
        """
        t, power, session = self._measurement.now_ns, self._measurement.power, self._measurement.session
        run, load = power.baseline, session.load
        if run is not None and (run.load != load or any(unit.state in AT_WORK for unit in session.units.values())):
            run.disturbed(t, load)
        if self._rest is None or (power.baseline is not None and not power.baseline.expired(t)):
            return
        taken, goes_on = power.baseline is None, self._rest is Rest.GOES_ON
        self.forget_baseline()
        if not taken:  # else the event log says so
            self._notify(Notice("no idle baseline: the power source had no usable sample", "error"))
        if goes_on:
            self.resume()

    def forget_baseline(self) -> None:
        self._measurement.power.baseline = self._rest = None
