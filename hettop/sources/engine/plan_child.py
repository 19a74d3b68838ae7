"""A short-lived process that reads one plan: `python -m hettop.sources.engine.plan_child`.

Apart from everything else because frameworks have been seen to hang and abort in it.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from hettop import events
from hettop.processes.serve import Caller, serve
from hettop.processes.time_limit import time_limit
from hettop.sources.engine.backends import devices_here, plan_reader
from hettop.sources.engine.placement import OpFacts, make_plan


class PlanJob(msgspec.Struct, frozen=True, kw_only=True):
    """Whose plan: the compiled model, the unit, and one of the model's functions (None: its own choice).

    facts: whether the answer is to be every operation, within a time limit, and not the plan's event.
    """

    backend: str
    compiled: str
    unit: str
    function: str | None = None
    facts: bool = False


def read(job: PlanJob, _caller: Caller) -> Sequence[OpFacts] | events.Plan:
    """The plan's operations, or the plan, whose `t` is 0. Raises what the framework does."""
    read_plan = plan_reader(job.backend)
    if job.facts:
        with time_limit("reading the plan"):
            return read_plan(job.compiled, job.unit, job.function)
    return make_plan(job.unit, read_plan(job.compiled, job.unit, job.function), devices_here(job.backend))


if __name__ == "__main__":
    serve(read, PlanJob, unexpected="plan")
