"""Several candidates in turns, in real engine processes: all get their samples, and what fails is survived."""

from __future__ import annotations

import json
from pathlib import Path

import psutil
import pytest

from hettop.errors import HettopError
from hettop.events import Failure
from hettop.measurement.options import MeasureOptions
from hettop.measurement.rounds import (
    Candidate,
    Rounds,
    Trial,
    ran_out_of_memory,
    recorded_as,
    samples_of,
    statistics_of,
)
from hettop.measurement.setup import Setup
from hettop.models.ports import InputOptions
from hettop.models.resolve import ResolvedModel
from hettop.session.session import RAW_LIMIT
from hettop.sources.engine.backend import Clock
from tests.processes.waiting import wait_for
from tests.sources.engine import faulty

pytestmark = pytest.mark.slow


def candidate(name: str, faults: str = "", work: float = 0.0, backend: str = faulty.NAME) -> Candidate:
    model = ResolvedModel(name=faults, path=None, sha256="0" * 64)
    setup = Setup(
        model=model,
        backend=backend,
        simulated=False,
        units=("CPU_ONLY",),
        available=("CPU_ONLY",),
        absent={},
        inputs=InputOptions(),
        function=None,
    )
    return Candidate(name, setup, work=work)


def measured(
    candidates: list[Candidate], units: tuple[str, ...] = ("CPU_ONLY",), record: str | None = None, runs: int = 60
) -> list[Trial]:
    options = MeasureOptions(warmup=1, runs=runs, power="none", record=record)
    rounds = Rounds(candidates, units, options, raw_limit=RAW_LIMIT)
    shares = []

    def finished() -> bool:
        rounds.pump()
        shares.append(rounds.share_done)
        return rounds.finished

    try:
        wait_for(finished, "all candidates are measured")
    finally:
        rounds.close("done")
    assert shares[-1] == 1.0
    return rounds.trials


def test_candidates_take_turns_and_each_has_all_its_samples(tmp_path: Path) -> None:
    # Many: a busy machine pumps late, and a turn must not be enough because of that.
    trials = measured([candidate("a"), candidate("b")], record=str(tmp_path / "s.jsonl"), runs=1000)
    for trial in trials:
        row, samples = statistics_of(trial, "x"), samples_of(trial)
        assert row.n >= 1000
        assert row.error is None
        assert samples is not None
        assert samples.complete
        file = tmp_path / f"s-{trial.candidate.name}-CPU_ONLY.jsonl"
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        actions = [line["action"] for line in lines if line["k"] == "control"]
        assert actions[:3] == ["switch", "pause", "switch"], "one turn was not enough"
        assert "resume" in {line["phase"] for line in lines if line["k"] == "samples"}


class SlowBackend(faulty.FaultyBackend):
    """Its calls outlast a pump by far."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self._call_ns = 80_000_000


def test_no_two_candidates_run_at_once() -> None:
    """A turn ends when the last call has ended, not when it was asked to."""
    slow = [candidate(name, backend="tests.measurement.test_rounds:SlowBackend") for name in "ab"]
    rounds = Rounds(slow, ("CPU_ONLY",), MeasureOptions(warmup=0, runs=6, power="none"), raw_limit=RAW_LIMIT)
    running: set[frozenset[str]] = set()

    def finished() -> bool:
        rounds.pump()
        running.add(frozenset(trial.candidate.name for trial in rounds.trials if trial.busy and not trial.ended))
        return rounds.finished

    try:
        wait_for(finished, "both are measured")
    finally:
        rounds.close("done")
    assert {frozenset("a"), frozenset("b")} <= running
    assert frozenset("ab") not in running


def test_a_candidate_that_fails_is_a_row_with_the_reason_and_the_others_go_on() -> None:
    gone = Candidate("c", None, Failure(kind="input", message="its batch is fixed", hint="export it again"))
    trials = measured([candidate("a"), candidate("b", "CPU_ONLY refuse 0"), gone])
    rows = [statistics_of(trial, "faulty") for trial in trials]
    assert rows[0].n >= 60
    assert rows[1].error is not None
    assert (rows[1].n, rows[1].error.kind, rows[1].error.message) == (0, "format", "not a model")
    assert rows[2].error is not None
    assert (rows[2].n, rows[2].unit, rows[2].error.message) == (0, "CPU_ONLY", "its batch is fixed")
    assert rows[2].mean_ms is None
    assert rows[2].p90_needs == 64


def test_where_memory_ran_out_nothing_larger_is_tried_but_the_rest_is() -> None:
    trials = measured(
        [candidate("b2", "CPU_ONLY vanish 0", work=2), candidate("b1", work=1), candidate("b4", work=4)],
        units=("CPU_ONLY", "ALL"),
    )
    rows = {(trial.candidate.name, trial.unit): statistics_of(trial, "faulty") for trial in trials}
    assert rows["b1", "CPU_ONLY"].n >= 60
    killed, untried = rows["b2", "CPU_ONLY"].error, rows["b4", "CPU_ONLY"].error
    assert killed is not None
    assert "SIGKILL" in killed.message
    assert untried is not None
    assert (untried.kind, untried.message) == ("memory", "not tried: b2 ran out of memory")
    assert min(rows[name, "ALL"].n for name in ("b1", "b2", "b4")) >= 60, "on another unit it is another matter"


def test_samples_from_before_a_failure_are_kept_with_the_reason() -> None:
    (trial,) = measured([candidate("a", "CPU_ONLY refuse 30")])
    row = statistics_of(trial, "faulty")
    assert 0 < row.n < 60
    assert row.error is not None
    assert row.error.message == "not a model"


def test_interrupted_all_processes_end_and_what_there_is_stays() -> None:
    rounds = Rounds([candidate("a"), candidate("b")], ("CPU_ONLY",), MeasureOptions(runs=10**6), raw_limit=RAW_LIMIT)

    def some() -> bool:
        rounds.pump()
        return rounds.trials[0].steady[0] > 0

    wait_for(some, "the first candidate has samples")
    rounds.close("interrupted")
    assert rounds.finished
    assert statistics_of(rounds.trials[0], "faulty").n > 0
    rounds.close("again")


def test_a_recording_that_is_there_stops_it_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "s-b-CPU_ONLY.jsonl").write_text("an earlier one")
    options = MeasureOptions(runs=5, record=str(tmp_path / "s.jsonl"))
    with pytest.raises(HettopError, match="exists") as refused:
        Rounds([candidate("a"), candidate("b")], ("CPU_ONLY",), options, raw_limit=RAW_LIMIT)
    assert refused.value.kind == "io"
    assert [path.name for path in tmp_path.iterdir()] == ["s-b-CPU_ONLY.jsonl"]


@pytest.mark.parametrize(
    ("kind", "message", "memory"),
    [
        ("killed", "engine process killed by SIGKILL while loading", True),
        ("timeout", "engine process hung loading: nothing for 60.0 s, killed by SIGKILL", False),
        ("predict", "cannot run the model: Failed to allocate memory for requested buffer of size 9", True),
        ("load", "std::bad_alloc", True),
        ("load", "it : no such file", False),
    ],
)
def test_want_of_memory_is_reported_by_what_is_said(kind: str, message: str, memory: bool) -> None:
    assert ran_out_of_memory(Failure(kind=kind, message=message)) is memory


def test_each_trial_has_a_recording_of_its_own() -> None:
    assert recorded_as(None, "b4", "ALL") is None
    assert recorded_as("out/s.jsonl.zst", "448x448 b4", "CPU_ONLY@2") == str(
        Path("out/s-448x448-b4-CPU_ONLY@2.jsonl.zst")
    )


def test_all_candidates_share_one_reaper() -> None:
    """Each was a process of its own beside each engine."""
    options = MeasureOptions(warmup=0, runs=2000, power="none")
    before = len(psutil.Process().children())
    rounds = Rounds([candidate("a"), candidate("b"), candidate("c")], ("CPU_ONLY",), options, raw_limit=0)

    def all_are_loaded() -> bool:
        rounds.pump()
        return all(trial.steady[0] for trial in rounds.trials)

    try:
        wait_for(all_are_loaded, "each had a turn")
        assert len(psutil.Process().children()) == before + 3 + 1
    finally:
        rounds.close("done")


def test_engines_beyond_the_memory_budget_are_ended_between_their_turns(tmp_path: Path) -> None:
    """With room for none, no more than two are alive: the one that runs, and the one that is just ending."""
    options = MeasureOptions(warmup=0, runs=200, power="none")
    candidates = [candidate(name) for name in "abcd"]
    before = len(psutil.Process().children())
    rounds = Rounds(candidates, ("CPU_ONLY",), options, raw_limit=RAW_LIMIT, memory_mb=1.0)
    alive = []

    def finished() -> bool:
        rounds.pump()
        alive.append(len(psutil.Process().children()) - before - 1)  # but for the reaper
        return rounds.finished

    try:
        wait_for(finished, "all candidates are measured")
    finally:
        rounds.close("done")
    assert max(alive) <= 2
    assert [trial.steady[0] for trial in rounds.trials] == [200] * 4
    assert all(trial.error is None for trial in rounds.trials)
