"""What the machine did while two sessions were made, where that differs notably."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import pytest

from hettop import events
from hettop.analysis.comparison import Comparison, compare
from hettop.analysis.host_load import Surroundings
from hettop.analysis.runs import Run, run_of
from hettop.analysis.unit_samples import in_order_of
from tests.analysis.material import session_of
from tests.streams import MS, S, header, window

LATENCIES = [round(2 * MS * factor) for factor in np.random.default_rng(5).normal(1, 0.02, 5000)]


def told(
    busy: Sequence[float],
    *,
    memory: float = 40.0,
    slower: float = 1.0,
    missed: int = 0,
    kernel_ms: float = 1.0,
    opening: events.Header | None = None,
    thermal: str | None = None,
) -> Run:
    """A unit at work for ten seconds, and what the machine reports meanwhile: `busy` are the percents of its cores."""
    running = events.Engine(t=0, unit="CPU_ONLY", state="running")
    stream: list[events.AnyEvent] = [running, events.Control(t=0, action="switch", units=["CPU_ONLY"])]
    stream += [
        window(
            [round(each * slower) for each in LATENCIES[part * 500 : part * 500 + 500]], t0=part * S, thermal=thermal
        )
        for part in range(10)
    ]
    stream += [events.HostLoad(t=at * S, cpu_percent=list(busy), memory_percent=memory) for at in (5, 10)]
    stream += [
        events.Canary(t=at * S, due=60, missed=missed, worst_ns=0, kernel_ns=round(kernel_ms * MS))
        for at in range(3, 10)
    ]
    stream.sort(key=lambda event: event.t)
    surroundings = Surroundings()
    for event in stream:
        surroundings.add(event)
    session = session_of(stream, opening=opening)
    return run_of(session, in_order_of(session), surroundings=surroundings)


def compared(a: Run, b: Run) -> Comparison:
    return compare([a], [b], np.random.default_rng(0))


def test_on_the_same_machine_doing_the_same_nothing_is_reported() -> None:
    result = compared(told([50, 2]), told([48, 6], memory=45.0, missed=0, kernel_ms=1.01))
    assert (result.circumstances, result.untold, result.fair) == ((), (), True)


def test_a_regression_of_a_busier_machine_is_a_regression_and_the_busyness_is_reported() -> None:
    result = compared(told([50, 4]), told([95, 99], slower=1.3))
    assert result.regressions == 1
    (circumstance,) = result.circumstances
    assert (circumstance.what, circumstance.worse) == ("busy cores, its own included", "b")
    assert (circumstance.a, circumstance.b) == pytest.approx((0.54, 1.94))
    assert (circumstance.unit, circumstance.load, circumstance.measure) == ("CPU_ONLY", "none", "cores")
    assert result.worse_for(result.conditions[0]) == {"b"}
    assert not result.fair


@pytest.mark.parametrize(
    ("b", "what", "values"),
    [
        ({"memory": 91.0}, "memory in use", (40.0, 91.0)),
        ({"missed": 6}, "frames that the canary missed", (0.0, 0.1)),
        ({"kernel_ms": 1.25}, "time of the canary's fixed work", (1.0, 1.25)),
    ],
)
def test_each_thing_that_slows_a_machine_is_reported(
    b: dict[str, float], what: str, values: tuple[float, float]
) -> None:
    (found,) = compared(told([50, 4]), told([50, 4], **b)).circumstances  # type: ignore[arg-type]
    assert (found.what, found.worse) == (what, "b")
    assert (found.a, found.b) == pytest.approx(values)
    (turned,) = compared(told([50, 4], **b), told([50, 4])).circumstances  # type: ignore[arg-type]
    assert (turned.a, turned.b, turned.worse) == (found.b, found.a, "a")


def test_of_many_cores_half_a_one_is_not_notable() -> None:
    assert compared(told([1] * 64), told([2] * 64)).circumstances == ()
    assert len(compared(told([1] * 64), told([7] * 64)).circumstances) == 1


def test_the_machine_counts_only_while_the_unit_ran() -> None:
    surroundings = Surroundings()
    surroundings.add(window([2 * MS] * 500, t0=0))
    surroundings.add(events.HostLoad(t=5 * S, cpu_percent=[50.0, 0.0]))
    surroundings.add(events.HostLoad(t=10 * S, cpu_percent=[100.0, 100.0]))
    surroundings.add(window([2 * MS] * 1000, t0=5 * S, unit="ALL"))
    for unit, busy in (("CPU_ONLY", 0.5), ("ALL", 2.0)):
        found = surroundings.of(unit, "none")
        assert found is not None
        assert found.busy_cores == pytest.approx(busy)
    assert surroundings.of("CPU_ONLY", "cpu:1") is None


def test_a_run_too_short_to_be_reported_is_said_to_be() -> None:
    session = session_of([window([2 * MS] * 100)])
    silent = run_of(session, in_order_of(session), surroundings=Surroundings())
    assert compared(told([50, 4]), silent).untold == ("b",)
    assert compared(silent, silent).untold == ("a", "b")


def test_where_no_core_was_idle_on_either_side_nobody_knows_which_was_busier() -> None:
    full = told([100, 88])
    assert compared(full, told([100, 100], slower=1.3)).untold == ("a", "b")
    assert compared(told([50, 4]), full).untold == ()


def test_heat_and_low_power_are_circumstances_too() -> None:
    def on(mode: str) -> events.Header:
        here = header()
        return msgspec.structs.replace(here, host=msgspec.structs.replace(here.host, power_mode=mode))

    result = compared(
        told([50, 4], opening=on("low power"), thermal="Nominal"),
        told([50, 4], opening=on("normal"), thermal="Serious"),
    )
    assert [(each.what, each.a, each.b, each.worse) for each in result.circumstances] == [
        ("power mode", "low power", "normal", "a"),
        ("thermal state", "Nominal", "Serious", "b"),
    ]


def test_what_a_real_machine_did_reports_nothing_of_a_simulated_one() -> None:
    a, b = told([50, 4], opening=header(simulated=True)), told([99, 99], opening=header(simulated=True))
    assert compared(a, b).circumstances == ()
    assert compared(a, b).untold == ()


def test_a_run_restricted_to_some_cpus_is_not_compared_as_an_unrestricted_one() -> None:
    def on(**restricted: object) -> Run:
        host = msgspec.convert({"chip": "X", "cores": 4, **restricted}, events.Host)
        return told([50, 2], opening=msgspec.structs.replace(header(), host=host))

    found = compared(on(cpus="0", cpu_quota=0.5), on())
    assert [(each.what, each.a, each.b) for each in found.differences] == [
        ("CPUs that it may use", "0", "all"),
        ("CPU quota", "0.5", "all"),
    ]
    assert compared(on(cpus="0"), on(cpus="0")).differences == ()
