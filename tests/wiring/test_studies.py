"""Studies: which there are, how they are called, and what becomes of the processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

from hettop.wiring.options import ModelOptions
from hettop.wiring.studies import Kind, Studies, kinds, model_arguments
from tests.engine.processes import gone, wait_for
from tests.load.fakes import ListedGuard

# Instead of hettop: says how it was called, and does what its first argument says.
STANDIN = """
import os, sys, time
print(sys.argv[1:], os.environ["COLUMNS"], flush=True)
if sys.argv[1] == "hang":
    time.sleep(1000)
sys.exit(3 if sys.argv[1] == "fail" else 0)
"""


@pytest.fixture
def guard() -> ListedGuard:
    return ListedGuard()


@pytest.fixture
def studies(guard: ListedGuard) -> Iterator[Studies]:
    made = Studies(ModelOptions("m.onnx"), guard, os.environ, (sys.executable, "-c", STANDIN))
    yield made
    made.stop()


def test_every_study_is_a_command_of_hettop_on_the_unit_that_is_looked_at() -> None:
    offered = {kind.name: kind.arguments for kind in kinds("ALL", ("CPU_ONLY", "ALL", "CPU_AND_NE"))}
    assert offered["layers"] == ("layers", "--unit", "ALL")
    assert offered["sweep"][:3] == ("sweep", "--units", "ALL")
    assert offered["coexec"] == ("coexec", "--units", "CPU_ONLY,ALL")
    assert "coexec" not in {kind.name for kind in kinds("CPU_ONLY", ("CPU_ONLY",))}, "one unit has nobody to help it"


def test_the_model_is_named_as_the_user_named_it() -> None:
    model = ModelOptions("m.onnx", "onnxruntime", "main", ("x=1,3",), ("x=7", "y=a.png"), ("h=v",), 5)
    assert model_arguments(model) == [
        *("m.onnx", "--backend", "onnxruntime", "--function", "main", "--shape", "x=1,3"),
        *("--input", "x=7", "--input", "y=a.png", "--hint", "h=v", "--seed", "5"),
    ]
    assert model_arguments(ModelOptions()) == ["mobilenetv2"]


@pytest.mark.parametrize(("does", "state"), [("work", "done"), ("fail", "failed, exit 3")])
def test_what_it_said_is_kept_with_what_became_of_it(
    studies: Studies, guard: ListedGuard, does: str, state: str
) -> None:
    kind = Kind("layers", "time by layer", (does,))
    assert [study.state for study in studies.states([kind], 0)] == ["not run"]
    studies.start(kind, 77, t=5)
    assert studies.states([kind], 9)[0].elapsed_ns == 4
    wait_for(studies.look, "it ends")
    (told,) = studies.states([kind], 9)
    assert (told.state, told.lines) == (state, (f"['{does}', 'm.onnx'] 77",))
    assert guard.pids == []
    assert not studies.look(), "it ends once"


def test_one_that_is_stopped_is_gone_and_was_not_run(studies: Studies, guard: ListedGuard) -> None:
    kind = Kind("layers", "time by layer", ("hang",))
    studies.start(kind, 77, t=0)
    pids = set(guard.pids)
    assert len(pids) == 1
    studies.stop()
    assert gone(pids)
    assert [study.state for study in studies.states([kind], 0)] == ["not run"]
