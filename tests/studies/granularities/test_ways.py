"""Ways to run in parallel: each serves the stream it is given, and a real model runs in all of them."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path

import pytest

from hettop.models.cache import ModelCache
from hettop.sources.engine.backend import RealClock
from hettop.studies.coexec.run_totals import Span
from hettop.studies.granularities.ways import (
    NAMES,
    BackToBack,
    Pipeline,
    SideBySide,
    compare,
    in_turns,
    together,
    within_block,
)
from hettop.studies.plan.cutting.messages import CompareJob, Subject
from tests.clocks import FakeClock
from tests.studies.plan.cutting import models

MS = 1_000_000


class Steady:
    """Inputs one after another that take so long each, on a clock that only they move."""

    def __init__(self, clock: FakeClock, latency: int, turns: list[int]) -> None:
        self._clock, self._latency, self._turns = clock, latency, turns

    def run(self, until: int) -> list[Span]:
        self._turns.append(self._latency // MS)
        return BackToBack(lambda: self._clock.pass_time(self._latency), self._clock).run(until)


def test_back_to_back_serves_what_begins_in_time_and_one_at_least() -> None:
    clock = FakeClock(moment=0)
    way = BackToBack(lambda: clock.pass_time(3), clock)
    assert way.run(7) == [(0, 3), (3, 6), (6, 9)]
    assert way.run(0) == [(9, 12)]


def test_rates_and_latencies_are_of_blocks_in_turns() -> None:
    """2 and 4 ms: 500 and 250 a second."""
    clock = FakeClock()
    turns: list[int] = []
    ways = {"quick": Steady(clock, 2 * MS, turns), "slow": Steady(clock, 4 * MS, turns)}
    (quick, slow), block_ns = in_turns(ways, 2_400 * MS, clock, warmup=2)
    assert [quick.name, slow.name] == ["quick", "slow"]
    assert [quick.per_s, quick.p50_ms] == pytest.approx([500, 2])
    assert [slow.per_s, slow.p90_ms] == pytest.approx([250, 4])
    assert quick.by_round == pytest.approx([500] * 4)
    assert block_ns == 250 * MS  # 2.4 s are four rounds of two blocks of 250 ms with rests of 50
    assert turns[-8:] == [2, 4, 4, 2, 2, 4, 4, 2]


def test_all_that_is_known_is_reported_after_each_block() -> None:
    """One round of two blocks."""
    clock = FakeClock()
    ways = {"quick": Steady(clock, 2 * MS, []), "slow": Steady(clock, 4 * MS, [])}
    told: list[tuple[str, float, list[str]]] = []
    in_turns(
        ways,
        600 * MS,
        clock,
        warmup=0,
        after_block=lambda text, done, rows, _block: told.append((text, done, [row.name for row in rows])),
    )
    text = "interleaving all ways, round 1 of 1"
    assert told == [(text, 0.5, ["quick"]), (text, 1.0, ["quick", "slow"])]


def test_the_first_call_of_a_block_counts_only_where_there_is_no_other() -> None:
    assert within_block([(0, 10), (10, 20), (20, 40)], 30) == (1.5, 20, [(10, 20), (20, 40)])
    assert within_block([(0, 50)], 30) == (1.0, 50, [(0, 50)])
    assert within_block([(0, 50), (10, 60)], 30) == (2.0, 60, [(0, 50), (10, 60)])


class AskedClock:
    """Moves on whenever it is asked: a busy machine is no later than an idle one."""

    def __init__(self) -> None:
        self._asked = itertools.count()

    def now(self) -> int:
        return next(self._asked)

    def sleep_until(self, moment: int) -> None:
        raise NotImplementedError


def test_a_pipeline_works_on_several_inputs_at_once_and_gives_each_back() -> None:
    """The first stage begins the second input while the last still holds the first: else both would wait for ever."""
    both = threading.Barrier(2, timeout=30)
    seen: list[int] = []
    begun = 0

    def first(values: dict[str, int]) -> dict[str, int]:
        nonlocal begun
        begun += 1
        if begun == 2:
            both.wait()
        return {**values, "number": begun}

    def last(values: dict[str, int]) -> dict[str, int]:
        if values["number"] == 1:
            both.wait()
        seen.append(values["number"])
        return values

    spans = Pipeline([first, last], {}, AskedClock()).run(10)
    assert seen == list(range(1, len(spans) + 1))
    assert len(spans) >= 2
    assert all(begin < end for begin, end in spans)


@pytest.mark.parametrize("broken", [0, 1, 2])
def test_a_stage_that_fails_ends_the_pipeline_with_its_reason(broken: int) -> None:
    def stage(index: int) -> object:
        def work(values: dict[str, int]) -> dict[str, int]:
            if index == broken:
                raise ValueError(f"stage {index}")
            return values

        return work

    with pytest.raises(ValueError, match=f"stage {broken}"):
        Pipeline([stage(index) for index in range(3)], {}, RealClock()).run(RealClock().now() + 5 * MS)  # type: ignore[misc]


def test_side_by_side_works_on_as_many_inputs_at_once_as_it_has_calls() -> None:
    met = threading.Barrier(3, timeout=30)
    spans = SideBySide([met.wait] * 3, RealClock()).run(0)
    assert len(spans) == 3


def test_a_model_runs_in_every_way(tmp_path: Path) -> None:
    subject = Subject(model=models.residual(tmp_path / "m.onnx"), devices=("CPU_ONLY@1",), warmup=1, runs=3)
    job = CompareJob(subject=subject, threads=2, duration_ns=500 * MS)
    found = compare(job, tmp_path, ModelCache(tmp_path / "cache", tmp_path / "cache2"), RealClock())
    assert tuple(row.name for row in found.rows) == NAMES
    assert all(row.per_s > 0 and row.p90_ms >= row.p50_ms > 0 and row.calls > 0 for row in found.rows)
    assert len(found.stages) == 2
    assert found.notes == ()


def test_a_model_of_one_layer_has_a_pipeline_of_one_stage_and_says_so(tmp_path: Path) -> None:
    subject = Subject(model=models.one_layer(tmp_path / "m.onnx"), devices=("CPU_ONLY@1",), warmup=1, runs=3)
    job = CompareJob(subject=subject, threads=2, duration_ns=300 * MS)
    found = compare(job, tmp_path, ModelCache(tmp_path / "cache", tmp_path / "cache2"), RealClock())
    assert found.stages == (1,)
    assert "limited to" in found.notes[0]


def test_every_thread_that_measures_has_a_workers_quality_of_service(monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[threading.Thread] = []
    measured: list[threading.Thread] = []
    monkeypatch.setattr(
        "hettop.studies.granularities.ways.set_worker_qos", lambda: raised.append(threading.current_thread())
    )
    together([lambda: measured.append(threading.current_thread())] * 3)
    assert len(measured) == 3
    assert set(raised) == set(measured)
