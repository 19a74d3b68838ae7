"""What is said of a unit beside its latency, from what its engine reported."""

from __future__ import annotations

import msgspec
import pytest

from hettop import events
from hettop.events import OutputDifference
from hettop.session.energy import EnergyFigures
from hettop.session.rails import EnergyBatches
from hettop.session.session import Session
from hettop.session.unit import new_unit
from hettop.session.views.structs import ViewRequest
from hettop.session.views.units import are_wrong, unit_details, units, warning
from tests.session.views.test_conditions import session_of
from tests.streams import MS, S, window


def outputs(**differs: object) -> events.Outputs:
    difference = OutputDifference(name="logits", values=10, **differs)  # type: ignore[arg-type]
    return events.Outputs(t=0, unit="ALL", reference="CPU_ONLY", inputs=8, outputs=[difference])


@pytest.mark.parametrize(
    ("differs", "words"),
    [
        ({"max_abs": 0.01, "largest": 10.0, "top1": 1.0}, None),
        ({"max_abs": 0.6, "largest": 10.0}, "outputs differ"),
        ({"max_abs": 0.01, "largest": 10.0, "top1": 0.9}, "top 1 differs"),
        ({"not_finite": 3}, "outputs not finite"),
        ({}, None),
        ({"max_abs": 0.5, "largest": 0.0}, "outputs differ"),
        ({"max_abs": 0.0, "largest": 0.0}, None),
    ],
)
def test_answers_that_are_not_the_references_are_warned_of(differs: dict[str, object], words: str | None) -> None:
    assert warning(outputs(**differs)) == words


def test_against_a_unit_that_may_be_wrong_itself_nobody_is_called_wrong() -> None:
    told = msgspec.structs.replace(outputs(max_abs=6.0, largest=10.0, top1=0.0), reference="CPU_AND_GPU")
    assert warning(told) == "outputs differ from CPU_AND_GPU"
    assert not are_wrong(told)
    assert are_wrong(msgspec.structs.replace(told, reference="CPU_ONLY@2"))


def test_nothing_compared_is_no_warning() -> None:
    assert warning(None) is None
    failure = events.Failure(kind="predict", message="gone")
    assert warning(events.Outputs(t=0, unit="ALL", reference="CPU_ONLY", error=failure)) is None


def test_the_first_load_the_plan_and_the_outputs_have_a_line_each() -> None:
    unit = new_unit("ALL")
    unit.compile_ns, unit.cached, unit.load_ns, unit.first_ns = 41_200 * MS, False, 412 * MS, 9_800_000
    unit.peak_memory_mb = 311.4
    unit.plan = events.Plan(
        t=0,
        unit="ALL",
        accelerator="Neural Engine",
        ops=100,
        fallback_ratio_count=0.02,
        fallback_ratio_cost=0.1,
        breaks=[events.PlannedOp(name="t", op="topk", preferred="CPU", why="not supported there")],
    )
    unit.outputs = outputs(max_abs=0.5, largest=12.0, cosine=0.99999, top1=1.0)
    told = unit_details(unit, None, None, {})
    assert told[0] == "compiled in 41.2 s, loaded in 412 ms, first call 9.80 ms"
    assert told[1] == (
        "plan (not measured): 2% of 100 operations, 10% of the estimated cost not on the Neural Engine; first topk t"
        " (not supported there)"
    )
    assert told[-2] == (
        "outputs compared with CPU_ONLY on 8 inputs, logits: "
        "max difference 0.5 of 12, cosine 0.99999, same top 1 in 100%"
    )
    assert told[-1] == "peak memory 311 MB"


def test_a_unit_of_which_nothing_is_known_has_no_details() -> None:
    assert unit_details(new_unit("ALL"), None, None, {}) == ()


def test_a_compilation_of_an_earlier_start_is_said() -> None:
    unit = new_unit("ALL")
    unit.cached, unit.load_ns = True, 90 * MS
    assert unit_details(unit, None, None, {}) == ("already compiled, loaded in 90.0 ms",)


def test_what_the_binding_adds_is_wall_less_native_time() -> None:
    session = Session()
    session.fold(window([3 * MS, 5 * MS], native=[2 * MS, 3 * MS]))
    (condition,) = session.conditions.values()
    assert unit_details(new_unit("ALL"), condition, None, {}) == (
        "the Python binding adds 1.5 ms to each call of the framework",  # (1 + 2) / 2
    )
    session.fold(window([MS], t0=S))  # without its native time: the means are of different samples now
    assert unit_details(new_unit("ALL"), condition, None, {}) == ()


def drew(ane_mw: float | None) -> EnergyFigures:
    means = {"ane": ane_mw, "gpu": 12.0}
    return EnergyFigures(
        rails=(),
        coverage=None,
        mj=None,
        net_mj=None,
        uncertainty=None,
        mj_by_rail={},
        mean_mw=means,
        validated=frozenset({"ane"}),
    )


@pytest.mark.parametrize(
    ("ane_mw", "idle_mw", "words"),
    [
        (1_240.0, 0.0, "plan: 100% Neural Engine; ANE drew 1,240 mW while running"),
        (0.0, None, "plan: 100% Neural Engine; ANE 0 mW while running: probably on the CPU"),
        (600.0, 595.0, "plan: 100% Neural Engine; ANE 600 mW while running: probably on the CPU"),
        (None, None, "plan: 100% Neural Engine; ANE power n/a"),
    ],
)
def test_the_claim_stands_beside_what_power_shows(ane_mw: float | None, idle_mw: float | None, words: str) -> None:
    unit = new_unit("CPU_AND_NE")
    devices = [events.PlannedDevice(device="Neural Engine", ops=10, cost=1.0)]
    unit.plan = events.Plan(t=0, unit="CPU_AND_NE", accelerator="Neural Engine", ops=10, devices=devices)
    assert unit_details(unit, None, drew(ane_mw), {"ane": idle_mw}) == (words,)


def test_why_outputs_could_not_be_compared_is_said_and_no_number() -> None:
    unit = new_unit("ALL")
    failure = events.Failure(kind="predict", message="CPU_ONLY gave no outputs")
    unit.outputs = events.Outputs(t=0, unit="ALL", reference="CPU_ONLY", error=failure)
    assert unit_details(unit, None, None, {}) == ("outputs not compared: CPU_ONLY gave no outputs",)


def test_numbers_that_are_none_are_counted() -> None:
    unit = new_unit("ALL")
    unit.outputs = outputs(not_finite=3)
    assert unit_details(unit, None, None, {}) == (
        "outputs compared with CPU_ONLY on 8 inputs, logits: 3 values not finite",
    )


@pytest.mark.parametrize(
    ("nanoseconds", "words"),
    [(9_840_000, "9.84 ms"), (412 * MS, "412 ms"), (6_090 * MS, "6,090 ms"), (41_200 * MS, "41.2 s")],
)
def test_lengths_of_time_have_no_exponent(nanoseconds: int, words: str) -> None:
    unit = new_unit("ALL")
    unit.load_ns = nanoseconds
    assert unit_details(unit, None, None, {}) == (f"loaded in {words}",)


def test_energy_is_reported_with_what_it_is_made_of_and_how_sure_it_is() -> None:
    figures = EnergyFigures(
        rails=("cpu", "ane"), coverage=0.87, mj=12.5, net_mj=9.0, uncertainty=0.001, mj_by_rail={}, mean_mw={}
    )
    assert unit_details(new_unit("ALL"), None, figures, {}) == (
        "12.5 mJ/inference, net 9, 80 inferences per joule; CPU+GPU+ANE (estimate) from cpu+ane, power samples "
        "cover 87%, ±0.10% from the counter's resolution",
    )


def test_energy_has_its_interval_where_there_are_six_power_windows() -> None:
    # Mean 10 W +- .9387 W (t of 5 degrees of freedom), 20 mJ per 10 W.
    mw = [9000, 11000, 10000, 11000, 9000, 10000]
    figures = EnergyFigures(
        rails=("cpu",),
        coverage=1.0,
        mj=20.0,
        net_mj=None,
        uncertainty=None,
        mj_by_rail={},
        mean_mw={"cpu": 10_000.0},
        batches=EnergyBatches(6, 1, [(S, each * S) for each in mw]),
    )
    (told,) = unit_details(new_unit("ALL"), None, figures, {})
    assert told.startswith("20 mJ/inference, 95% interval 18.1 to 21.9, 50 inferences per joule; ")


def test_a_row_names_the_detail_that_its_warning_is_about() -> None:
    session = session_of(window([2 * MS] * 10, unit="ALL"))
    session.units["ALL"].outputs = outputs(max_abs=3.1, largest=12.0, top1=0.62)
    (row,) = units(session, ViewRequest(now_ns=S, window_ns=S)).rows
    assert row.warning == "top 1 differs"
    assert row.warning_detail in row.details
    session.units["ALL"].outputs = outputs(max_abs=0.0, largest=12.0, top1=1.0)
    (row,) = units(session, ViewRequest(now_ns=S, window_ns=S)).rows
    assert row.warning_detail is None


def test_a_percentile_with_too_few_samples_has_what_it_lacks_instead() -> None:
    # 100 samples of 1 to 100 ms. P99 takes 662 samples, P99.9 6,636 (`samples_needed`); P90 lies at rank .9 x 99.
    session = session_of(window([at * MS for at in range(1, 101)]))
    request = ViewRequest(now_ns=100 * S, window_ns=S, percentiles=True)
    (row,) = units(session, request).rows
    assert row.p90_ms == pytest.approx(90.1)
    assert (row.p99_ms, row.p99_needs) == (None, 562)
    further = {each.q: each.further for each in row.further}
    assert further == {0.5: 0, 0.75: 0, 0.9: 0, 0.95: 30, 0.99: 562, 0.999: 6_536}
    assert [each.ms for each in row.further[:3]] == pytest.approx([50.5, 75.25, 90.1])
    assert [each.ms for each in row.further[3:]] == [None] * 3
    (row,) = units(session, ViewRequest(now_ns=100 * S, window_ns=S)).rows
    assert row.further == (), "only where they were requested"


def test_with_enough_samples_there_is_a_p99() -> None:
    session = session_of(window([2 * MS] * 661 + [9 * MS]))
    (row,) = units(session, ViewRequest(now_ns=10 * S, window_ns=S)).rows
    assert (row.p99_ms, row.p99_needs) == (2.0, None)


def test_the_missed_share_is_of_paced_calls_later_than_the_budget() -> None:
    paced = events.Control(t=0, action="start", units=["CPU_ONLY"], rate_hz=100.0)  # a budget of 10 ms
    late = [0] * 30 + [7 * MS] * 10  # with 4 ms of service, 11 ms after the arrival
    session = session_of(paced, window([4 * MS] * 40, late=late))
    (row,) = units(session, ViewRequest(now_ns=S, window_ns=S)).rows
    assert row.missed == 0.25
    (row,) = units(session_of(window([4 * MS] * 40)), ViewRequest(now_ns=S, window_ns=S)).rows
    assert row.missed is None


def test_energy_has_its_net_part_or_the_reason_why_there_is_none() -> None:
    steady = window([10 * MS] * 300, gap=0)
    power = [events.Power(t=at * S, source="s", elapsed_ns=S, mw={"cpu": 4_000.0}) for at in (1, 2, 3)]
    idle = events.Baseline(t=3 * S, source="s", elapsed_ns=S, mw={"cpu": 1_000.0}, n=6)
    (row,) = units(session_of(steady, *power, idle), ViewRequest(now_ns=3 * S, window_ns=S)).rows
    assert row.energy_mj == pytest.approx(40.0)  # 4 W for 10 ms
    assert row.net_mj == pytest.approx(30.0)
    (row,) = units(session_of(steady, power[0]), ViewRequest(now_ns=3 * S, window_ns=S)).rows
    assert row.energy_mj is None
    assert row.energy_lacking, "a third of the time is not enough"


def test_advice_is_shown_under_the_load_that_it_was_given_for() -> None:
    advice = events.Advice(t=S, load="none", unit="ALL", over="CPU_ONLY")
    session = session_of(window([2 * MS] * 10), advice)
    assert units(session, ViewRequest(now_ns=S, window_ns=S)).advice == advice
    session.load = "cpu:2"
    assert units(session, ViewRequest(now_ns=S, window_ns=S)).advice is None
