"""A measurement without a screen, on the simulated machine: how many samples of which unit, and what is recorded."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.measurement.headless import Headless
from hettop.measurement.options import MeasureOptions, ModelOptions
from hettop.measurement.setup import Setup, prepare
from hettop.session.log import in_words
from hettop.session.session import RAW_LIMIT, Session
from hettop.session.statistics import Statistics, statistics
from tests.processes.waiting import wait_for

NE_AND_ALL = ("CPU_AND_NE", "ALL")


@pytest.fixture(scope="module")
def setup() -> Setup:
    return prepare(ModelOptions(backend="simulated"), NE_AND_ALL, 2)


def measured(setup: Setup, options: MeasureOptions) -> Session:
    headless = Headless(setup, options, raw_limit=RAW_LIMIT)

    def finished() -> bool:
        headless.pump()
        return headless.finished

    wait_for(finished, "the measurement is finished")
    headless.close("done")
    return headless.session


def rows_of(session: Session) -> dict[str, Statistics]:
    return {row.unit: row for row in statistics(session)}


def test_units_run_one_after_another_with_exactly_the_samples_asked_for_and_are_recorded(
    setup: Setup, tmp_path: Path
) -> None:
    file = tmp_path / "r.jsonl"
    headless = finished(setup, MeasureOptions(warmup=3, runs=150, record=str(file)))
    assert headless.fewest_turns is None
    session = headless.session
    assert_recorded(file, session, runs=150)
    rows = rows_of(session)
    assert list(rows) == list(NE_AND_ALL)
    for row in rows.values():
        assert row.n == 150
        assert row.exact
        assert len(row.warmup_ms) == 3
        assert row.first_ms is not None
        assert row.load_ms is not None
        assert row.simulated
    actions = [entry.text for entry in map(in_words, session.log) if entry.kind == "control"]
    assert actions == ["unit → CPU_AND_NE", "unit → ALL"]


def finished(setup: Setup, options: MeasureOptions) -> Headless:
    headless = Headless(setup, options, raw_limit=RAW_LIMIT)

    def over() -> bool:
        headless.pump()
        return headless.finished

    wait_for(over, "the measurement is finished")
    headless.close("done")
    return headless


def test_while_power_is_measured_a_turn_is_four_of_its_samples_and_short_runs_have_one(setup: Setup) -> None:
    """Samples of power come every 500 ms; a hundred samples take a tenth of a second."""
    turns = finished(setup, MeasureOptions(warmup=0, runs=100, interleave=True)).fewest_turns
    assert turns is not None
    assert (turns.n, turns.block_ns, turns.by_power) == (1, 2_000_000_000, True)


def test_without_power_turns_are_short(setup: Setup) -> None:
    turns = finished(setup, MeasureOptions(warmup=0, runs=100, interleave=True, power="none")).fewest_turns
    assert turns is not None
    assert (turns.n, turns.block_ns, turns.by_power) == (1, 250_000_000, False)


def test_interleaved_units_take_turns_that_are_counted_by_the_verdicts_rule_and_reach_the_same_count(
    setup: Setup, tmp_path: Path
) -> None:
    file = tmp_path / "turns.jsonl"
    options = MeasureOptions(warmup=0, runs=1500, interleave=True, power="none", record=str(file))
    headless = finished(setup, options)
    counted = headless.fewest_turns
    assert counted is not None
    assert counted.n == min(unit.apart["resume"] for unit in headless.session.units.values()) > 1
    assert {unit: row.n for unit, row in rows_of(headless.session).items()} == {"CPU_AND_NE": 1500, "ALL": 1500}
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    steady = sorted(
        (line["t0"], line["unit"]) for line in lines if line["k"] == "samples" and line["phase"] == "steady"
    )
    turns = [unit for unit, _ in itertools.groupby(unit for _, unit in steady)]
    assert len(turns) > 2, "1500 samples take longer than one block of 250 ms"
    assert any(line["k"] == "samples" and line["phase"] == "resume" for line in lines)


def test_a_duration_is_of_steady_time(setup: Setup) -> None:
    session = measured(setup, MeasureOptions(warmup=0, duration_ns=200_000_000))
    for condition in session.conditions.values():
        # Up to the end of the last sample that began in time; a spike of this machine is far below 200 ms.
        assert 150_000_000 < condition.active_ns < 400_000_000


def test_paced_units_are_reported_as_such(setup: Setup) -> None:
    session = measured(setup, MeasureOptions(warmup=0, runs=40, rate_hz=200.0))
    assert session.control is not None
    assert (session.control.mode, session.control.rate_hz) == ("paced", 200.0)
    for row in rows_of(session).values():
        assert row.response_p90_ms is not None
        assert row.deadline_misses is not None
        assert row.deadline_misses.limit_ms == 5.0


def test_under_load_only_samples_of_that_load_count(setup: Setup) -> None:
    session = measured(setup, MeasureOptions(warmup=0, runs=50, load="memory:1@50%+cpu:2"))
    assert {key.load for key in session.conditions} == {"cpu:2+memory:1@50%"}
    assert [row.n for row in rows_of(session).values()] == [50, 50]


def assert_recorded(file: Path, session: Session, runs: int) -> None:
    """The recording holds what the session has."""
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert lines[0]["simulated"] is True
    assert lines[0]["host"]["chip"] == "simulated Apple M2"
    assert lines[0]["settings"]["runs"] == runs
    assert lines[-1]["k"] == "end"
    assert sum(line["n"] for line in lines if line["k"] == "samples") == session.samples
    times = [line["t"] for line in lines]
    assert times == sorted(times)


def test_a_unit_that_fails_does_not_hold_up_the_others(tmp_path: Path) -> None:
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"no model at all")
    setup = prepare(ModelOptions(model=str(broken)), ("CPU_ONLY@1", "CPU_ONLY@2"), 2)
    session = measured(setup, MeasureOptions(runs=5))
    assert [(row.n, row.error.kind if row.error else None) for row in statistics(session)] == [(0, "format")] * 2


def test_wrong_use_ends_before_a_file_is_made(setup: Setup, tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    real = prepare(ModelOptions(), ("CPU_ONLY",), 2)
    for chosen, load, kind in ((real, "gpu:1", "load-unavailable"), (setup, "cpu:0", "usage")):
        with pytest.raises(HettopError) as caught:
            Headless(chosen, MeasureOptions(load=load, record=str(file)), raw_limit=0)
        assert caught.value.kind == kind
    assert not file.exists()


def test_closing_early_keeps_what_was_measured(setup: Setup, tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    headless = Headless(setup, MeasureOptions(warmup=0, runs=10**6, record=str(file)), raw_limit=0)

    def some() -> bool:
        headless.pump()
        time.sleep(0.01)
        return headless.session.samples > 20

    wait_for(some, "there are samples")
    closed = headless.close("interrupted")
    assert closed is not None
    assert closed.samples == headless.session.samples
    assert json.loads(file.read_text().splitlines()[-1])["why"] == "interrupted"
    assert headless.close("again") is None


MEASURED = """
import sys
from hettop.measurement.headless import Headless
from hettop.measurement.options import MeasureOptions, ModelOptions
from hettop.measurement.setup import prepare

setup = prepare(ModelOptions(backend="simulated"), ("CPU_AND_NE", "ALL"), 2)
headless = Headless(setup, MeasureOptions(warmup=0, runs=50, interleave=True, record=sys.argv[1]), raw_limit=1000)
while not headless.finished:
    headless.pump()
headless.close("done")
print(headless.finished, *{"textual", "scipy", "hettop.analysis.advice", "hettop.app"} & sys.modules.keys())
"""


def test_it_needs_no_screen_no_statistics_library_and_no_advice(tmp_path: Path) -> None:
    """Each would take time from what is measured."""
    command = [sys.executable, "-c", MEASURED, str(tmp_path / "r.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"]
