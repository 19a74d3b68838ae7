"""What is said of a unit beside its latency, from what its engine told."""

from __future__ import annotations

import pytest

from hettop import events
from hettop.events import OutputDifference
from hettop.session.details import details, warning
from hettop.session.unit import Unit
from tests.streams import MS


def outputs(**differs: object) -> events.Outputs:
    difference = OutputDifference(name="logits", values=10, **differs)  # type: ignore[arg-type]
    return events.Outputs(t=0, unit="ALL", reference="CPU_ONLY", inputs=8, outputs=[difference])


@pytest.mark.parametrize(
    ("differs", "words"),
    [
        ({"max_abs": 0.01, "largest": 10.0, "top1": 1.0}, None),
        ({"max_abs": 0.6, "largest": 10.0}, "outputs differ"),
        ({"max_abs": 0.01, "largest": 10.0, "top1": 0.9}, "decides otherwise"),
        ({"not_finite": 3}, "outputs are no numbers"),
        ({}, None),
    ],
)
def test_answers_that_are_not_the_references_are_warned_of(differs: dict[str, object], words: str | None) -> None:
    assert warning(outputs(**differs)) == words


def test_nothing_compared_is_no_warning() -> None:
    assert warning(None) is None
    failure = events.Failure(kind="predict", message="gone")
    assert warning(events.Outputs(t=0, unit="ALL", reference="CPU_ONLY", error=failure)) is None


def test_the_first_load_the_plan_and_the_outputs_have_a_line_each() -> None:
    unit = Unit("ALL")
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
    told = details(unit, None, None, {})
    assert told[0] == "compiled in 41.2 s, loaded in 412 ms, first call 9.8 ms"
    assert told[1] == (
        "plan (a claim): 2% of 100 operations, 10% of the estimated cost not on the Neural Engine; first topk t"
        " (not supported there)"
    )
    assert told[-2] == (
        "outputs against CPU_ONLY on 8 inputs, logits: max difference 0.5 of 12, cosine 0.99999, same top 1 in 100%"
    )
    assert told[-1] == "peak memory 311 MB"


def test_a_unit_of_which_nothing_is_known_has_no_details() -> None:
    assert details(Unit("ALL"), None, None, {}) == ()


def test_a_compilation_of_an_earlier_start_is_said() -> None:
    unit = Unit("ALL")
    unit.cached, unit.load_ns = True, 90 * MS
    assert details(unit, None, None, {}) == ("compiled before, loaded in 90 ms",)
