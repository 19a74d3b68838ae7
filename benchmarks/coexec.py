"""How near several units that only sleep come to the sum of what each does alone, and what the dispatch costs.

Units that sleep compete for nothing, so that whatever is lacking is the dispatch's and the buffer's doing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.plan import Plan
from benchmarks.rows import PERCENT, Row, Unit, at_least, for_comparison, worst_at_most
from hettop.models.ports import Feed, InputOptions, Port
from hettop.sources.engine.backend import Clock, Loaded, LoadOptions, RealClock
from hettop.studies.coexec.messages import CoexecJob, Work
from hettop.studies.coexec.rates import Result
from hettop.studies.coexec.setup import coexecute

BACKEND = "benchmarks.coexec:Sleeping"
SLEEPS_NS = {"CPU_ONLY": 8_000_000, "CPU_AND_GPU": 4_000_000, "CPU_AND_NE": 2_000_000, "ALL": 1_000_000}
CASES = (("CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE"), ("CPU_ONLY", "ALL"))
LIMIT = 0.9
REPEATS = 10
SECONDS = 6
COUNT = Unit("", decimals=0)
NS_PER_S = 10**9
BARE_NS = NS_PER_S


class Sleeping:
    """A backend whose units sleep for a fixed time each."""

    name = "sleeping"
    simulated = True
    has_native = False

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._sleep_ns = 0

    def units(self) -> dict[str, str | None]:
        return dict.fromkeys(SLEEPS_NS)

    def load(self, model: str, unit: str, options: LoadOptions) -> Loaded:  # noqa: ARG002 (nothing to load)
        self._sleep_ns = SLEEPS_NS[unit]
        return Loaded(unit, None, 0, (), ())

    def make_inputs(self, ports: Sequence[Port], options: InputOptions) -> Feed:  # noqa: ARG002 (nothing to feed)
        return {}

    def predict(self, feed: Feed) -> None:  # noqa: ARG002
        self.clock.sleep_until(self.clock.now() + self._sleep_ns)

    def outputs(self) -> dict[str, Any]:
        return {}

    def native_ns(self) -> int | None:
        return None

    def told_load(self, condition: str) -> None:
        pass


def measure(plan: Plan) -> Iterator[Row]:
    """Rows for units whose rates are as 1 to 4, and as 1 to 8; then for the order, and the cost of a number."""
    results: list[Result] = []
    through: list[float] = []
    for units in CASES:
        job = CoexecJob(
            units=units, work=Work(backend=BACKEND, model="none"), duration_ns=plan.either(SECONDS, 1) * NS_PER_S
        )
        found = []
        for _ in range(plan.either(REPEATS, 2)):
            found.append(coexecute(job, environment=dict(os.environ)))
            through += _through_dispatch(found[-1])
        sleeps = " + ".join(f"{SLEEPS_NS[unit] // 1_000_000} ms" for unit in units)
        shares = [result.of_ideal for result in found if result.of_ideal is not None]
        yield at_least(f"coexec: {sleeps} together / the sum of each alone", LIMIT, shares, PERCENT)
        results += found
    yield worst_at_most(
        "coexec: results that left out of order", 0, [float(not each.in_order) for each in results], COUNT
    )
    yield for_comparison("coexec: rate of a 1 ms unit alone through the dispatch / in a bare loop", through, PERCENT)


def _through_dispatch(result: Result) -> Iterator[float]:
    """The rate of the quickest unit, by that of a bare loop right afterwards; both have the system's late wake-ups."""
    for unit in result.units:
        if unit.unit == "ALL" and unit.alone_per_s:
            yield unit.alone_per_s / _bare_per_s()


def _bare_per_s() -> float:
    clock = RealClock()
    backend = Sleeping(clock)
    backend.load("none", "ALL", LoadOptions())
    begin, calls = clock.now(), 0
    while clock.now() - begin < BARE_NS:
        backend.predict({})
        calls += 1
    return calls / (clock.now() - begin) * NS_PER_S
