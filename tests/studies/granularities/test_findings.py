"""What ways to run in parallel come to: best for latency, best for rate."""

from __future__ import annotations

import msgspec

from hettop.studies.granularities.result import GranularityRow, by_load, granularity_sentences, what_runs
from tests.studies.planned import EMPTY_WAYS, WAYS


def test_what_is_best_is_reported_for_each_load_under_which_something_was_measured() -> None:
    assert list(granularity_sentences(WAYS)) == [
        "Without load: best latency: one thread alone (10.0 ms); best throughput: task (160 "
        "inferences/s, 1.60x one thread; each "
        "result takes 50% longer).",
        "Load cpu:1: intra-operator has the best latency and throughput: 9.00 ms and 108 "
        "inferences/s, 1.20x one thread.",
    ]
    assert list(granularity_sentences(EMPTY_WAYS)) == []


def test_what_was_not_found_to_be_best_is_not_named() -> None:
    """Only one of both, or none: the lowest figure alone names nobody."""
    single, intra, task = WAYS.rows[:3]

    def told(*rows: GranularityRow) -> str:
        return next(granularity_sentences(msgspec.structs.replace(WAYS, rows=list(rows))))

    no_rate = msgspec.structs.replace(task, highest_rate=False)
    no_latency = msgspec.structs.replace(single, lowest_latency=False)
    assert told(no_latency, intra, no_rate) == "Without load: the best way is not proven: measure longer."
    assert told(single, intra, no_rate) == (
        "Without load: best latency: one thread alone (10.0 ms); best throughput: not proven (measure longer)."
    )
    assert told(no_latency, intra, task) == (
        "Without load: best latency: not proven (measure longer); best throughput: task (160 "
        "inferences/s, 1.60x one thread)."
    )


def test_rows_are_gathered_by_their_loads() -> None:
    assert {load: len(rows) for load, rows in by_load(WAYS).items()} == {"none": 3, "cpu:1": 2, "memory:2": 1}


def test_what_runs_is_reported_of_the_ways_that_are_known() -> None:
    assert what_runs("sub-graph", 2, [26, 29]) == "slices of 26 + 29 layers as a pipeline"
    assert what_runs("task", 4, []) == "4 inputs in parallel, one thread each"
    assert what_runs("{0.__class__}", 2, []) == ""
