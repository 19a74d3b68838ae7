"""What studies have found out about the model, by the study's name, and how far the one that runs has got.

Pure: grows event by event.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from hettop.events import Study

MOST_STUDIES = 16  # hettop has half as many; a damaged or hostile recording can name a million


class Studies:
    """The last state of each study; one that runs again keeps its last answer until there is another."""

    def __init__(self, known: Iterable[Study] = ()) -> None:
        self._known = {study.name: study for study in known}

    def add(self, event: Study) -> dict[str, str]:
        """What of it has failed since the event before, by name, and why."""
        before = self._known.get(event.name)
        if before is None and len(self._known) >= MOST_STUDIES:
            return {}
        known = {} if before is None or event.elapsed_ns == 0 else before.failures
        news = {name: why for name, why in event.failures.items() if name not in known}
        if event.found is None and before is not None:
            failures = before.failures if event.elapsed_ns else event.failures
            earlier = before.found is not None
            event = msgspec.structs.replace(event, found=before.found, failures=failures, earlier=earlier)
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
