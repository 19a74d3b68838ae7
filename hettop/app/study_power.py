"""The energy of a co-execution in the live view: the session measures power, a study's process when all units worked.

Knows neither sources nor processes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from hettop.events import FoundCoexec, Power, PowerStatus, Study
from hettop.studies.coexec.document import together_ns, with_energy
from hettop.studies.coexec.power import TogetherPower


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
        if not isinstance(told.found, FoundCoexec) or document is None:
            return told
        self._spent.block(together_ns(document))
        energy = self._spent.energy(told.found.together_per_s)
        return msgspec.structs.replace(told, found=with_energy(told.found, energy))
