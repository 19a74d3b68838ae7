"""`hettop plan --run` on Core ML's units, over the bench: slices really run, and what a unit cannot hold is shown."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import assert_refused, hettop, one_document, plain_environment
from tests.coreml.bench import Bench
from tests.processes.waiting import REPOSITORY

pytest.importorskip("coremltools", reason="coremltools is not installed")

from hettop.errors import HettopError
from hettop.exits import EXIT_FAILED
from hettop.studies.plan.cutting.coreml_child import CoreML
from hettop.studies.plan.cutting.messages import Subject
from tests.coreml.models import enumerated, neural_network
from tests.studies.plan.cutting import coreml_models as models

pytestmark = pytest.mark.slow

SHORT = ("--backend", "coreml", "--runs", "3", "--warmup", "1")
BOTH = ("--devices", "CPU_ONLY,CPU_AND_NE")


def planned(bench: Bench, folder: Path, model: Path | str, *options: str) -> Any:
    environment: dict[str, Any] = bench.environment({"PYTHONPATH": str(REPOSITORY)})
    environment |= {"XDG_CACHE_HOME": str(folder), "HOME": str(folder)}
    with bench.here():
        return hettop("plan", str(model), *SHORT, *options, **environment)


def test_a_plan_over_two_units_runs_and_its_outputs_are_those_of_the_whole(bench: Bench, tmp_path: Path) -> None:
    bench.behave(needs_inputs=1.0)
    model = models.residual(tmp_path / "m.mlpackage")
    done = planned(bench, tmp_path, model, *BOTH, "--run", "--slices", "CPU_AND_NE_1, CPU_ONLY_3", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = one_document(done.stdout)
    assert (document["plan"], document["estimated"]) == ("CPU_AND_NE_1, CPU_ONLY_3", True)
    assert [layer["name"] for layer in document["layers"]] == ["first", "second", "y"]
    for unit, whole in document["end_to_end_ms"].items():
        assert sum(layer["ms"][unit] for layer in document["layers"]) == pytest.approx(whole)
    assert {line["device"]: line["n"] for line in document["communication"]} == {"CPU_ONLY": 1, "CPU_AND_NE": 1}
    assert {layer["crossing_bytes"] for layer in document["layers"][:-1]} == {4 * 4 * 8 * 8}  # one size, one cut tried
    run = document["run"]
    assert (run["outputs_equal"], run["reference"], run["tolerance"]) == (True, "CPU_ONLY", 1e-5)
    assert run["output_difference"] <= 1e-5
    assert run["cut_difference"] <= 1e-5
    assert len(run["slices"]) == 2
    assert all(each["measured_ms"] > 0 for each in run["slices"])


def test_a_unit_that_rounds_is_allowed_as_much_as_it_rounds_alone_and_the_page_says_so(
    bench: Bench, tmp_path: Path
) -> None:
    bench.behave("CPU_AND_NE", noise_level=1e-4)
    model = models.chain(tmp_path / "m.mlpackage")
    done = planned(bench, tmp_path, model, *BOTH, "--run", "--slices", "CPU_ONLY_1, CPU_AND_NE_3")
    assert done.returncode == 0, done.stdout + done.stderr
    page = " ".join(done.stdout.split())
    assert "layer times are ESTIMATED" in page
    assert "the whole model on other units differs by: CPU_AND_NE" in page


def test_a_unit_that_answers_wrong_only_in_slices_is_an_error(bench: Bench, tmp_path: Path) -> None:
    """Turned round twice, the whole of two slices on a wrong unit would look right; one of them does not."""
    bench.behave("CPU_AND_NE", wrong=True)
    model = models.shared(tmp_path / "m.mlpackage")
    document = one_document(
        planned(bench, tmp_path, model, *BOTH, "--run", "--slices", "CPU_ONLY_1, CPU_AND_NE_2", "--json").stdout
    )
    assert document["run"]["apart"]["CPU_AND_NE"] > 0.1  # and the reader sees it
    assert document["run"]["cut_difference"] <= 1e-5


def test_a_model_that_a_unit_does_not_hold_makes_its_limit(bench: Bench, tmp_path: Path) -> None:
    model = models.residual(tmp_path / "m.mlpackage")  # 432 + 576 + 288 bytes of weights
    bench.behave("CPU_AND_NE", holds_bytes=1200).behave("ALL", holds_bytes=1200, die_when_full="SIGKILL")
    done = planned(bench, tmp_path, model, "--devices", "CPU_ONLY,CPU_AND_NE,ALL", "--json")
    assert done.returncode == 0, done.stderr
    document = one_document(done.stdout)
    assert document["end_to_end_ms"]["CPU_ONLY"] > 0
    for unit, why in (("CPU_AND_NE", "allocate memory"), ("ALL", "killed by SIGKILL while loading")):
        assert document["end_to_end_ms"][unit] is None
        assert document["singles"][unit] is None
        [note] = [note for note in document["notes"] if note.startswith(f"{unit} cannot load the whole model")]
        assert why in note
        assert "its limit is the largest part it loaded" in note


@pytest.mark.parametrize("command", [("plan",), ("plan", "--run", "--slices", "CPU_ONLY_1, CPU_AND_NE_3")])
def test_a_limit_on_files_is_said_to_be_what_is_in_the_way(
    command: tuple[str, ...], bench: Bench, tmp_path: Path
) -> None:
    """It is no limit of the unit, which is why nothing smaller is tried. 2 KiB, as `ulimit -f 2` sets it."""
    model = models.residual(tmp_path / "m.mlpackage")
    (scratch := tmp_path / "scratch").mkdir()
    limit = "import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))"
    program = f"{limit}; os.execv(sys.executable, [sys.executable, '-m', 'hettop', *sys.argv[1:]])"
    variables = bench.environment({"PYTHONPATH": str(REPOSITORY)})
    variables |= {"XDG_CACHE_HOME": str(tmp_path), "TMPDIR": str(scratch), "PYTHONDONTWRITEBYTECODE": "1"}
    name, *options = command
    done = subprocess.run(
        [sys.executable, "-c", program, name, str(model), *SHORT, *BOTH, *options],
        capture_output=True,
        text=True,
        check=False,
        env=plain_environment(**variables),
    )
    assert done.returncode == 3, done.stdout
    assert f"a scratch file could not be written to {scratch}" in done.stderr
    assert "ulimit -f" in done.stderr
    assert not any(scratch.iterdir())


def test_operations_that_fall_back_and_a_load_without_the_neural_engine_are_noted(bench: Bench, tmp_path: Path) -> None:
    refused = ["MILCompilerForANE error: refused", *["more"] * 100]
    bench.behave("CPU_AND_NE", on_cpu=["relu"], log_at_load=refused)
    document = one_document(planned(bench, tmp_path, models.chain(tmp_path / "m.mlpackage"), *BOTH, "--json").stdout)
    assert any("3 operations fall back from the Neural Engine (relu)" in note for note in document["notes"])
    [note] = [note for note in document["notes"] if "compiler failed" in note]
    assert note.startswith("CPU_AND_NE: the Neural Engine's compiler failed")


@pytest.mark.parametrize(("unit", "other"), [("CPU_AND_NE", "CPU_ONLY"), ("CPU_ONLY", "CPU_AND_NE")])
def test_a_plan_that_takes_its_process_down_costs_the_unit_its_slices_alone(
    unit: str, other: str, bench: Bench, tmp_path: Path
) -> None:
    bench.behave(unit, die_in_plan="SIGABRT")
    done = planned(bench, tmp_path, models.chain(tmp_path / "m.mlpackage"), *BOTH, "--run", "--json")
    assert done.returncode == 0, done.stderr
    document = one_document(done.stdout)
    assert document["end_to_end_ms"][unit] > 0, "it holds the model, and was measured"
    assert {layer["ms"][unit] for layer in document["layers"]} == {None}
    assert {piece["device"] for piece in document["slices"]} == {other}
    assert document["run"]["outputs_equal"] is True
    lost = "its plan could not be read (the plan reader killed by SIGABRT)"
    assert [note for note in document["notes"] if lost in note and note.startswith(unit)]


def test_without_any_plan_that_can_be_read_nothing_is_planned(bench: Bench, tmp_path: Path) -> None:
    bench.behave(die_in_plan="SIGABRT")
    done = planned(bench, tmp_path, models.chain(tmp_path / "m.mlpackage"), *BOTH)
    assert (done.returncode, done.stdout) == (EXIT_FAILED, "")
    assert "cannot read the compute plan: the plan reader killed by SIGABRT" in done.stderr


def test_a_load_that_hangs_is_ended_and_reported(bench: Bench, tmp_path: Path) -> None:
    bench.behave(hang_in_load=True)
    subject = Subject(model=str(models.two_outputs(tmp_path / "m.mlpackage")), devices=("CPU_ONLY",))
    environment = {**bench.environment(), "XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)}
    core_ml = CoreML(subject, {}, lambda _told: None, environment=environment, patience_s=3.0)
    with pytest.raises(
        HettopError, match=r"the measuring process hung (loading|compiling) the whole model on CPU_ONLY"
    ):
        core_ml.survey()


def test_a_load_that_its_time_limit_ended_is_a_hang_and_no_crash(tmp_path: Path) -> None:
    program = "import os, signal, sys; sys.stdin.readline(); os.kill(os.getpid(), signal.SIGALRM)"
    subject = Subject(model=str(models.two_outputs(tmp_path / "m.mlpackage")), devices=("CPU_ONLY",))
    core_ml = CoreML(subject, {}, lambda _told: None, argv=(sys.executable, "-c", program))
    with pytest.raises(HettopError, match="the measuring process hung starting"):
        core_ml.survey()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (models.one_layer, "single layer"),
        (models.scalar_between, "single layer"),
        (models.flexible, "is not fixed"),
        (enumerated, "is not fixed"),
        (models.random, "is random"),
    ],
)
def test_what_cannot_be_cut_is_refused(make: Callable[[Path], Path], words: str, bench: Bench, tmp_path: Path) -> None:
    assert_refused(planned(bench, tmp_path, make(tmp_path / "m.mlpackage"), *BOTH, "--run"), words)


def test_the_old_format_is_refused_with_a_reason(bench: Bench, tmp_path: Path) -> None:
    model = neural_network(tmp_path / "old.mlmodel")
    assert_refused(planned(bench, tmp_path, model, *BOTH), "NeuralNetwork format: only ML Programs can be cut")


def test_without_a_plan_nothing_is_estimated(bench: Bench, tmp_path: Path) -> None:
    bench.behave(plan="none")
    done = planned(bench, tmp_path, models.chain(tmp_path / "m.mlpackage"), *BOTH)
    assert done.returncode != 0
    assert json.dumps(done.stdout) == '""'
