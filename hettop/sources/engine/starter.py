"""Starts the processes of one engine: those that run inference, and those that read plans.

Knows how they are started and what all of them are told, and nothing of when.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hettop.events import split_row
from hettop.processes.child_process import ProcessGuard, environment_for_child
from hettop.processes.pipe_reader import PipeReader
from hettop.sources.engine.child import Child
from hettop.sources.engine.job import EngineJob, Limits
from hettop.sources.engine.plan_child import PlanJob
from hettop.sources.engine.planning import PlanCall, start_planner

NS_PER_S = 10**9


class Starter:
    """`job` is what all inference processes of the engine have in common; `argv` starts one.

    `variants` maps the name of each variant to what is different in its jobs, by the names of `EngineJob`.
    """

    def __init__(
        self,
        job: EngineJob,
        *,
        argv: Sequence[str],
        environment: Mapping[str, str] | None,
        reader: PipeReader,
        guard: ProcessGuard,
        variants: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self.job = job
        self._variants = dict(variants or {})
        self._argv = argv
        self._environment = environment_for_child(os.environ if environment is None else environment)
        self._reader = reader
        self._guard = guard

    def inference(self, row: str, limits: Limits, *, condition: str, run: bool, recycled: bool) -> Child:
        """An engine process. One that replaces another answers as that did: it is not asked. Raises OSError.

        Nor is a variant: another model answers something else, and the same model the same.
        """
        unit, variant = split_row(row)
        asked = not recycled and variant is None
        job = msgspec.structs.replace(
            self.job,
            unit=unit,
            limits=limits,
            condition=condition,
            run=run,
            input_sets=self.job.input_sets if asked else 0,
            **({} if variant is None else self._variants[variant]),
        )
        return Child(self._argv, self._environment, job, self._reader, self._guard, row=row)

    def period_ns(self, row: str) -> int:
        """How long a sample of this row takes up at least: until the next one arrives, or after its rest."""
        _, variant = split_row(row)
        changes = {} if variant is None else self._variants[variant]
        rate_hz, rest_ns = (changes.get(name, getattr(self.job, name)) for name in ("rate_hz", "rest_ns"))
        return int(NS_PER_S / rate_hz) if rate_hz else int(rest_ns)

    def plan_job(self, unit: str, compiled: str) -> PlanJob:
        return PlanJob(backend=self.job.backend, compiled=compiled, unit=unit, function=self.job.function)

    def plan(self, job: PlanJob) -> PlanCall:
        """As `start_planner`."""
        return start_planner(job, self._environment, self._guard)
