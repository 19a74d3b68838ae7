"""`hettop predict` from outside, with small networks."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import assert_refused, called, one_document

NETS = "shufflenetv2-0.5,mnasnet-0.5,squeezenet1.1,shufflenetv2"


def test_networks_are_predicted_from_the_others(tmp_path: Path) -> None:
    call = ("predict", "--nets", NETS, "--loads", "cpu:1", "-n", "2", "--warmup", "1", "--units", "CPU_ONLY@1")
    document = one_document(called(*call, "--json", "--record", "p.jsonl", cwd=tmp_path).stdout)
    assert [(row["network"], row["load"]) for row in document["rows"][:2]] == [
        ("shufflenetv2-0.5", "none"),
        ("shufflenetv2-0.5", "cpu:1"),
    ]
    assert len(document["rows"]) == 8
    for row in document["rows"]:
        estimate, actual = row["estimates_ms"]["layers"], row["actual_ms"]
        assert row["errors"]["layers"] == abs(estimate - actual) / actual
    assert {each["predictor"] for each in document["accuracy"]} == {"MACs", "layers", "offline"}
    assert "Conv" in {fit["op"] for fit in document["fits"]}
    assert "Predictors" in called("report", "p.jsonl", "-o", "-", "--format", "md", cwd=tmp_path).stdout


def test_wrong_use_is_refused_before_anything_runs(tmp_path: Path) -> None:
    assert_refused(called("predict", "--nets", "alexnet,vgg11", cwd=tmp_path), "too few networks: 2")
    assert_refused(called("predict", "--loads", "nothing", cwd=tmp_path), "invalid load")
    assert_refused(called("predict", "--units", "all", cwd=tmp_path), "one CPU unit")
