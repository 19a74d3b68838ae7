"""Thresholds: how they are written, in which units, and what fails them."""

from __future__ import annotations

import re

import msgspec
import pytest

from hettop import events
from hettop.analysis.unit_samples import in_order_of
from hettop.errors import HettopError
from hettop.report.threshold import Judged, Threshold, check_measured, check_provable, parse_threshold, prove
from hettop.session.statistics import Misses, Reason, Spikes, Statistics
from tests.analysis.material import session_of, stream_of

MEASURED = Statistics(
    unit="CPU_ONLY",
    load="none",
    n=700,
    mean_ms=2.5,
    p90_ms=3.0,
    p99_ms=4.0,
    throughput_per_s=400.0,
    peak_memory_mb=120.0,
    first_ms=20.0,
    spikes=Spikes(n=2, fence_ms=5.0),
    deadline_misses=Misses(n=3, limit_ms=10.0, unfinished=None),
    response_p90_ms=8.0,
)
FAILED = Statistics(unit="ALL", load="none")
DIED = Statistics(
    unit="CPU_AND_NE",
    load="none",
    n=102,
    p90_ms=1.2,
    error=Reason(kind="crashed", message="killed by SIGSEGV", hint=""),
)


@pytest.mark.parametrize(
    ("text", "unit", "load", "stat", "comparison", "value"),
    [
        ("CPU_ONLY.p90<30ms", "CPU_ONLY", None, "p90", "<", 30.0),
        ("CPU_ONLY.p90<30", "CPU_ONLY", None, "p90", "<", 30.0),
        ("CPU_ONLY@2.mean <= 1.5s", "CPU_ONLY@2", None, "mean", "<=", 1500.0),
        ("CPU_ONLY@16[cpu:1].p99<=400us", "CPU_ONLY@16", "cpu:1", "p99", "<=", 0.4),
        ("OV:CPU.p90<3ms", "OV:CPU", None, "p90", "<", 3.0),
        ("ov:gpu:1[cpu:1].p99<3ms", "OV:GPU:1", "cpu:1", "p99", "<", 3.0),
        ("CUDA:0.throughput>60", "CUDA:0", None, "throughput", ">", 60.0),
        ("ALL.max>.5ms", "ALL", None, "max", ">", 0.5),
        ("ALL.std<2µs", "ALL", None, "std", "<", 0.002),
        ("ALL.std<2μs", "ALL", None, "std", "<", 0.002),
        ("CPU_AND_NE[none].throughput>=60", "CPU_AND_NE", "none", "throughput", ">=", 60.0),
        ("CPU_AND_NE.throughput>60/s", "CPU_AND_NE", None, "throughput", ">", 60.0),
        ("CPU_ONLY.peak_memory<200MB", "CPU_ONLY", None, "peak_memory", "<", 200.0),
        ("CPU_ONLY.energy<5mJ", "CPU_ONLY", None, "energy", "<", 5.0),
        ("CPU_ONLY.n>=1e3", "CPU_ONLY", None, "n", ">=", 1000.0),
        (" CPU_ONLY.spikes<1 ", "CPU_ONLY", None, "spikes", "<", 1.0),
        ("CPU_ONLY.response_p90<16.7ms", "CPU_ONLY", None, "response_p90", "<", 16.7),
    ],
)
def test_every_form_is_understood(
    text: str, unit: str, load: str | None, stat: str, comparison: str, value: float
) -> None:
    found = parse_threshold(text)
    assert (found.unit, found.load, found.stat, found.comparison) == (unit, load, stat, comparison)
    assert found.value == pytest.approx(value)


def test_a_load_is_spelled_as_conditions_spell_it() -> None:
    assert parse_threshold("CPU_ONLY[memory:1@50%+cpu:2@100%].p90<1").load == "cpu:2+memory:1@50%"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "CPU_ONLY",
        "CPU_ONLY.p90",
        "CPU_ONLY.p90<",
        "CPU_ONLY.p90=3",
        "CPU_ONLY.p90<-3",
        "CPU_ONLY.p90<nan",
        "CPU_ONLY.p95<3ms",
        "CPU_ONLY[].p90<3",
        "CPU_ONLY@.p90<3",
        "CPU_ONLY@0.p90<3",
        "CPU_ONLY@02.p90<3",
        "CPU_ONLY@٢.p90<3",
        "CPU_ONLY.p90<1e400ms",
        "CPU_ONLY.p90<1e306s",
        "CPU ONLY.p90<3",
        ".p90<3",
        "CPU_ONLY.p90<3ms extra",
        "CPU_ONLY.p90<3min",
        "CPU_ONLY.throughput>60ms",
        "CPU_ONLY.n>5s",
        "CPU_ONLY.energy<5J",
    ],
)
def test_anything_else_is_wrong_use_with_a_hint(text: str) -> None:
    with pytest.raises(HettopError) as caught:
        parse_threshold(text)
    assert caught.value.kind == "usage"
    assert caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "CPU_ONLY.p90<3.1ms",
        "CPU_ONLY.p90<=3000us",
        "CPU_ONLY.p90>=0.003s",
        "CPU_ONLY.throughput>399",
        "CPU_ONLY.first<21ms",
        "CPU_ONLY.spikes<=2",
        "CPU_ONLY.misses<4",
        "CPU_ONLY.n>=700",
    ],
)
def test_what_is_met_has_no_reason(text: str) -> None:
    assert parse_threshold(text).judge([FAILED, MEASURED]).met is True


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("CPU_ONLY.p90<3ms", "p90 of CPU_ONLY is 3 ms under load none"),
        ("CPU_ONLY.p99>4ms", "p99 of CPU_ONLY is 4 ms under load none"),
        ("CPU_ONLY.first<1ms", "first of CPU_ONLY is 20 ms under load none"),
        ("CPU_ONLY.throughput>500", "throughput of CPU_ONLY is 400/s under load none"),
        ("CPU_ONLY.peak_memory<1MB", "peak_memory of CPU_ONLY is 120 MB under load none"),
        ("CPU_ONLY.spikes<1", "spikes of CPU_ONLY is 2 under load none"),
        ("CPU_ONLY.n>700", "n of CPU_ONLY is 700 under load none"),
        ("CPU_ONLY.p999<9s", "p999 of CPU_ONLY is unknown (n=700)"),
        ("CPU_ONLY.energy<9", "energy of CPU_ONLY is unknown (n=700)"),
        ("ALL.p90<9s", "p90 of ALL is unknown (n=0)"),
        ("ALL.spikes<1", "spikes of ALL is unknown (n=0)"),
        ("ALL.misses<1", "misses of ALL is unknown (n=0)"),
        ("CPU_AND_GPU.p90<9s", "CPU_AND_GPU was not measured"),
        ("CPU_ONLY[cpu:2].p90<9s", "CPU_ONLY was not measured under load cpu:2"),
    ],
)
def test_what_is_not_met_or_undecided_has_a_reason(text: str, why: str) -> None:
    undecided = "unknown" in why or "not measured" in why
    assert parse_threshold(text).judge([FAILED, MEASURED]) == Judged(None if undecided else False, f"{text}: {why}")


@pytest.mark.parametrize("written", ["cpu.p90<30ms", ".cpuOnly.p90<30ms", "CPU_only.p90<30ms"])
def test_a_unit_may_be_written_as_everywhere(written: str) -> None:
    assert parse_threshold(written).unit == "CPU_ONLY"
    assert parse_threshold("ne@2~prefill.p90<3").unit == "CPU_AND_NE@2~prefill"


def test_an_arrival_that_was_not_served_is_a_miss() -> None:
    row = msgspec.structs.replace(MEASURED, deadline_misses=Misses(n=3, limit_ms=10.0, unfinished=2))
    assert parse_threshold("CPU_ONLY.misses<6").judge([row]).met is True
    assert parse_threshold("CPU_ONLY.misses<5").judge([row]).met is False


def test_a_row_that_misses_it_decides_before_one_that_is_unknown() -> None:
    unknown = Statistics(unit="ALL", load="none")
    slow = Statistics(unit="ALL", load="cpu:1", n=9, p90_ms=9.0)
    assert parse_threshold("ALL.p90<5").judge([unknown, slow]).met is False
    assert parse_threshold("ALL.p90<50").judge([unknown, slow]).met is None


def test_spikes_without_a_threshold_are_unknown_rather_than_none() -> None:
    few = Statistics(unit="CPU_ONLY", load="none", n=5, spikes=Spikes(n=None, fence_ms=None))
    assert (
        parse_threshold("CPU_ONLY.spikes<1").judge([few]).why
        == "CPU_ONLY.spikes<1: spikes of CPU_ONLY is unknown (n=5)"
    )


def test_without_a_load_it_must_hold_under_every_load() -> None:
    idle = Statistics(unit="CPU_ONLY", load="none", n=9, p90_ms=3.0)
    loaded = Statistics(unit="CPU_ONLY", load="cpu:2", n=9, p90_ms=9.0)
    assert (
        parse_threshold("CPU_ONLY.p90<5").judge([idle, loaded]).why
        == "CPU_ONLY.p90<5: p90 of CPU_ONLY is 9 ms under load cpu:2"
    )
    assert parse_threshold("CPU_ONLY[none].p90<5").judge([idle, loaded]).met is True
    assert parse_threshold("CPU_ONLY[cpu:2].p90<5").judge([idle, loaded]).met is False


def test_it_must_hold_in_every_thermal_state() -> None:
    rows = [
        Statistics(unit="ALL", load="none", thermal=state, n=9, p90_ms=ms)
        for state, ms in (("Nominal", 1), ("Heavy", 4))
    ]
    assert parse_threshold("ALL[none].p90<2").judge(rows).why == "ALL[none].p90<2: p90 of ALL is 4 ms under load none"


def test_what_is_printed_of_a_threshold_is_clean() -> None:
    threshold: Threshold = parse_threshold("ALL[\x1b[31mx].p90<2")
    assert "\x1b" not in threshold.judge([FAILED]).why


def test_thresholds_on_what_will_be_measured_pass() -> None:
    given = [parse_threshold(text) for text in ("CPU_ONLY.p90<1", "CPU_ONLY@2[cpu:2].p90<1")]
    check_measured(given, ("CPU_ONLY", "CPU_ONLY@2"), "cpu:2")
    check_measured([], ("CPU_ONLY",), "none")


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("ALL.p90<1", "ALL.p90<1: ALL will not be measured", "measured units: CPU_ONLY, CPU_ONLY@2"),
        ("CPU_ONLY@1.p90<1", "CPU_ONLY@1 will not be measured", "measured units"),
        ("CPU_ONLY[cpu:1].p90<1", "nothing will be measured under load cpu:1", "the load is cpu:2; --load"),
        ("CPU_ONLY[none].p90<1", "nothing will be measured under load none", "the load is cpu:2; --load"),
    ],
)
def test_a_threshold_on_anything_else_is_wrong_use(text: str, message: str, hint: str) -> None:
    with pytest.raises(HettopError) as caught:
        check_measured([parse_threshold(text)], ("CPU_ONLY", "CPU_ONLY@2"), "cpu:2")
    assert caught.value.kind == "usage"
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_a_unit_that_failed_passes_nothing_however_fast_it_was_before() -> None:
    judged = parse_threshold("CPU_AND_NE.p90<30ms").judge([DIED])
    assert judged.met is False
    assert judged.why == "CPU_AND_NE.p90<30ms: CPU_AND_NE failed after 102 samples: killed by SIGSEGV"


@pytest.mark.parametrize(("unserved", "met"), [(11, True), (12, None)])
def test_a_response_time_among_arrivals_that_were_not_served_is_undecided(unserved: int, met: bool | None) -> None:
    """Of 100 served and 12 others, a tenth (11.2) of all is less than the 12."""
    row = msgspec.structs.replace(MEASURED, n=100, deadline_misses=Misses(n=3, limit_ms=10.0, unfinished=unserved))
    assert parse_threshold("CPU_ONLY.response_p90<16.7ms").judge([row]).met is met


def proven(text: str, *values_ms: float, load: str = "none") -> Judged:
    """Of CPU_ONLY in one stretch, where 110 calls count as one sample: P90 needs 64 of these, that is 7,040 calls."""
    session = session_of(stream_of({"CPU_ONLY": values_ms}, load=load))
    (judged,) = prove([parse_threshold(text)], session, in_order_of(session))
    return judged


def test_a_limit_above_the_interval_is_proven_met_and_one_below_it_proven_missed() -> None:
    always = [2.5] * 7_040
    met = proven("CPU_ONLY.p90<2.6ms", *always)
    assert met.met is True
    assert met.shown.startswith("CPU_ONLY.p90<2.6ms: p90 of CPU_ONLY is 2.5")
    assert "interval 2.5" in met.shown
    missed = proven("CPU_ONLY.p90<2.4ms", *always)
    assert missed.met is False
    assert missed.why == (
        "CPU_ONLY.p90<2.4ms: p90 of CPU_ONLY is 2.50 ms, interval 2.50 to 2.50 ms, 7,040 samples (effective sample "
        "size 64)"
    )
    (evidence,) = missed.evidence
    assert (evidence.n, evidence.low_ms, evidence.high_ms) == (7_040, 2.5, 2.5)


def test_a_limit_that_every_sample_has_is_met_only_where_it_may_be_reached() -> None:
    assert proven("CPU_ONLY.p90<=2.5ms", *[2.5] * 7_040).met is True
    assert proven("CPU_ONLY.p90<2.5ms", *[2.5] * 7_040).met is False


def test_one_call_too_few_proves_nothing_and_the_reason_says_how_many_are_missing() -> None:
    judged = proven("CPU_ONLY.p90<2.6ms", *[2.5] * 7_039)
    assert judged.met is None
    assert "effective sample size 63, but this percentile needs 64" in judged.why
    assert judged.why.endswith("needs about 1 more sample to prove it met")
    missed = proven("CPU_ONLY.p90<2.4ms", *[2.5] * 700)
    assert missed.met is None
    assert re.search(r"needs about [\d,]+ more samples \(\d+ s\) to prove it missed$", missed.why)


def test_a_limit_within_the_interval_is_undecided_although_the_value_is_below_it() -> None:
    """One in nine calls takes 3 ms: P90 is 3 ms, P88 2 ms, and of 64 independent samples neither is excluded."""
    judged = proven("CPU_ONLY.p90<2.9ms", *([2.0] * 8 + [3.0]) * 783)
    assert judged.met is None
    assert "the limit lies within the interval" in judged.why


def test_thresholds_share_the_error_of_five_percent() -> None:
    """By order statistics of 73 independent samples (8,030 calls): wider intervals where three share the error."""
    session = session_of(stream_of({"CPU_ONLY": [1 + (k * 37 % 101) / 100 for k in range(8_030)]}))
    one, three = ([parse_threshold("CPU_ONLY.p50<9ms")] * n for n in (1, 3))
    ends = []
    for thresholds in (one, three):
        (evidence,) = prove(thresholds, session, in_order_of(session))[0].evidence
        assert evidence.low_ms is not None
        assert evidence.high_ms is not None
        ends.append((evidence.low_ms, evidence.high_ms))
    assert ends[1][0] < ends[0][0] < ends[0][1] < ends[1][1]


def test_every_load_has_to_meet_it_unless_one_is_named() -> None:
    quick, slow = (
        stream_of({"CPU_ONLY": [2.5] * 7_700}),
        stream_of({"CPU_ONLY": [4.0] * 7_700}, load="cpu:1", t0=10**12),
    )
    session = session_of(quick, slow)
    texts = ("CPU_ONLY.p90<3ms", "CPU_ONLY[none].p90<3ms", "CPU_ONLY[cpu:2].p90<3ms")
    judged = prove([parse_threshold(text) for text in texts], session, in_order_of(session))
    assert [each.met for each in judged[:2]] == [False, True]
    assert judged[2].why == "CPU_ONLY[cpu:2].p90<3ms: CPU_ONLY was not measured under load cpu:2"


def test_a_unit_that_failed_after_samples_misses_every_limit() -> None:
    error = events.Failure(kind="crashed", message="killed by SIGSEGV")
    died = events.Engine(t=10**12, unit="CPU_ONLY", state="failed", error=error)
    session = session_of(stream_of({"CPU_ONLY": [2.5] * 7_040}), [died])
    (judged,) = prove([parse_threshold("CPU_ONLY.p90<3ms")], session, in_order_of(session))
    assert judged.met is False
    assert "failed after 7040 samples: killed by SIGSEGV" in judged.why


@pytest.mark.parametrize("text", ["CPU_ONLY.mean<3ms", "CPU_ONLY.p90>3ms", "CPU_ONLY.throughput>60", "CPU_ONLY.max<9"])
def test_what_has_no_interval_cannot_be_proven(text: str) -> None:
    with pytest.raises(HettopError, match="cannot be proven"):
        check_provable([parse_threshold("CPU_ONLY.p999<=3ms"), parse_threshold(text)])
