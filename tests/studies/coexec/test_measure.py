"""A co-execution's result: made of what was measured, as `--json` prints it, as a page, and as a line."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from hettop.app.study_runner import StudyPower
from hettop.errors import HettopError
from hettop.events import Power, PowerStatus, Study
from hettop.report.document import to_json
from hettop.report.terminal.blocks import block_text
from hettop.studies.coexec.measure import coexec_result
from hettop.studies.coexec.page import blocks
from hettop.studies.coexec.rates import Energy, Fault, Result, Round, UnitResult
from hettop.studies.coexec.result import CoexecResult
from hettop.studies.registry import read_document, result_of
from tests.processes.waiting import REPOSITORY
from tests.studies.sweep.test_measure import missing_or_changed

# 50 and 100 a second alone, 120 together: a fifth more than the better one, four fifths of the sum.
CPU = UnitResult("CPU_ONLY", 50.0, 30.0, 0.25, 100, 60, "CPU", ahead=1)
NE = UnitResult("CPU_AND_NE", 100.0, 90.0, 0.75, 200, 180, "NE", ahead=2)
ROUNDS = (
    Round({"CPU_ONLY": 50.0, "CPU_AND_NE": 100.0}, 110.0),
    Round({"CPU_ONLY": 50.0, "CPU_AND_NE": 100.0}, 130.0),
    Round({"CPU_ONLY": 50.0, "CPU_AND_NE": 100.0}, 120.0),
)
RESULT = Result(
    units=(CPU, NE),
    together_per_s=120.0,
    rounds=ROUNDS,
    delivered=5_000,
    in_order=True,
    p50_ms=10.0,
    p90_ms=20.0,
    latencies=400,
    max_reorder=7,
    depth=64,
    steals=3,
    redone=0,
    block_ms=250.0,
)
NONE = Energy(None, "no source")


S = 10**9
BLOCKS = ((10 * S, 12 * S), (20 * S, 22 * S))
ORIGIN = 5 * S  # of the session, on the machine's clock


def page(result: Result = RESULT, energy: Energy = NONE, width: int = 100) -> str:
    return " ".join(block_text(list(blocks(coexec_result(result, energy))), width).split())


def document(result: Result = RESULT, energy: Energy = NONE) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(to_json(coexec_result(result, energy).document()))
    return told


def found(**changes: Any) -> CoexecResult:
    """As a recording has it."""
    line = coexec_result(replace(RESULT, **changes), NONE).line()
    return CoexecResult.from_line(json.loads(msgspec.json.encode(line)))


def test_the_document_has_every_field_that_the_first_version_had() -> None:
    before = json.loads((REPOSITORY / "tests/golden/studies/coexec.json").read_text())
    dead = replace(NE, error=Fault("crashed", "worker process killed by SIGKILL", "a hint"), redone=2)
    copies = (replace(NE, share=0.5), replace(NE, unit="CPU_AND_NE#2", share=0.5))
    after = {
        "well": document(),
        "died": document(replace(RESULT, units=(CPU, dead), redone=2)),
        "powered": document(energy=Energy(20.0, "", 2_400.0, "rapl")),
        "few": document(replace(RESULT, latencies=10, interrupted=True)),
        "copies": document(replace(RESULT, units=copies)),
    }
    of_the_command = {"hettop", "simulated", "model", "backend"}
    for name, told in before.items():
        known = {field: value for field, value in told.items() if field not in of_the_command}
        assert missing_or_changed(known, after[name]) == []


def test_the_page_reports_gain_ideal_order_and_why_there_is_no_energy() -> None:
    text = page()
    assert "Together 120/s: +20% over CPU_AND_NE alone, 80% of the sum of each alone; not proven" in text
    assert "the gain per round is" not in text, "the first sentence has it"
    assert "all in order; P50 10.0 ms, P90 20.0 ms until delivered in order" in text
    assert "reorder buffer held at most 7 of 64; 3 stolen" in text
    assert "energy n/a: no source" in text
    assert "slow each other down" in text


def test_calls_in_flight_on_one_unit_are_said_to_be_that() -> None:
    twice = (replace(NE, share=0.5), replace(NE, unit="CPU_AND_NE#2", share=0.5))
    text = page(replace(RESULT, units=twice))
    assert "in flight at once: 2 of CPU_AND_NE, one process each; alone: the first process by itself" in text
    assert "the calls in flight slow each other down" in text
    assert [each["copy"] for each in document(replace(RESULT, units=twice))["units"]] == [1, 2]
    assert "in flight" not in page()


def test_the_document_says_the_same() -> None:
    told = document()
    assert (told["gain"], told["of_ideal"], told["best"]) == (pytest.approx(0.2), pytest.approx(0.8), "CPU_AND_NE")
    assert told["gain_by_round"] == pytest.approx([0.1, 0.3, 0.2])
    assert (told["energy_mj_per_inference"], told["energy_why"]) == (None, "no source")
    assert told["p90_needs"] is None


def test_energy_is_reported_with_the_power_behind_it() -> None:
    """2.4 W at 120 a second are 20 mJ each."""
    energy = Energy(20.0, "", 2_400.0, "rapl")
    told = "energy 20.0 mJ/inference: 2,400 mW with all units running, measured by rapl"
    assert told in page(energy=energy)
    assert document(energy=energy)["mean_mw"] == 2_400.0


def test_a_unit_that_died_is_reported_with_what_became_of_its_work() -> None:
    dead = replace(NE, error=Fault("crashed", "worker process killed by SIGKILL"), redone=2)
    text = page(replace(RESULT, units=(CPU, dead), redone=2))
    assert text.startswith("CPU_AND_NE died: the other unit continues")
    assert "CPU_AND_NE: worker process killed by SIGKILL; 2 numbers that were completed by the others" in text
    assert "slow each other down" not in text  # that they do less has another reason
    result = coexec_result(replace(RESULT, units=(CPU, dead), redone=2), NONE)
    died = "CPU_AND_NE died: worker process killed by SIGKILL; 2 numbers were completed by the others"
    assert result.units[1].death == f"{died}; the remaining units continued"
    assert result.units[1].death in result.notes
    assert result.units[0].death is None
    recorded = CoexecResult.from_line(result.line())
    assert recorded.units[1].death in recorded.notes, "also shortened for a recording"


def test_a_unit_that_never_began_is_unknown_and_not_0() -> None:
    lost = UnitResult("CPU_AND_NE", None, 0.0, 0.0, error=Fault("load", "no such\x1b[2J thing", "use another"))
    result = replace(RESULT, units=(CPU, lost))
    text = page(result)
    assert text.startswith("CPU_AND_NE did not start: the other unit continues")
    assert "CPU_AND_NE: no such" in text
    assert "\x1b" not in text
    told = document(result)
    assert (told["units"][1]["alone_per_s"], told["of_ideal"], told["ideal_per_s"]) == (None, None, None)
    assert told["units"][1]["error"]["hint"] == "use another"


def test_few_latencies_and_an_interrupt_are_said() -> None:
    text = page(replace(RESULT, latencies=10, interrupted=True))
    assert "insufficient data for P90: 10 latencies, 64" in text
    assert "interrupted" in text
    assert document(replace(RESULT, latencies=10))["p90_needs"] == 64


@pytest.mark.parametrize("rounds", [1, 2])
def test_of_fewer_than_three_rounds_there_is_no_interval_and_no_conclusion(rounds: int) -> None:
    """Three rounds of three blocks of 250 ms, with 50 ms of rest each, are 2.7 s."""
    text = page(replace(RESULT, rounds=ROUNDS[:rounds]))
    assert "so there is no interval" in text
    assert "the gain has no interval (needs 3 rounds): inconclusive; measure for 3 s or longer" in text
    assert "slow each other down" not in text
    assert "no interval" not in page()


def test_the_time_for_three_rounds_is_that_of_usual_blocks_and_not_of_a_stretched_one() -> None:
    """One round of 9 s a block was all there was time for; of blocks of 10 s three take 90.45 s."""
    text = page(replace(RESULT, rounds=ROUNDS[:1], block_ms=9_000.0, shortest_ns=10 * 10**9))
    assert "measure for 91 s or longer" in text


def test_more_than_the_sum_of_each_alone_is_not_to_be_trusted() -> None:
    text = page(replace(RESULT, together_per_s=261.0))
    assert "together reaches 174% of the sum of each alone, which is impossible" in text
    assert "the machine's speed changed between blocks" in text
    assert any("measure again" in note for note in document(replace(RESULT, together_per_s=261.0))["notes"])
    assert "measure again" not in page(replace(RESULT, together_per_s=155.0))


def test_a_gain_of_rounds_of_either_sign_is_not_proven() -> None:
    alone = dict(ROUNDS[0].alone_per_s)
    text = page(replace(RESULT, rounds=(Round(alone, 66.0), *ROUNDS[1:])))
    assert "not proven: -34% to +30% per round" in text
    assert "not proven: +10% to +30% per round" in page(), "of three rounds"
    assert "not proven" not in page(replace(RESULT, rounds=RESULT.rounds * 2))


def test_without_a_block_of_all_there_is_no_rate() -> None:
    text = page(replace(RESULT, together_per_s=None, rounds=()))
    assert text.startswith("Together not yet measured: CPU_ONLY alone 50.0/s, CPU_AND_NE alone 100/s.")


def test_figures_units_and_the_course_are_kept() -> None:
    """50 and 100 alone, 120 together; 110, 130 and 120 in the three rounds."""
    told = found()
    assert (told.together_per_s, told.ideal_per_s, told.gain, told.of_ideal) == (120.0, 150.0, 0.2, 0.8)
    assert [(unit.unit, unit.alone_per_s, unit.share) for unit in told.units] == [
        ("CPU_ONLY", 50.0, 0.25),
        ("CPU_AND_NE", 100.0, 0.75),
    ]
    assert (told.together_by_round, told.best_by_round, told.ideal_by_round) == (
        [110.0, 130.0, 120.0],
        [100.0, 100.0, 100.0],
        [150.0, 150.0, 150.0],
    )
    assert (told.rounds, told.max_reorder, told.depth, told.steals, told.p90_ms) == (3, 7, 64, 3, 20.0)
    assert (told.energy_mj, told.energy_why, told.gain_why, told.p90_needs) == (None, "no source", None, None)


def test_a_dead_unit_is_reported_with_its_reason_and_what_others_did_for_it() -> None:
    dead = replace(NE, error=Fault("crashed", "killed\x1b[2J"), redone=2)
    told = found(units=(CPU, dead), redone=2, rounds=(*RESULT.rounds, Round({"CPU_ONLY": 50.0}, 49.0)))
    assert told.units[1].error == "killed\ufffd[2J"
    assert (told.units[1].redone, told.redone) == (2, 2)
    assert told.best_by_round == [100.0, 100.0, 100.0, None]
    assert told.ideal_by_round == [150.0, 150.0, 150.0, None]


def test_too_few_calls_are_reported_with_how_long_to_measure() -> None:
    """Four calls a block of a unit that does 50 a second: three blocks of 21 take 1.26 s, with rests 1.41 s."""
    told = found(units=(replace(CPU, alone_calls=12), NE))
    assert (told.gain, told.of_ideal) == (None, None)
    assert told.gain_why == (
        "insufficient data: 4.00 calls per block, 10 are needed to compare rates: measure for 2 s or longer"
    )


def test_however_long_it_goes_on_it_fits_a_line() -> None:
    rates = Round({"CPU_ONLY": 1234.56789, "CPU_AND_NE": 2345.678901}, 3456.789012)
    told = found(rounds=(rates,) * 240, rounds_done=100_000)
    assert len(told.together_by_round) == 120
    assert told.together_by_round[0] == 3456.79
    assert told.rounds == 100_000
    study = Study(t=1, name="coexec", state="running", elapsed_ns=1, found=told.line())
    assert len(msgspec.json.encode(study)) < 8_000


@pytest.mark.parametrize("broken", [{}, {"units": 5}, {"units": [{}]}])
def test_what_is_no_such_document_is_refused(broken: dict[str, Any]) -> None:
    with pytest.raises(HettopError, match="coexec returned an invalid result"):
        read_document("coexec", broken)


def power(end_s: float, mw: float) -> Power:
    """At so many seconds of the machine's clock."""
    return Power(t=round(end_s * S) - ORIGIN, source="rapl", elapsed_ns=S // 2, mw={"package": mw})


def test_the_sessions_power_of_the_blocks_of_all_gives_the_energy() -> None:
    """10 and 20 W inside, 90 W across a border: 15 W at 120 a second are 125 mJ."""
    spent = StudyPower(None, ORIGIN)
    for event in (power(10.6, 10_000), power(12.1, 90_000), power(21, 20_000)):
        spent.take(event)
    told = Study(t=1, name="coexec", state="running", elapsed_ns=1, found=found().line())
    completed = result_of(spent.completed(told, document(replace(RESULT, together_ns=BLOCKS))))
    assert isinstance(completed, CoexecResult)
    assert completed.energy_mj == pytest.approx(125)
    assert (completed.energy_why, completed.mean_mw, completed.power_source) == (None, 15_000, "rapl")


def test_without_power_the_sources_own_reason_is_reported() -> None:
    status = PowerStatus(t=0, source="none", state="unavailable", reason="rapl: no permission")
    told = Study(t=1, name="coexec", state="running", elapsed_ns=1, found=found().line())
    completed = result_of(StudyPower(status, ORIGIN).completed(told, document(replace(RESULT, together_ns=BLOCKS))))
    assert isinstance(completed, CoexecResult)
    assert (completed.energy_mj, completed.energy_why) == (None, "rapl: no permission")


def test_before_anything_is_known_there_is_nothing_to_complete() -> None:
    told = Study(t=1, name="coexec", state="running", elapsed_ns=1)
    assert StudyPower(None, 0).completed(told, None) is told
