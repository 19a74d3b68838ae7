"""A sweep over loads on the simulated machine."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from hettop.events import End, Study
from hettop.measurement.measurement import Measurement
from hettop.measurement.options import MeasureOptions, ModelOptions
from hettop.measurement.setup import prepare
from hettop.session.session import RAW_LIMIT, Session
from hettop.session.statistics import Statistics, statistics
from hettop.sources.load.parts import parse_load
from hettop.studies.registry import result_of
from hettop.studies.sweep.loads import Sweep, SweepOptions
from hettop.studies.sweep.result import SweepResult
from tests.processes.waiting import wait_for
from tests.record.stories import read


def test_every_unit_gets_its_samples_under_every_load_and_rests_between(tmp_path: Path) -> None:
    setup = prepare(ModelOptions(backend="simulated"), ("CPU_AND_NE", "ALL"), 2)
    file = tmp_path / "sweep.jsonl"
    loads = tuple(parse_load(text) for text in ("none", "cpu:4", "gpu:1"))
    options = SweepOptions(loads=loads, runs=40, rest_ns=30_000_000)
    measure = MeasureOptions(warmup=0, interleave=True, record=str(file))
    sweep = Sweep(setup, measure, options, ("/home/me/net.onnx", "--runs", "40"), raw_limit=RAW_LIMIT)
    shares = []

    def finished() -> bool:
        sweep.pump()
        shares.append(sweep.share_done)
        return sweep.finished

    wait_for(finished, "the sweep is finished")
    sweep.close("done")
    counts = {(key.unit, key.load): condition.wall.n for key, condition in sweep.session.conditions.items()}
    assert set(counts) == {(unit, load) for unit in ("CPU_AND_NE", "ALL") for load in ("none", "cpu:4", "gpu:1")}
    assert min(counts.values()) >= 40
    assert shares == sorted(shares)
    assert (shares[-1], sweep.failed_loads) == (1.0, {})
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    told = [line["condition"] for line in lines if line["k"] == "load"]
    assert told == ["cpu:4", "none", "gpu:1"], "rests are without load"
    assert sum(line["k"] == "control" and line["action"] == "pause" for line in lines) == 2
    (study,) = [line for line in lines if line["k"] == "study"]
    assert (study["state"], study["arguments"]) == ("done", ["sweep", "net.onnx", "--runs", "40"])
    assert len(study["found"]["points"]) == 6
    assert_told_last_and_as_measured(sweep, file)


def test_alone_each_unit_has_a_step_of_its_own_with_its_cpu_use(tmp_path: Path) -> None:
    """A clock of the CPU that is busy for 3 s of each 4: 75%."""
    setup = prepare(ModelOptions(backend="simulated"), ("CPU_AND_NE", "ALL"), 2)
    options = SweepOptions(loads=(parse_load("none"), parse_load("cpu:4")), runs=20, alone=True)
    calls = iter((3.0 * n, 4.0 * n) for n in range(10**6))
    measure = MeasureOptions(warmup=0, interleave=True)
    sweep = Sweep(setup, measure, options, raw_limit=RAW_LIMIT, cpu_seconds=lambda: next(calls))
    orders: list[tuple[str, ...]] = []

    def finished() -> bool:
        sweep.pump()
        control = sweep.session.control
        units = () if control is None or control.paused else tuple(control.units)
        if units and (not orders or orders[-1] != units):
            orders.append(units)
        return sweep.finished

    wait_for(finished, "the sweep is finished")
    sweep.close("done")
    assert orders == [("CPU_AND_NE",), ("ALL",), ("CPU_AND_NE",), ("ALL",)]
    usage = sweep.result().usage
    assert [(each.units, each.load) for each in usage] == [
        (["CPU_AND_NE"], "none"),
        (["ALL"], "none"),
        (["CPU_AND_NE"], "cpu:4"),
        (["ALL"], "cpu:4"),
    ]
    assert {each.cpu_share for each in usage} <= {0.75, None}, "None where a step ends at its first samples"
    assert {each.missed_share for each in usage} == {None}, "a simulated machine has no canary"


def test_broken_off_it_reports_what_there_is_as_ended(tmp_path: Path) -> None:
    setup = prepare(ModelOptions(backend="simulated"), ("ALL",), 2)
    file = tmp_path / "sweep.jsonl"
    options = SweepOptions(loads=(parse_load("none"), parse_load("cpu:4")), runs=10**6)
    measure = MeasureOptions(warmup=0, interleave=True, record=str(file))
    sweep = Sweep(setup, measure, options, raw_limit=RAW_LIMIT)

    def some() -> bool:
        sweep.pump()
        return sweep.session.samples > 0

    wait_for(some, "there are samples")
    assert not sweep.resting
    sweep.close("interrupted")
    (study,) = [line for line in map(json.loads, file.read_text().splitlines()) if line["k"] == "study"]
    assert (study["state"], len(study["found"]["points"])) == ("ended", 1)
    assert_told_last_and_as_measured(sweep, file)


def assert_told_last_and_as_measured(sweep: Sweep, file: Path) -> None:
    """The last samples of the engines arrive while they end: what was found has them, as the recording has."""
    written, report = read(file)
    assert not report.skipped
    study, end = written[-2:]
    assert isinstance(study, Study), "nothing is measured, and nothing told but the end, after it"
    result = result_of(study)
    assert isinstance(result, SweepResult)
    assert isinstance(end, End)
    replayed = Session(RAW_LIMIT)
    for event in written:
        replayed.fold(event)
    told = {(point.unit, point.load): (point.n, point.p90_ms, point.mean_ms) for point in result.points}
    for session in (sweep.session, replayed):
        rows = sorted(
            statistics(session), key=lambda row: row.n
        )  # of thermal states that with most samples is reported
        assert told == {(row.unit, row.load): (row.n, rounded(row.p90_ms), rounded(row.mean_ms)) for row in rows}
    assert gathered(replayed) == gathered(sweep.session), "to the last digit"


def gathered(session: Session) -> list[Statistics]:
    """A file gathers windows of a second: causes of spikes may be reported later, a shift looked for elsewhere."""
    return [msgspec.structs.replace(row, spike_causes=None, drift=None) for row in statistics(session)]


def rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.6g}")


def test_a_recording_whose_last_word_fails_has_its_end_all_the_same(tmp_path: Path) -> None:
    setup = prepare(ModelOptions(backend="simulated"), ("ALL",), 2)
    file = tmp_path / "s.jsonl"
    options = MeasureOptions(power="none", record=str(file))
    measurement = Measurement(setup, options, rows=setup.units, raw_limit=RAW_LIMIT)

    def fails() -> Study:
        raise ValueError("nothing to tell")

    with pytest.raises(ValueError, match="nothing to tell"):
        measurement.close("done", fails)
    assert json.loads(file.read_text().splitlines()[-1])["k"] == "end"
