"""OpenVINO's CPU device beside ONNX Runtime's own engine, in the commands that compare units."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from onnx import helper

from tests.cli.running import hettop
from tests.sources.engine.backends import onnx_files
from tests.sources.engine.backends.onnx_files import FLOAT
from tests.sources.engine.backends.test_onnx_core_ml import three_nodes
from tests.sources.engine.providers.openvino import needs_openvino

pytestmark = needs_openvino

BOTH = ("--units", "cpu,ov:cpu")


def run(*arguments: str) -> Any:
    done = hettop(*arguments, "--json", HETTOP_PROVIDERS="OV")
    assert done.returncode in (0, 4), done.stderr  # 4: undecided
    return json.loads(done.stdout)


def test_bench_measures_it_in_turns_and_compares_its_outputs_with_the_cpus(tmp_path: Path) -> None:
    path = three_nodes(tmp_path / "m.onnx")
    found = run("bench", path, *BOTH, "--interleave", "-n", "20", "--power", "none")
    by_unit = {row["unit"]: row for row in found["conditions"]}
    assert {unit: row["n"] for unit, row in by_unit.items()} == {"CPU_ONLY": 20, "OV:CPU": 20}
    assert by_unit["OV:CPU"]["placed"] == "OpenVINO CPU, 3 nodes in 1 partition"
    assert by_unit["OV:CPU"]["provider_nodes"] == [
        {"provider": "OpenVINOExecutionProvider", "nodes": 3, "partitions": 1}
    ]
    assert by_unit["OV:CPU"]["output_reference"] == "CPU_ONLY"
    assert 0 <= by_unit["OV:CPU"]["output_difference"] < 0.1


def test_strict_fails_the_unit_that_leaves_a_node_to_the_cpu_and_no_other(tmp_path: Path) -> None:
    nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Det", ["a"], ["y"])]
    path = onnx_files.save(tmp_path / "m.onnx", nodes, [("x", FLOAT, (1, 3, 3))], [("y", FLOAT, (1,))])
    rows = run("bench", path, *BOTH, "-n", "5", "--strict", "--power", "none")["conditions"]
    errors = {row["unit"]: row["error"] for row in rows}
    assert errors["CPU_ONLY"] is None
    assert errors["OV:CPU"]["kind"] == "placement"
    assert errors["OV:CPU"]["message"] == "OpenVINO does not run the whole model: it runs 1 of 2 nodes"


def test_coexec_shares_a_stream_between_both(tmp_path: Path) -> None:
    found = run("coexec", three_nodes(tmp_path / "m.onnx"), "--units", "cpu@1,ov:cpu", "--duration", "2s")
    assert [unit["unit"] for unit in found["units"]] == ["CPU_ONLY@1", "OV:CPU"]
    assert all(unit["together_per_s"] > 0 for unit in found["units"])


def test_decide_judges_both_units(tmp_path: Path) -> None:
    found = run("decide", three_nodes(tmp_path / "m.onnx"), *BOTH, "-n", "30", "--power", "none")
    assert [row["unit"] for row in found["conditions"]] == ["CPU_ONLY", "OV:CPU"]
    assert not found["failed"]
    assert not found["unmeasured"]


def test_a_plan_runs_on_it_and_answers_as_the_cpu(tmp_path: Path) -> None:
    path = three_nodes(tmp_path / "m.onnx")
    ran = run("plan", path, "--units", "cpu@1,ov:cpu", "--slices", "OV:CPU_1", "--run", "-n", "5")["run"]
    assert set(ran["alone_ms"]) == {"CPU_ONLY@1", "OV:CPU"}
    assert (ran["reference"], ran["outputs_equal"]) == ("CPU_ONLY@1", True)


def test_doctor_lists_its_device_and_version() -> None:
    done = hettop("doctor", HETTOP_PROVIDERS="OV")
    assert "onnxruntime: CPU_ONLY, OV:CPU" in done.stdout
    assert "OpenVINO 1." in done.stdout
