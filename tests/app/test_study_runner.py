"""A study's process: what it reports becomes events, and it leaves nothing behind."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from hettop.app.study_runner import StudyControl, StudyRunner
from hettop.events import Study
from hettop.measurement.options import ModelOptions
from hettop.studies.kinds import Kind
from hettop.studies.layers.result import LayersResult
from hettop.studies.registry import result_of
from tests.processes.waiting import gone, wait_for
from tests.sources.load.fakes import ListedGuard

SECOND = 10**9
LAYER = {"name": "conv1", "op": "Conv", "ms": 2.5, "share": 1.0, "macs": 1_000, "nbytes": 500, "bound": "compute"}
DOCUMENT = {
    "unit": "CPU_ONLY",
    "threads": 2,
    "estimated": False,
    "total_ms": 2.5,
    "end_to_end_ms": 2.75,
    "layers": [{**LAYER, "cache_resident": True}],
    "by_op": {"Conv": 1.0},
}
# Instead of hettop: prints its first argument, and waits for the file of the second where it shall.
STANDIN = f"""
import json, os, sys, time
def tell(**line):
    print(json.dumps(line), flush=True)
does = sys.argv[1]
tell(doing="measuring", share=0.25, document=None)
if does == "hang":
    time.sleep(1000)
if does == "fail":
    print("hettop: other words for people", file=sys.stderr)
    tell(failed=dict(kind="usage", message="no such unit", hint="name another"))
    sys.exit(2)
if does == "crash":
    print("Fatal: no memory", file=sys.stderr)
    sys.exit(2)
if does == "rubbish":
    print("not valid JSON")
if does == "other":
    tell(document={{"layers": 5}})
if does == "long":
    for _ in range(3):
        tell(doing="x" * 100_000, share=0.5, document=None)
if does in ("work", "long"):
    tell(document=json.loads({json.dumps(DOCUMENT)!r}))
"""


@pytest.fixture
def guard() -> ListedGuard:
    return ListedGuard()


@pytest.fixture
def studies(guard: ListedGuard) -> Iterator[StudyRunner]:
    made = StudyRunner(ModelOptions("m.onnx"), guard, os.environ, (sys.executable, "-c", STANDIN))
    yield made
    made.stop(0)


def kind(does: str) -> Kind:
    return Kind("layers", "time by layer", (does,))


def ended(studies: StudyRunner, t: int) -> Study:
    found: list[Study] = []

    def look() -> bool:
        told = studies.poll(t)
        found.extend([told] if told is not None and told.state != "running" else [])
        return bool(found)

    wait_for(look, "it ends")
    return found[0]


@pytest.mark.parametrize(("name", "passed_on"), [("coexec", True), ("layers", False)])
def test_strict_is_passed_to_studies_that_place_the_model(name: str, passed_on: bool, guard: ListedGuard) -> None:
    words = "dict(failed=dict(kind='usage', message=' '.join(sys.argv[1:]), hint=''))"
    code = f"import json, sys; print(json.dumps({words})); sys.exit(2)"
    model = ModelOptions("m.onnx", strict=True)
    made = StudyRunner(model, guard, os.environ, (sys.executable, "-c", code))
    made.start(Kind(name, "words", (name,)), 0)
    told = ended(made, 1)
    made.stop(0)
    assert told.error is not None
    assert ("--strict" in told.error.message) is passed_on


def test_what_it_found_comes_with_its_end(studies: StudyRunner, guard: ListedGuard) -> None:
    began = studies.start(kind("work"), 5)
    assert (began.state, began.t, began.elapsed_ns, began.arguments) == ("running", 5, 0, ["work"])
    told = ended(studies, 9)
    assert (told.state, told.elapsed_ns, told.error) == ("done", 4, None)
    result = result_of(told)
    assert isinstance(result, LayersResult)
    (layer,) = result.layers
    assert (layer.name, layer.ms, layer.oi, layer.gflops) == ("conv1", 2.5, 2.0, 8e-4)
    assert guard.pids == []
    assert studies.poll(9) is None, "it ends once"


@pytest.mark.parametrize(
    ("does", "message"),
    [
        ("fail", "no such unit"),
        ("crash", "the study exited with status 2 without a message"),
        ("rubbish", "invalid output of the study"),
        ("other", "layers returned an invalid result"),
    ],
)
def test_one_that_fails_says_why_in_its_own_words(studies: StudyRunner, does: str, message: str) -> None:
    studies.start(kind(does), 0)
    told = ended(studies, 1)
    assert told.state == "failed"
    assert told.error is not None
    assert told.error.message.startswith(message)
    if does == "fail":
        assert (told.error.kind, told.error.hint, told.error.log) == ("usage", "name another", [])
    if does == "crash":
        assert told.error.log == ["Fatal: no memory"]


def test_one_that_says_nothing_has_no_answer(studies: StudyRunner) -> None:
    studies.start(kind("nothing"), 0)
    told = ended(studies, 1)
    assert told.state == "failed"
    assert told.error is not None
    assert told.error.message == "the study ended without a result"


def test_how_far_it_is_is_reported_at_most_each_second(studies: StudyRunner) -> None:
    studies.start(kind("hang"), 0)
    assert studies.poll(SECOND - 1) is None
    told: list[Study] = []

    def look() -> bool:
        told.extend(filter(None, [studies.poll(SECOND)]))
        return bool(told)

    wait_for(look, "it tells")
    assert (told[0].state, told[0].doing, told[0].share, told[0].elapsed_ns) == ("running", "measuring", 0.25, SECOND)
    assert studies.poll(SECOND) is None, "it has told nothing new"


def test_one_that_reports_more_than_a_pipe_holds_need_not_wait_for_a_second_to_pass(studies: StudyRunner) -> None:
    studies.start(kind("long"), 0)
    assert ended(studies, 1).state == "done"


def test_one_that_is_stopped_is_gone(studies: StudyRunner, guard: ListedGuard) -> None:
    studies.start(kind("hang"), 0)
    pids = set(guard.pids)
    assert len(pids) == 1
    told = studies.stop(7)
    assert gone(pids)
    assert told is not None
    assert (told.state, told.elapsed_ns) == ("ended", 7)
    assert studies.stop(7) is None


def test_no_study_is_offered_for_the_model_of_a_server() -> None:
    setup = SimpleNamespace(backend="server", simulated=False, available=("SERVER",))
    measurement: Any = SimpleNamespace(setup=setup, reaper=None)
    unused: Any = None
    control = StudyControl(measurement, unused, unused, ModelOptions(model="http://localhost:1/v1"), unused)
    offers = control.studies()
    assert {offer.reason for offer in offers} == {"needs a model file: a server's model cannot be opened from here"}
    assert len(offers) > 1
