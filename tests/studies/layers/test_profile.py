"""ONNX Runtime's profile, read: which nodes ran, and their own time in the calls that count."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hettop.errors import HettopError
from hettop.studies.layers.profile import mean_of_the_middle, read_profile

Entry = dict[str, Any]


def node(name: str, start: int, duration: int, op: str = "Conv", index: int = 0, **sizes: str) -> Entry:
    args = {"op_name": op, "node_index": str(index), **sizes}
    return {"cat": "Node", "name": f"{name}_kernel_time", "ts": start, "dur": duration, "args": args}


def call(start: int, duration: int) -> Entry:
    return {"cat": "Session", "name": "model_run", "ts": start, "dur": duration, "args": {}}


def read(*entries: Entry, warmup: int = 0) -> dict[str, float]:
    return {each.name: each.ms for each in read_profile(json.dumps(entries), warmup)}


def test_a_node_has_its_mean_time_over_the_calls_that_count() -> None:
    """The first call, of a whole second, is left out; of 2 ms and 4 ms the mean is 3 ms."""
    first = [node("a", 0, 1_000_000), call(0, 1_000_000)]
    later = [node("a", 2_000_000, 2_000), call(2_000_000, 2_100), node("a", 3_000_000, 4_000), call(3_000_000, 4_100)]
    assert read(*first, *later, warmup=1) == {"a": 3.0}


def test_a_node_that_runs_twice_in_a_call_has_the_sum() -> None:
    assert read(node("a", 0, 1_000), node("a", 1_000, 2_000), call(0, 3_000)) == {"a": 3.0}


def test_a_loop_has_its_own_time_without_that_of_its_body() -> None:
    entries = [node("body", 10, 300), node("body", 320, 500), node("loop", 0, 1_000, "Loop"), call(0, 1_000)]
    assert read(*entries) == {"loop": 0.2, "body": 0.8}


def test_a_body_that_seems_to_end_after_its_loop_by_rounding_is_still_inside() -> None:
    assert read(node("body", 5, 5), node("loop", 0, 9, "Loop"), call(0, 20)) == {"loop": 0.004, "body": 0.005}


def test_a_node_that_begins_when_another_ends_is_not_inside_of_it() -> None:
    assert read(node("a", 0, 9), node("b", 9, 1), call(0, 20)) == {"a": 0.009, "b": 0.001}


def test_nodes_come_in_the_order_in_which_they_run_and_of_one_name_are_distinguished() -> None:
    entries = [node("x", 0, 1, index=7), node("x", 1, 2, index=8), call(0, 5)]
    found = read_profile(json.dumps(entries), 0)
    assert [(each.index, each.ms) for each in found] == [(7, 0.001), (8, 0.002)]


def test_bytes_are_those_that_the_runtime_reports() -> None:
    sized = node("a", 0, 1, activation_size="10", parameter_size="5", output_size="7")
    told, untold = read_profile(json.dumps([sized, node("b", 1, 1), call(0, 5)]), 0)
    assert (told.nbytes, untold.nbytes) == (22, None)


def test_what_runs_outside_of_a_call_and_other_kinds_of_events_do_not_count() -> None:
    other = {**node("a", 0, 1), "name": "a_fence_before"}
    assert read(other, node("a", 0, 1), call(100, 10)) == {}


@pytest.mark.parametrize("text", ["", "[", "{}", "[]", '[{"name": "model_run"}]', '[{"cat": "Node"}]', "[1]"])
def test_a_profile_that_was_cut_is_refused(text: str) -> None:
    with pytest.raises(HettopError, match="profile"):
        read_profile(text, 0)


def test_the_mean_of_the_middle_half_forgets_both_ends() -> None:
    assert mean_of_the_middle([1000, 2, 3, 1]) == 2.5
    assert mean_of_the_middle([7]) == 7
    assert mean_of_the_middle([1, 2]) == 1.5
