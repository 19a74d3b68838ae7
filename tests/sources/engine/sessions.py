"""An engine under test with all that it has told, and ways to wait for what it is to tell."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable

from hettop import events
from hettop.sources.engine.supervisor import Engine
from hettop.sources.engine.unit_process import EngineEvent
from tests.processes.waiting import wait_for

ORIGIN_NS = time.monotonic_ns()


class Session:
    """An engine and all the events it has given so far."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.events: list[EngineEvent] = []

    def drain(self) -> None:
        self.events += self.engine.drain(time.monotonic_ns() - ORIGIN_NS)

    def until(self, condition: Callable[[], bool], what: str) -> None:
        def met() -> bool:
            self.drain()
            return condition()

        wait_for(met, what)

    def until_state(self, unit: str, state: str) -> None:
        self.until(lambda: self.engine.states.get(unit) == state, f"{unit} is {state}")

    def until_steady(self, unit: str, n: int) -> None:
        self.until(lambda: self.count(unit) >= n, f"{unit} has {n} steady samples")

    def windows(self, unit: str, phase: str | None = None) -> list[events.Samples]:
        return [
            event
            for event in self.events
            if isinstance(event, events.Samples) and event.unit == unit and phase in {None, event.phase}
        ]

    def count(self, unit: str, phase: str = "steady") -> int:
        return sum(window.n for window in self.windows(unit, phase))

    def states(self, unit: str) -> list[str]:
        """The states of a unit in order, without repetitions."""
        told = [event.state for event in self.events if isinstance(event, events.Engine) and event.unit == unit]
        return [state for state, _ in itertools.groupby(told)]

    def pid(self, unit: str) -> int:
        return next(
            event.pid
            for event in reversed(self.events)
            if isinstance(event, events.Engine) and event.unit == unit and event.pid is not None
        )


Start = Callable[..., Session]
"""Makes a session of the units given; options are those of `Engine`."""
