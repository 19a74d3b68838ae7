from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hettop import events
from hettop.processes.reaper import Reaper
from hettop.sources.engine.job import EngineJob, Limits
from hettop.sources.engine.supervisor import Engine
from tests.processes.waiting import environment, gone
from tests.sources.engine.faulty import NAME as FAULTY
from tests.sources.engine.sessions import ORIGIN_NS, Session, Start


@pytest.fixture
def reaper() -> Iterator[Reaper]:
    made = Reaper()
    yield made
    made.close()


@pytest.fixture
def start(reaper: Reaper) -> Iterator[Start]:
    """Makes engines that are closed, and found to leave nothing behind, at the end of the test."""
    made: list[Session] = []

    def begin(*units: str, model: str = "", backend: str = FAULTY, **options: Any) -> Session:
        own = {name: options.pop(name) for name in EngineJob.__struct_fields__ if name in options}
        limits = Limits(**{name: options.pop(name) for name in Limits.__struct_fields__ if name in options})
        engine = Engine(
            EngineJob(**{"backend": backend, "model": model, "warmup": 2, "limits": limits, **own}),
            units or ["CPU_ONLY"],
            guard=reaper,
            origin_ns=ORIGIN_NS,
            **{"environment": environment(), **options},
        )
        made.append(Session(engine))
        return made[-1]

    yield begin
    for session in made:
        session.drain()
        session.engine.close()
        session.drain()
        pids = {e.pid for e in session.events if isinstance(e, events.Engine) and e.pid is not None}
        assert gone(pids)
