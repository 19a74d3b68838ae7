"""A short-lived process that reads one plan: `python -m hettop.sources.engine.plan_child`, job in, result out.

Apart from everything else because frameworks have been seen to hang and abort in it. The job is one line of JSON, the
result one event of kind `plan`, or the facts that it is made from; what goes wrong is reported in the result.
"""

from __future__ import annotations

import os
import sys

import msgspec

from hettop import events
from hettop.errors import HettopError
from hettop.processes.framework_errors import named_reason
from hettop.processes.serve import begin_child
from hettop.processes.time_limit import time_limit
from hettop.sources.engine.backends import devices_here, plan_reader
from hettop.sources.engine.placement import ACCELERATORS, OpFacts, make_plan
from hettop.text import clean


class PlanJob(msgspec.Struct, frozen=True, kw_only=True):
    """Whose plan: the compiled model, the unit, and one of the model's functions (None: its own choice).

    facts: whether the result is to be every operation (`PlanFacts`), within a time limit, and not the plan's event.
    """

    backend: str
    compiled: str
    unit: str
    function: str | None = None
    facts: bool = False


class PlanFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Every operation of a plan, or why there are none."""

    ops: tuple[OpFacts, ...] = ()
    failed: events.Failure | None = None


def encode_job(job: PlanJob) -> bytes:
    """One line, line feed included."""
    return msgspec.json.encode(job) + b"\n"


def read(job: PlanJob) -> events.Plan:
    """The plan, or an event that says why there is none; `t` is 0."""
    try:
        facts = plan_reader(job.backend)(job.compiled, job.unit, job.function)
        return make_plan(job.unit, facts, devices_here(job.backend))
    except HettopError as error:
        return no_plan(job.unit, error.kind, error.message, error.hint)
    except Exception as error:  # noqa: BLE001 (a framework may raise anything; the user reads it)
        return no_plan(job.unit, "plan", named_reason(error))


def read_facts(job: PlanJob) -> PlanFacts:
    """The plan's operations, or why there are none."""
    try:
        with time_limit("reading the plan"):
            return PlanFacts(ops=tuple(plan_reader(job.backend)(job.compiled, job.unit, job.function)))
    except HettopError as error:
        return PlanFacts(failed=events.Failure(kind=error.kind, message=error.message, hint=error.hint))
    except Exception as error:  # noqa: BLE001 (a framework may raise anything; the user reads it)
        return PlanFacts(failed=events.Failure(kind="plan", message=clean(named_reason(error))))


def no_plan(unit: str, kind: str, message: str, hint: str = "", log: list[str] | None = None) -> events.Plan:
    error = events.Failure(kind=kind, message=clean(message), hint=clean(hint), log=log or [])
    return events.Plan(t=0, unit=unit, accelerator=ACCELERATORS.get(unit.partition("@")[0]), error=error)


def main() -> None:
    out = begin_child()
    job = msgspec.json.decode(sys.stdin.buffer.readline(), type=PlanJob)
    result = msgspec.json.encode(read_facts(job)) if job.facts else events.encode(read(job))
    with open(out, "wb") as stdout:  # noqa: PTH123 (a descriptor)
        stdout.write(result)
    sys.stderr.flush()
    os._exit(0)  # frameworks' exit handlers have been seen to hang


if __name__ == "__main__":
    main()
