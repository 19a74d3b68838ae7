"""A clock that only moves when it is asked to."""

from __future__ import annotations


class FakeClock:
    """Time in ns that stands still; sleeping moves it to the moment asked for, plus `overshoot`."""

    def __init__(self, moment: int = 1_000_000_000, overshoot: int = 0) -> None:
        self.moment = moment
        self.overshoot = overshoot
        self.slept_until: list[int] = []

    def now(self) -> int:
        return self.moment

    def sleep_until(self, moment: int) -> None:
        self.slept_until.append(moment)
        self.moment = max(self.moment, moment + self.overshoot)

    def pass_time(self, duration: int) -> None:
        self.moment += duration
