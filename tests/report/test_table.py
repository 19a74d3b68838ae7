"""The table: what it says, what it leaves out on a narrow terminal, and what it never prints."""

from __future__ import annotations

import pytest

from hettop import events
from hettop.session.session import Session
from hettop.session.statistics import statistics
from tests.analysis.material import powered
from tests.analysis.material import session_of as analysed_session
from tests.report.sessions import failure, four_units, named, session_of, session_table, widest
from tests.streams import MS, header, window

UNITS = ("CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL")


def columns(table: str) -> list[str]:
    (heading,) = [line for line in table.splitlines() if line.startswith("unit ")]
    return [name for name in heading.replace("95% of P90", "interval").split() if name]


def row(table: str, unit: str) -> list[str]:
    return next(line for line in table.splitlines() if line.startswith(f"{unit} ")).split()


def test_a_row_gives_the_numbers_of_its_unit() -> None:
    # 99 samples of 2 ms and one of 12 ms: mean 2.1, population std sqrt(.99) = .995, 100 over .21 s = 476/s.
    table = session_table(session_of(window([2 * MS] * 99 + [12 * MS])), 120)
    assert " ".join(columns(table)) == "unit n mean std min P50 P90 interval P99 max inf/s spikes"
    assert " ".join(row(table, "CPU_ONLY")) == "CPU_ONLY 100 2.10 0.995 2.00 2.00 2.00 2.00–2.00 n/a 12.0 476 1"
    assert "insufficient data for P99 (needs more samples, if they are independent): CPU_ONLY 562" in table


def test_samples_that_made_the_first_threshold_are_not_judged() -> None:
    """As on the screen: 12 ms came when there was no threshold yet, 9 ms did not."""
    session = session_of(window([12 * MS] + [2 * MS] * 99 + [9 * MS]))
    table = session_table(session, 200)
    assert row(table, "CPU_ONLY")[-1] == "1"
    (statistic,) = statistics(session)
    assert statistic.spikes is not None
    assert (statistic.spikes.n, statistic.spikes.as_they_came) == (1, 1)
    few = session_table(session_of(window([2 * MS] * 63 + [90 * MS])), 200)
    assert row(few, "CPU_ONLY")[-1] == "n/a"
    assert "spike detection needs 65 samples: CPU_ONLY" in few


@pytest.mark.parametrize("width", [120, 100, 80, 72, 60, 46])
def test_four_units_fit_into_the_width(width: int) -> None:
    table = session_table(four_units(), width)
    assert widest(table.splitlines()) <= width
    for unit in UNITS:
        assert row(table, unit)[1] == "100"
    assert columns(table)[:3] == ["unit", "n", "mean"]
    assert "P90" in columns(table)


def test_what_a_narrow_terminal_can_do_without_goes_first() -> None:
    assert "std" in columns(session_table(four_units(), 100))
    assert "std" not in columns(session_table(four_units(), 80))
    assert {"P50", "P90", "P99", "max"} <= set(columns(session_table(four_units(), 80)))


def test_the_load_is_never_left_out_where_there_is_one() -> None:
    session = session_of(window([MS] * 30), window([3 * MS] * 30, load="cpu:1+memory:1@50%", t0=60 * MS))
    for width in (200, 80, 30):
        table = session_table(session, width)
        assert [line.split()[1] for line in table.splitlines() if line.startswith("CPU_ONLY")] == [
            "none",
            "cpu:1+memory:1@50%",
        ]
    assert "load" not in columns(session_table(four_units(), 120))


def test_notes_name_the_load_they_speak_of() -> None:
    session = session_of(window([MS] * 30), window([3 * MS] * 40, load="cpu:1", t0=60 * MS))
    lacking = "insufficient data for P99 (needs more samples, if they are independent)"
    assert f"{lacking}: CPU_ONLY 632, CPU_ONLY under cpu:1 622" in session_table(session, 120)


def test_the_thermal_state_stands_with_the_load() -> None:
    table = session_table(session_of(window([MS] * 9, thermal="Heavy")), 120)
    assert row(table, "CPU_ONLY")[1:3] == ["none", "Heavy"]


def test_simulated_data_is_marked_in_the_title() -> None:
    assert (
        session_table(four_units(simulated=True), 80).splitlines()[0].startswith("SIMULATED · Test model · Test chip")
    )
    assert "SIMULATED" not in session_table(four_units(simulated=False), 80)


def test_a_unit_that_failed_keeps_its_row_and_says_why_once() -> None:
    session = session_of(
        window([MS] * 9, unit="ALL"),
        window([MS] * 9, unit="ALL", load="cpu:1", t0=20 * MS),
        failure("ALL", "engine process killed by SIGSEGV", "press R"),
        failure("CPU_ONLY", "no such function"),
    )
    table = session_table(session, 100)
    assert row(table, "CPU_ONLY")[1:4] == ["none", "0", "n/a"]
    assert table.count("ALL: engine process killed by SIGSEGV (press R)") == 1
    assert "CPU_ONLY: no such function" in table


def test_what_was_not_measured_is_not_zero() -> None:
    table = session_table(session_of(window([MS] * 5), failure("ALL", "gone")), 200)
    assert set(row(table, "ALL")[3:]) == {"n/a"}
    assert row(table, "CPU_ONLY")[-1] == "n/a", "five samples have no fence, so their spikes are unknown"


def test_paced_samples_report_their_responses() -> None:
    start = events.Control(t=0, action="start", rate_hz=100.0)
    stopped = events.Engine(t=1, unit="CPU_ONLY", state="stopped", unfinished=7)
    late = [0] * 8 + [9 * MS] * 2
    responses = window([2 * MS] * 10, late=late, gap=8 * MS)
    table = session_table(session_of(start, responses), 120)
    assert "CPU_ONLY: 2 of 10 responses over 10.0 ms; response P50 2.00, P90 11.0 ms" in table
    table = session_table(session_of(start, responses, stopped), 120)
    assert "CPU_ONLY: 2 of 10 responses over 10.0 ms, 7 requests not served; response P50 2.00, P90 11.0 ms" in table


def test_two_modes_are_reported_with_their_shares() -> None:
    latencies = [(3 if i % 4 == 3 else 1) * MS + 1000 * (i % 7) for i in range(400)]
    table = session_table(session_of(window(latencies)), 120)
    assert "CPU_ONLY: 2 modes: 1.00 ms (75%), 3.00 ms (25%)" in table


def test_hostile_names_reach_no_terminal() -> None:
    evil = "\x1b[2J\u202eevil\n"
    stream: list[events.AnyEvent] = [
        window([MS] * 9, unit=evil, load=evil, thermal=evil),
        failure(f"{evil}2", evil, evil),
        events.Engine(t=0, unit=evil, state="running", placed=evil),
    ]
    table = session_table(session_of(*stream, opening=named(header(), model=evil, chip=evil)), 120)
    assert "evil" in table
    assert not [c for c in table if (ord(c) < 32 and c != "\n") or c in "\u202e\x7f\x9b"]


def test_an_empty_session_says_so() -> None:
    assert "! nothing was measured\n" in session_table(Session(), 80)


def test_the_first_use_and_what_is_claimed_stand_below_the_table() -> None:
    plan = events.Plan(t=0, unit="CPU_AND_NE", accelerator="Neural Engine", ops=100, fallback_ratio_count=0.02)
    told = events.Engine(
        t=0, unit="CPU_AND_NE", state="running", compile_ns=6_090 * MS, cached=False, load_ns=412 * MS, first_ns=9 * MS
    )
    table = session_table(session_of(told, plan, window([2 * MS] * 100, unit="CPU_AND_NE")), 200)
    assert (
        "CPU_AND_NE: compiled in 6,090 ms, loaded in 412 ms, first call 9.00 ms, plan (predicted): 2.0% of 100 "
        "operations fall back from the Neural Engine\n"
    ) in table
    assert "processor used by CPU_AND_NE is unknown: a unit only permits processors" in table
    assert "outputs of CPU_AND_NE were not compared with CPU_ONLY" in table


def test_columns_that_do_not_fit_are_said_to_be_missing_once() -> None:
    session = session_of(window([2 * MS] * 99 + [12 * MS]))
    said = "columns that do not fit into {} characters are omitted; --json has all"
    assert " ".join(session_table(session, 60).split()).count(said.format(60)) == 1
    assert "omitted" not in session_table(session, 200)


def test_the_interval_of_the_energy_is_noted_below() -> None:
    powers = [10_000.0, 9000.0, 11000.0, 10_000.0, 11000.0, 9000.0, 10_000.0]
    table = session_table(analysed_session(powered("A", powers[1:]), powered("B", powers[:3], t0=10**11)), 100)
    assert "mJ/inf, 95% interval: A 90.6 to 109" in table
    assert "B n/a" not in table


def test_another_conversion_is_named_with_the_difference_of_its_outputs() -> None:
    outputs = events.Outputs(
        t=0,
        unit="COREAI:default~b",
        reference="COREAI:default",
        inputs=8,
        outputs=[events.OutputDifference(name="y", values=5, max_abs=0.000123, largest=1.0)],
    )
    rows = [window([2 * MS] * 100, unit=unit) for unit in ("COREAI:default", "COREAI:default~b")]
    table = session_table(session_of(*rows, outputs), 200)
    assert "COREAI:default~b: outputs differ from COREAI:default by at most 0.00012" in table
    assert "outputs of COREAI:default were not compared with COREAI:cpu_only" in table
