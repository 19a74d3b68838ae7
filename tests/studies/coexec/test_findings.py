"""What a co-execution amounts to, in sentences."""

from __future__ import annotations

import msgspec

from hettop.studies.coexec.page import deaths, energy, further_notes, order, verdict
from tests.studies.coexecuted import BEGUN, DIED, FEW, FIRST, NOTHING, POWERED, UNEVEN, UNTRUE, WELL, WORSE


def test_the_verdict_is_rate_gain_and_share_of_the_ideal() -> None:
    gain = "Together 120/s: +20% over CPU_AND_NE alone, 80% of the sum of each alone"
    assert verdict(WELL) == f"{gain}; not proven: +10% to +30% per round.", "of three rounds"


def test_where_nothing_is_gained_it_says_so() -> None:
    assert verdict(WORSE).startswith("Together 90.0/s: no gain over CPU_AND_NE alone (-10%), 60% of")


def test_of_one_round_nothing_is_concluded() -> None:
    told = "Together 120/s: +20% over CPU_AND_NE alone, 80% of the sum of each alone; of a single round, so there is"
    assert verdict(FIRST) == f"{told} no interval."
    worse = msgspec.structs.replace(FIRST, together_per_s=66.0, gain=-0.34, of_ideal=0.44)
    assert "nothing gained" not in verdict(worse)


def test_a_gain_of_rounds_of_either_sign_is_not_proven() -> None:
    assert verdict(UNEVEN).endswith("80% of the sum of each alone; not proven: -10% to +60% per round.")


def test_more_than_the_sum_is_not_to_be_trusted() -> None:
    assert verdict(UNTRUE).endswith("174% of the sum of each alone; more than the sum is impossible: measure again.")


def test_an_unknown_gain_has_its_reason() -> None:
    assert verdict(FEW) == "Together 120/s; gain n/a: insufficient data: 5.00 calls a block."


def test_before_all_have_worked_it_reports_what_is_known_of_each() -> None:
    assert verdict(BEGUN) == "Together not yet measured: CPU_ONLY alone 50.0/s."
    assert verdict(NOTHING) == "Together not yet measured: the units are loading."
    assert order(NOTHING) == ""


def test_a_death_comes_first_with_what_the_others_do_now_and_what_all_did_until_then() -> None:
    assert verdict(DIED) == (
        "CPU_AND_NE died: the other unit continues, with 49.0/s in the last round. "
        "Until then together 120/s: +20% over CPU_AND_NE alone, 80% of the sum of each alone; "
        "not proven: +10% to +30% per round."
    )
    assert list(deaths(DIED)) == [
        "CPU_AND_NE: worker process killed by SIGKILL; 2 numbers that were completed by the others"
    ]
    assert further_notes(DIED) == ["CPU_AND_NE differs from CPU_ONLY"], (
        "the death is shown once, and no other note is lost"
    )


def test_of_a_unit_that_never_worked_with_the_others_there_is_no_until_then() -> None:
    units = [DIED.units[0], msgspec.structs.replace(DIED.units[1], share=0.0)]
    told = verdict(msgspec.structs.replace(DIED, units=units))
    assert "in the last round. Together 120/s: +20% over" in told


def test_a_unit_that_never_began_did_not_die() -> None:
    units = [DIED.units[0], msgspec.structs.replace(DIED.units[1], share=0.0, alone_per_s=None)]
    told = verdict(msgspec.structs.replace(DIED, units=units))
    assert told.startswith(
        "CPU_AND_NE did not start: the other unit continues, with 49.0/s in the last round. Together 120/s"
    )


def test_when_all_are_dead_nobody_goes_on() -> None:
    units = [msgspec.structs.replace(unit, error="killed") for unit in WELL.units]
    assert verdict(msgspec.structs.replace(WELL, units=units)).startswith(
        "CPU_ONLY and CPU_AND_NE died: no unit continues"
    )


def test_the_order_is_reported_with_its_price() -> None:
    told = order(WELL)
    assert told == (
        "5,000 results, all in order; P50 10.0 ms, P90 20.0 ms until delivered in order; reorder buffer held "
        "at most 7 of 64; 3 stolen"
    )
    assert "2 redone" in order(DIED)
    assert "NOT IN ORDER" in order(msgspec.structs.replace(WELL, in_order=False))
    assert "P90 20.0 ms (a guess)" in order(msgspec.structs.replace(WELL, p90_needs=64))


def test_energy_has_its_power_or_its_reason() -> None:
    assert energy(WELL) == "energy n/a: no power was measured"
    assert energy(POWERED) == ("energy 20.0 mJ/inference: 2,400 mW with all units running, measured by rapl")
