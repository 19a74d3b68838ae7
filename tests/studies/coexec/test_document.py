"""What `hettop coexec` tells, as a line of the stream: worked by hand, small enough, and with the session's power."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from hettop.app.pause_controller import StudyPower
from hettop.errors import HettopError
from hettop.events import Power, PowerStatus, Study
from hettop.studies.coexec.rates import Energy, Fault, Round
from hettop.studies.coexec.result import CoexecResult
from hettop.studies.coexec.text import coexec_document
from hettop.studies.reading import found_of
from hettop.studies.registry import result_of
from tests.studies.coexec.test_text import CPU, NE, RESULT

S = 10**9
BLOCKS = ((10 * S, 12 * S), (20 * S, 22 * S))
ORIGIN = 5 * S  # of the session, on the machine's clock


def document(**changes: Any) -> dict[str, Any]:
    return coexec_document({"name": "m"}, "onnxruntime", replace(RESULT, **changes), Energy(None, "no source"))


def found(**changes: Any) -> CoexecResult:
    read = found_of("coexec", document(**changes))
    assert isinstance(read, CoexecResult)
    return read


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


def test_a_dead_unit_is_told_with_its_reason_and_what_others_did_for_it() -> None:
    dead = replace(NE, error=Fault("crashed", "killed\x1b[2J"), redone=2)
    told = found(units=(CPU, dead), redone=2, rounds=(*RESULT.rounds, Round({"CPU_ONLY": 50.0}, 49.0)))
    assert told.units[1].error == "killed\ufffd[2J"
    assert (told.units[1].redone, told.redone) == (2, 2)
    assert told.best_by_round == [100.0, 100.0, 100.0, None]
    assert told.ideal_by_round == [150.0, 150.0, 150.0, None]


def test_too_few_calls_are_told_with_how_long_to_measure() -> None:
    """Four calls a block of a unit that does 50 a second: three blocks of 21 take 1.26 s, with rests 1.41 s."""
    told = found(units=(replace(CPU, alone_calls=12), NE))
    assert (told.gain, told.of_ideal) == (None, None)
    assert told.gain_why == (
        "rates stand on 4.00 calls a block, and 10 are needed to compare them: measure for 2 s or longer"
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
    with pytest.raises(HettopError, match="coexec told what cannot be read"):
        found_of("coexec", broken)


def power(end_s: float, mw: float) -> Power:
    """At so many seconds of the machine's clock."""
    return Power(t=round(end_s * S) - ORIGIN, source="rapl", elapsed_ns=S // 2, mw={"package": mw})


def test_the_sessions_power_of_the_blocks_of_all_gives_the_energy() -> None:
    """10 and 20 W inside, 90 W across a border: 15 W at 120 a second are 125 mJ."""
    spent = StudyPower(None, ORIGIN)
    for event in (power(10.6, 10_000), power(12.1, 90_000), power(21, 20_000)):
        spent.take(event)
    told = Study(t=1, name="coexec", state="running", elapsed_ns=1, found=found().line())
    completed = result_of(spent.completed(told, document(together_ns=BLOCKS)))
    assert isinstance(completed, CoexecResult)
    assert completed.energy_mj == pytest.approx(125)
    assert (completed.energy_why, completed.mean_mw, completed.power_source) == (None, 15_000, "rapl")


def test_without_power_the_sources_own_reason_is_told() -> None:
    status = PowerStatus(t=0, source="none", state="unavailable", reason="rapl: no permission")
    told = Study(t=1, name="coexec", state="running", elapsed_ns=1, found=found().line())
    completed = result_of(StudyPower(status, ORIGIN).completed(told, document(together_ns=BLOCKS)))
    assert isinstance(completed, CoexecResult)
    assert (completed.energy_mj, completed.energy_why) == (None, "rapl: no permission")


def test_before_anything_is_known_there_is_nothing_to_complete() -> None:
    told = Study(t=1, name="coexec", state="running", elapsed_ns=1)
    assert StudyPower(None, 0).completed(told, None) is told
