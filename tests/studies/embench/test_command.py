"""`hettop embench` from outside, with the smallest networks."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import assert_refused, called, one_document

QUICK = ("--rest", "0", "--runs", "3", "--warmup", "1", "--units", "CPU_ONLY@1")


def test_networks_are_measured_kept_and_not_measured_again(tmp_path: Path) -> None:
    call = ("embench", "--nets", "shufflenetv2-0.5,mnasnet-0.5", *QUICK, "--resume", "rows.jsonl", "--json")
    first = one_document(called(*call, cwd=tmp_path).stdout)
    assert [(row["network"], row["batch"], row["n"]) for row in first["rows"]] == [
        ("shufflenetv2-0.5", 1, 3),
        ("mnasnet-0.5", 1, 3),
    ]
    assert round(first["rows"][0]["items_per_s"] * first["rows"][0]["min_ms"], 6) == 1000
    assert "Conv" in first["shares"][0]["by_op"]
    assert sum(first["shares"][0]["by_op"].values()) > 0.99
    assert first["front"] == {"CPU_ONLY@1": ["shufflenetv2-0.5"]}  # of the other no accuracy is published there
    again = one_document(called(*call, "--no-layers", cwd=tmp_path).stdout)
    assert again["rows"] == first["rows"]
    assert len((tmp_path / "rows.jsonl").read_text().splitlines()) == 3


def test_what_cannot_be_measured_is_refused_before_anything_runs(tmp_path: Path) -> None:
    assert_refused(called("embench", "--nets", "resnet51", cwd=tmp_path), "unknown network")
    assert_refused(called("embench", "--backend", "simulated", cwd=tmp_path), "one network only")
