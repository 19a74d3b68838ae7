"""`hettop plan` from outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from hettop.events import Study
from hettop.studies.plan.result import PlanResult
from hettop.studies.registry import result_of
from tests.cli.running import HETTOP, assert_refused, called, hettop, hettop_process, one_document, plain_environment
from tests.processes.waiting import wait_for
from tests.record.stories import read
from tests.studies.plan.cutting import models
from tests.studies.plan.slicing.tables import fields

# Two layers that A runs in 7 and 1, B in 3 and 9; a slice costs 1 at each end.
CASE = fields(2, "AB", e=[[7, 3], [1, 9]], cin=[[1, 1]] * 2, cout=[[1, 1]] * 2)


def written(folder: Path, **changed: Any) -> str:
    path = folder / "costs.json"
    path.write_text(json.dumps({**CASE, **changed}))
    return str(path)


def test_the_document_is_the_cheapest_plan(tmp_path: Path) -> None:
    done = called("plan", "--costs", written(tmp_path), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = one_document(done.stdout)
    assert (document["plan"], document["cost"], document["objective"]) == ("B_1, A_2", 8.0, "latency")
    assert document["baselines"] == {"A preferred": 10.0, "B preferred": 14.0, "without communication": 8.0}
    assert document["planner_ms"] > 0


def test_other_searches_stand_beside_the_plan(tmp_path: Path) -> None:
    """Six plans, all of which can run: A, A-A, A-B, B, B-A, B-B cost 10, 12, 20, 14, 8 and 16."""
    done = called("plan", "--costs", written(tmp_path), "--json")
    assert one_document(done.stdout)["search"] == {
        "possible": 6.0,
        "exhaustive": True,
        "most_tried": 2_000_000,
        "optimum": 8.0,
        "optimum_plan": "B_1, A_2",
        "random_n": 6,
        "seed": 0,
        "random_best": 8.0,
        "random_plan": "B_1, A_2",
        "random_median": 13.0,
        "random_or_baseline": 8.0,
    }


def test_governors_are_compared_where_the_file_has_frequencies(tmp_path: Path) -> None:
    """Layers take 20 ms at 100 MHz and 10 at 200; always busy, at 200 MHz under either."""
    table = written(
        tmp_path, D=["L^100", "L^200"], e=[[20, 10]] * 2, cin=[[0, 0]] * 2, cout=[[0, 0]] * 2, P=[1, 5], unit="ms"
    )
    document = one_document(called("plan", "--costs", table, "--objective", "energy", "--json").stdout)
    assert document["cost"] == 40
    assert document["baselines"]["L preferred, performance governor"] == 100
    assert document["baselines"]["L preferred, on-demand governor"] == pytest.approx(100)
    page = called("plan", "--costs", table).stdout
    assert "on-demand governor: simulated" in page
    assert "energy per layer" not in page


def test_a_file_without_power_has_no_energy(tmp_path: Path) -> None:
    page = called("plan", "--costs", written(tmp_path)).stdout
    assert "energy per layer: n/a, the file has no power (P)" in page


def test_watts_change_the_plan_for_energy(tmp_path: Path) -> None:
    """B at 10 W: 10 mJ on A against (3 + 2) x 10 + 3."""
    document = one_document(
        called("plan", "--costs", written(tmp_path, P=[1, 10]), "--objective", "energy", "--json").stdout
    )
    assert (document["plan"], document["cost"], document["unit"]) == ("A_1", 10.0, "mJ")
    assert document["unit_told"] is True


def test_the_page_says_the_same(tmp_path: Path) -> None:
    done = called("plan", "--costs", written(tmp_path))
    assert "The plan: B_1, A_2 (latency 8.00 ms, layers: 2, candidate devices: 2, found in " in done.stdout


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"e": [[1, 1], [None, None]]}, "layer 2 runs on no device"),
        ({"e": [[1, 1]]}, "e has 1 entries for 2 layers"),
        ({"limit": {"Z\x1b[31m": 3}}, "unknown device"),
        ({"unit": "mJ"}, "cannot be used for the objective latency"),
    ],
)
def test_a_table_without_a_plan_is_refused(changed: dict[str, Any], words: str, tmp_path: Path) -> None:
    assert_refused(called("plan", "--costs", written(tmp_path, **changed)), words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--costs", "nowhere.json"), "file not found: nowhere.json"),
        (("--costs", "."), "not a regular file"),
        (("--costs", "x", "--objective", "beauty"), "invalid value of --objective"),
        (("m.onnx", "--costs", "x"), "has no effect with --costs"),
        (("--run", "--costs", "x"), "has no effect with --costs"),
        (("--stream", "--costs", "x"), "--stream has no effect with --costs"),
        (("--record", "x.jsonl", "--costs", "x"), "--record has no effect with --costs"),
        (("mobilenetv2", "--json", "--stream"), "use one of them"),
        (("--run-random", "5", "--costs", "x"), "--run-random has no effect with --costs"),
        (("mobilenetv2", "--run-random", "0", "--run"), "whole number of 1 to 10,000"),
        (("mobilenetv2", "--run-random", "5"), "no effect without --run"),
        (("nothing.onnx",), "model not found: nothing.onnx"),
        (("mobilenetv2", "--devices", "TPU"), "unknown unit"),
        (("mobilenetv2", "--backend", "simulated"), "per-layer costs"),
        (("mobilenetv2", "--objective", "energy"), "watts"),
    ],
)
def test_wrong_use_is_refused(arguments: tuple[str, ...], words: str) -> None:
    assert_refused(called("plan", *arguments), words)


def test_a_model_is_measured_planned_and_run_and_its_slices_answer_as_the_whole(tmp_path: Path) -> None:
    model = models.residual(tmp_path / "m.onnx")
    (folder := tmp_path / "empty").mkdir()
    slices = "CPU_ONLY@1_1, CPU_ONLY@2_3"
    done = hettop_process("plan", model, "--run", "--slices", slices, "--runs", "5", "--json", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    document = one_document(done.stdout)
    assert (document["plan"], document["given"]) == (slices, True)
    assert document["devices"][:2] == ["CPU_ONLY@1", "CPU_ONLY@2"]
    assert len(document["layers"]) >= 4
    run = document["run"]
    assert run["outputs_equal"] is True
    assert run["output_difference"] <= 1e-5
    assert len(run["slices"]) == 2
    assert all(each["measured_ms"] > 0 and each["predicted_ms"] > 0 for each in run["slices"])
    assert run["gain_ci"][0] <= run["gain"] <= run["gain_ci"][1]
    assert list(folder.iterdir()) == []


def test_random_plans_and_those_of_the_baselines_run_beside_it(tmp_path: Path) -> None:
    options = ("--devices", "CPU_ONLY@1", "--run", "--run-random", "3", "--runs", "3", "--warmup", "1", "--json")
    done = hettop("plan", models.residual(tmp_path / "m.onnx"), *options, "--slices", "CPU_ONLY@1_1, CPU_ONLY@1_2")
    others = one_document(done.stdout)["run"]["others"]
    assert others["random_n"] in (2, 3), "one may be the plan itself"
    assert others["n"] <= others["random_n"] + 2, "and one slice is what either baseline chooses"
    assert others["runs"] == 5
    assert others["gap"] == pytest.approx(others["plan_ms"] / others["best_ms"] - 1)
    assert others["estimation_error"] >= 0


def test_a_network_of_the_paper_is_planned_by_its_name() -> None:
    """MnasNet x0.5 of small images; the others of table I are larger."""
    document = one_document(
        hettop(
            "plan", "mnasnet-0.5:64x64", "--units", "cpu@1", "--runs", "2", "--warmup", "1", "--run", "--json"
        ).stdout
    )
    assert len(document["layers"]) == 55
    assert document["run"]["outputs_equal"] is True


@pytest.mark.parametrize(
    "name",
    [
        *("inceptionv4", "mnasnet", "mnasnet-1.3", "mobilenetv2-1.3", "mobilenetv2-1.4"),
        *("vgg16", "mnasnet-0.5", "resnet152v2"),
    ],
)
def test_networks_of_the_paper_are_built_in(name: str) -> None:
    assert name in {each["name"] for each in one_document(called("models", "--json").stdout)["models"]}


def test_the_best_plan_of_a_model_is_never_dearer_than_a_device_alone(tmp_path: Path) -> None:
    done = hettop("plan", models.residual(tmp_path / "m.onnx"), "--runs", "5", "--json")
    document = one_document(done.stdout)
    assert document["cost"] <= min(cost for cost in document["baselines"].values() if cost is not None) + 1e-9
    assert document["run"] is None


def test_a_limit_cuts_a_model_where_it_must(tmp_path: Path) -> None:
    """Each product holds 16 kB of weights: no slice of 25 kB holds two of them."""
    options = ("--devices", "CPU_ONLY@1", "--limit", "CPU_ONLY@1=0.025", "--runs", "3", "--run", "--json")
    document = one_document(hettop("plan", models.residual(tmp_path / "m.onnx"), *options).stdout)
    assert len(document["slices"]) == 4
    assert document["run"]["outputs_equal"] is True


def test_a_model_that_cannot_be_cut_is_refused(tmp_path: Path) -> None:
    assert_refused(hettop("plan", models.drawing(tmp_path / "m.onnx"), "--runs", "3"), "is random")


def test_a_measured_table_can_be_saved_extended_and_planned_again(tmp_path: Path) -> None:
    """A device a hundred times as fast that cannot do a softmax takes the rest, whatever was measured."""
    model, costs, more = models.residual(tmp_path / "m.onnx"), tmp_path / "costs.json", tmp_path / "more.json"
    more.write_text(
        json.dumps([{"name": "N^960", "like": "CPU_ONLY@1", "times": 0.01, "cut": [0, 0], "unsupported": ["Softmax"]}])
    )
    options = ("--devices", "CPU_ONLY@1", "--describe", str(more), "--save-costs", str(costs), "--runs", "5", "--json")
    document = one_document(hettop("plan", model, *options).stdout)
    assert document["described"] == ["N^960"]
    assert {part["device"] for part in document["slices"]} == {"CPU_ONLY@1", "N^960"}
    again = one_document(called("plan", "--costs", str(costs), "--json").stdout)
    assert (again["plan"], again["cost"]) == (document["plan"], pytest.approx(document["cost"]))
    assert_refused(called("plan", model, "--save-costs", str(costs)), "exists")
    assert_refused(called("plan", model, "--describe", str(more), "--run"), "only described")


DEVICES = ("--devices", "CPU_ONLY@1,CPU_ONLY@2", "--runs", "3", "--warmup", "1")


def test_a_stream_reports_how_far_it_is_and_the_plan_before_it_runs(tmp_path: Path) -> None:
    done = hettop("plan", models.residual(tmp_path / "m.onnx"), *DEVICES, "--run", "--stream")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    shares = [line["share"] for line in lines if line["share"] is not None]
    assert shares == sorted(shares)
    assert shares[-1] <= 1.0
    documents = [place for place, line in enumerate(lines) if line["document"] is not None]
    planned, ran = (lines[place]["document"] for place in documents)
    assert planned["run"] is None
    assert ran["plan"] == planned["plan"]
    assert ran["run"]["outputs_equal"] is True
    told = [line["doing"] for line in lines[: documents[0]]]
    assert told[1] == "profiling layers on CPU_ONLY@1, device 1 of 2"
    assert lines[documents[0] + 1]["doing"] == "cutting the model into the plan's slices"


def test_a_recording_holds_what_was_found(tmp_path: Path) -> None:
    path = tmp_path / "plan.jsonl"
    done = hettop("plan", models.residual(tmp_path / "m.onnx"), *DEVICES, "--run", "--json", "--record", str(path))
    document = one_document(done.stdout)
    events, _ = read(path)
    (study,) = [event for event in events if isinstance(event, Study)]
    assert (study.name, study.state) == ("plan", "done")
    result = result_of(study)
    assert isinstance(result, PlanResult)
    assert result.plan == document["plan"]
    assert result.cost == pytest.approx(document["cost"], rel=1e-5)
    assert result.run is not None
    page = hettop("report", str(path)).stdout
    assert "Slicing plan" in page
    assert document["plan"] in unescape(page.replace("\\", ""))
    assert_refused(called("plan", "mobilenetv2", *DEVICES, "--record", str(path)), "exists")


@pytest.mark.parametrize("command", [("plan", "--run", "--runs", "100000"), ("coexec", "--granularities")])
def test_sigkill_leaves_no_scratch_folder(command: tuple[str, ...], tmp_path: Path) -> None:
    """Killed while the measuring process has files open in it."""
    (scratch := tmp_path / "tmp").mkdir()
    name, *options = command
    with subprocess.Popen(
        [*HETTOP, name, models.residual(tmp_path / "m.onnx"), *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=plain_environment(TMPDIR=str(scratch)),
        start_new_session=True,
    ) as process:
        try:
            wait_for(lambda: any(scratch.glob("hettop-plan-*/*.onnx")), "it writes the model there")
        finally:
            os.killpg(process.pid, signal.SIGKILL)
    wait_for(lambda: not any(scratch.iterdir()), "nothing is left")
