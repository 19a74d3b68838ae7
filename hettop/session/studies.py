"""What studies have found out about the model, by the study's name, and how far the one that runs has got.

Pure: grows event by event.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from hettop.events import FoundCoexec, FoundWorker, Study

MOST_STUDIES = 16  # hettop has half as many; a damaged or hostile recording can name a million


class Studies:
    """The last state of each study; one that runs again keeps its last answer until there is another."""

    def __init__(self, known: Iterable[Study] = ()) -> None:
        self._known = {study.name: study for study in known}
        self._dead = {study.name: {worker.unit for worker in _dead(study)} for study in self._known.values()}

    def add(self, event: Study) -> list[FoundWorker]:
        """The workers of it that are known to be dead since this event."""
        before = self._known.get(event.name)
        if before is None and len(self._known) >= MOST_STUDIES:
            return []
        dead = set[str]() if event.elapsed_ns == 0 else self._dead.get(event.name, set())
        news = [worker for worker in _dead(event) if worker.unit not in dead]
        self._dead[event.name] = dead | {worker.unit for worker in news}
        if event.found is None and before is not None:
            event = msgspec.structs.replace(event, found=before.found, earlier=before.found is not None)
        self._known[event.name] = event
        return news

    @property
    def all(self) -> tuple[Study, ...]:
        """In the order in which they were first begun."""
        return tuple(self._known.values())

    @property
    def running(self) -> Study | None:
        return next((study for study in self._known.values() if study.state == "running"), None)

    def state(self) -> list[Study]:
        """As keyframes carry it."""
        return list(self._known.values())


def _dead(event: Study) -> list[FoundWorker]:
    """Workers of a co-execution that did not begin, or did not go on."""
    found = event.found
    return [worker for worker in found.units if worker.error is not None] if isinstance(found, FoundCoexec) else []
