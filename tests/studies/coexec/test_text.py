"""A co-execution as a page and as a document."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hettop.studies.coexec.rates import Energy, Fault, Result, Round, UnitResult
from hettop.studies.coexec.text import coexec_document, coexec_text

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


def page(result: Result = RESULT, energy: Energy = NONE, width: int = 100) -> str:
    return " ".join(coexec_text("m", "onnxruntime", result, energy, width).split())


def document(result: Result = RESULT, energy: Energy = NONE) -> dict[str, Any]:
    return coexec_document({"name": "m"}, "onnxruntime", result, energy)


def test_the_page_tells_gain_ideal_order_and_why_there_is_no_energy() -> None:
    text = page()
    assert "together 120/s: +20% over CPU_AND_NE alone (+10% to +30% by round)" in text
    assert "what each does alone is 150/s; together reaches 80% of it" in text
    assert "left all in order; from handing out to leaving P50 10.0 ms, P90 20.0 ms" in text
    assert "at most 7 waited for an earlier one, in a buffer of 64; 3 numbers stolen" in text
    assert "energy per inference n/a: no source" in text
    assert "in each other's way" in text
    assert "SIMULATED" not in text


def test_calls_in_flight_on_one_unit_are_said_to_be_that() -> None:
    twice = (replace(NE, share=0.5), replace(NE, unit="CPU_AND_NE#2", share=0.5))
    text = page(replace(RESULT, units=twice))
    assert "in flight at once: 2 of CPU_AND_NE, in a process each; alone is what the first of them does" in text
    assert "the calls in flight are in each other's way" in text
    assert "together 120/s: +20% over CPU_AND_NE alone (+10% to +30% by round)" in text
    assert [each["copy"] for each in document(replace(RESULT, units=twice))["units"]] == [1, 2]
    assert "in flight" not in page()


def test_the_document_says_the_same() -> None:
    told = document()
    assert (told["gain"], told["of_ideal"], told["best"]) == (pytest.approx(0.2), pytest.approx(0.8), "CPU_AND_NE")
    assert told["gain_by_round"] == pytest.approx([0.1, 0.3, 0.2])
    assert (told["energy_mj_per_inference"], told["energy_why"]) == (None, "no source")
    assert told["p90_needs"] is None


def test_energy_is_told_with_the_power_behind_it() -> None:
    """2.4 W at 120 a second are 20 mJ each."""
    energy = Energy(20.0, "", 2_400.0, "rapl")
    assert "energy per inference 20.0 mJ: 2\u2009400 mW while all work, as rapl tells".replace("\u2009", " ") in page(
        energy=energy
    ).replace("\u2009", " ")
    assert document(energy=energy)["mean_mw"] == 2_400.0


def test_a_unit_that_died_is_told_with_what_became_of_its_work() -> None:
    dead = replace(NE, error=Fault("crashed", "worker process killed by SIGKILL"), redone=2)
    text = page(replace(RESULT, units=(CPU, dead), redone=2))
    assert "CPU_AND_NE died: worker process killed by SIGKILL; 2 numbers it had were done by the others" in text
    assert "in each other's way" not in text  # that they do less has another reason


def test_a_unit_that_never_began_is_unknown_and_not_0() -> None:
    lost = UnitResult("CPU_AND_NE", None, 0.0, 0.0, error=Fault("load", "no such\x1b[2J thing", "use another"))
    result = replace(RESULT, units=(CPU, lost))
    text = page(result)
    assert "CPU_AND_NE did not begin: no such" in text
    assert "\x1b" not in text
    told = document(result)
    assert (told["units"][1]["alone_per_s"], told["of_ideal"], told["ideal_per_s"]) == (None, None, None)
    assert told["units"][1]["error"]["hint"] == "use another"


def test_few_latencies_and_an_interrupt_are_said() -> None:
    text = page(replace(RESULT, latencies=10, interrupted=True))
    assert "a P90 needs 64 latencies, these are 10" in text
    assert "interrupted" in text
    assert document(replace(RESULT, latencies=10))["p90_needs"] == 64


@pytest.mark.parametrize("rounds", [1, 2])
def test_of_fewer_than_three_rounds_there_is_no_interval_and_no_conclusion(rounds: int) -> None:
    """Three rounds of three blocks of 250 ms, with 50 ms of rest each, are 2.7 s."""
    text = page(replace(RESULT, rounds=ROUNDS[:rounds]))
    assert "+20% over CPU_AND_NE alone (no interval)" in text
    assert "the gain has no interval: that takes 3 rounds; measure for 3 s or longer" in text
    assert "in each other's way" not in text
    assert "no interval" not in page()


def test_the_time_for_three_rounds_is_that_of_usual_blocks_and_not_of_a_stretched_one() -> None:
    """One round of 9 s a block was all there was time for; of blocks of 10 s three take 90.45 s."""
    text = page(replace(RESULT, rounds=ROUNDS[:1], block_ms=9_000.0, shortest_ns=10 * 10**9))
    assert "measure for 91 s or longer" in text


def test_more_than_the_sum_of_each_alone_is_not_to_be_trusted() -> None:
    text = page(replace(RESULT, together_per_s=261.0))
    assert "together reaches 174% of the sum of what each does alone, and more than that cannot be" in text
    assert "the machine's speed changed between blocks" in text
    assert any("not to be trusted" in note for note in document(replace(RESULT, together_per_s=261.0))["notes"])
    assert "not to be trusted" not in page(replace(RESULT, together_per_s=155.0))


def test_a_gain_of_rounds_of_either_sign_is_not_proven() -> None:
    alone = dict(ROUNDS[0].alone_per_s)
    text = page(replace(RESULT, rounds=(Round(alone, 66.0), *ROUNDS[1:])))
    assert "the gain is not proven: by round it is from -34% to +30%" in text
    assert "not proven" not in page()


def test_without_a_block_of_all_there_is_no_rate() -> None:
    text = page(replace(RESULT, together_per_s=None, rounds=()))
    assert "together n/a" in text


def test_simulated_figures_are_marked() -> None:
    assert page(replace(RESULT, simulated=True)).startswith("m · onnxruntime · SIMULATED")
    assert document(replace(RESULT, simulated=True))["simulated"] is True


@pytest.mark.parametrize("width", [40, 60, 100])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(map(len, coexec_text("m", "b", RESULT, NONE, width).splitlines())) <= width
