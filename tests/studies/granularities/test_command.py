"""`hettop coexec --granularities` on its way, and as a recording."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

from hettop.events import Study
from hettop.studies.granularities.result import GranularitiesResult
from hettop.studies.registry import result_of
from tests.cli.running import hettop, started
from tests.record.stories import read
from tests.studies.plan.cutting import models

NAMES = ["single", "intra-operator", "inter-operator", "sub-graph", "task"]
OPTIONS = ("--granularities", "--threads", "2", "--warmup", "1")


def test_a_stream_reports_what_is_known_after_each_round_and_each_load(tmp_path: Path) -> None:
    model = models.residual(tmp_path / "m.onnx")
    done = hettop("coexec", model, *OPTIONS, "--duration", "1s", "--loads", "none,cpu:1@50%", "--stream")
    assert (done.returncode, done.stderr) == (0, "")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    shares = [line["share"] for line in lines if line["share"] is not None]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    documents = [line["document"] for line in lines if line["document"] is not None]
    first, last = documents[0], documents[-1]
    assert [each["load"] for each in first["loads"]] == ["none"]
    assert first["loads"][0]["granularities"][0]["name"] == "single"
    assert [each["load"] for each in last["loads"]] == ["none", "cpu:1@50%"]
    for each in last["loads"]:
        assert [row["name"] for row in each["granularities"]] == NAMES
        assert all(row["per_s"] > 0 for row in each["granularities"])
        assert len(each["stages"]) == 2
    told = [line["doing"] for line in lines if line["doing"] is not None]
    assert told[0] == "starting"
    assert "load cpu:1@50%: waiting for it" in told
    assert any(text.startswith("interleaving all ways, round 1 of ") for text in told)


def test_a_recording_holds_what_was_found_and_becomes_a_report(tmp_path: Path) -> None:
    path = tmp_path / "ways.jsonl"
    done = hettop("coexec", models.residual(tmp_path / "m.onnx"), *OPTIONS, "--duration", "1s", "--record", str(path))
    assert done.returncode == 0, done.stderr
    (study,) = [event for event in read(path)[0] if isinstance(event, Study)]
    assert (study.name, study.arguments[:2]) == ("granularities", ["coexec", "m.onnx"])
    result = result_of(study)
    assert isinstance(result, GranularitiesResult)
    assert [row.name for row in result.rows] == NAMES
    assert "Granularities" in hettop("report", str(path)).stdout


def test_an_interrupt_keeps_what_was_measured_by_then(tmp_path: Path) -> None:
    process = started("coexec", models.residual(tmp_path / "m.onnx"), *OPTIONS, "--duration", "60s", "--stream")
    assert process.stdout is not None
    lines: list[dict[str, Any]] = []
    while not lines or lines[-1]["document"] is None:
        lines.append(json.loads(process.stdout.readline()))
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    last = json.loads(rest.splitlines()[-1])["document"]
    assert last["interrupted"] is True
    assert last["loads"][0]["granularities"][0]["calls"] > 0
