"""Starts the processes of one engine: those that run inference, and those that read plans.

Knows how they are started and what all of them are told, and nothing of when.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

import msgspec

from hettop.engine.child import WORKER, Child, environment_for_child
from hettop.engine.collector import Collector
from hettop.engine.job import Job, Limits
from hettop.engine.plan_child import PlanJob
from hettop.engine.planning import PLANNER, PlanProcess
from hettop.engine.reaper import Reaper

ENGINE = (sys.executable, *WORKER)


class Starter:
    """`job` is what all inference processes of the engine have in common; `argv` starts one."""

    def __init__(
        self,
        job: Job,
        *,
        argv: Sequence[str],
        environment: Mapping[str, str] | None,
        collector: Collector,
        reaper: Reaper,
    ) -> None:
        self.job = job
        self._argv = argv
        self._environment = environment_for_child(os.environ if environment is None else environment)
        self._collector = collector
        self._reaper = reaper

    def inference(self, unit: str, limits: Limits, *, condition: str, run: bool, recycled: bool) -> Child:
        """An engine process. One that replaces another answers as that did: it is not asked. Raises OSError."""
        job = msgspec.structs.replace(
            self.job,
            unit=unit,
            limits=limits,
            condition=condition,
            run=run,
            input_sets=0 if recycled else self.job.input_sets,
        )
        return Child(self._argv, self._environment, job, self._collector, self._reaper)

    def plan_job(self, unit: str, compiled: str) -> PlanJob:
        return PlanJob(backend=self.job.backend, compiled=compiled, unit=unit, function=self.job.function)

    def plan(self, job: PlanJob) -> PlanProcess:
        """A process that reads a plan. Raises OSError."""
        return PlanProcess((sys.executable, *PLANNER), self._environment, job, self._reaper)
