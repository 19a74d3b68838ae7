"""`hettop sweep` from outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from hettop.commands.sweep import progress_line
from tests.commands.running import assert_refused, called, hettop, one_document

SHORT = ("sweep", "--backend", "simulated", "--units", "CPU_AND_NE,ALL", "--runs", "30", "--rest", "0", "--warmup", "2")


def test_a_sweep_gives_statistics_a_matrix_and_the_estimation_error(tmp_path: Path) -> None:
    done = hettop(*SHORT, "--loads", "none,cpu:4,gpu:1", "--json", "--record", "s.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = one_document(done.stdout)
    assert len(document["conditions"]) == len(document["matrix"]) == 6
    assert {(error["unit"], error["load"]) for error in document["estimation_error"]} == {
        (unit, load) for unit in ("CPU_AND_NE", "ALL") for load in ("cpu:4", "gpu:1")
    }
    assert document["failed_loads"] == {}
    again = one_document(called("decide", "s.jsonl", "--json", cwd=tmp_path).stdout)
    assert again["load"] == "none"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--loads", "none,frobnicate:1"), "is no load"),
        (("--loads", ""), "is no load"),
        (("--loads", "none,gpu:1"), "Core ML"),
        (("--loads", ",".join(f"cpu:{n}" for n in range(1, 70))), "too many"),
        (("--units", "WARP"), "unknown unit"),
        (("--runs", "5", "--duration", "5s"), "not allowed with"),
        (("--rest", "soon"), "is no duration"),
        (("missing.onnx",), "missing.onnx"),
    ],
)
def test_wrong_use_is_refused_before_anything_starts(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    assert_refused(called("sweep", *arguments, "--record", "r.jsonl", cwd=tmp_path), words)
    assert list(tmp_path.iterdir()) == []


def test_progress_has_the_time_left_as_soon_as_it_is_known() -> None:
    assert progress_line(0.0, "none", 5 * 10**9) == f"{'·' * 24}   0%  load none"
    assert progress_line(0.25, "cpu:2", 10 * 10**9) == f"{'█' * 6}{'·' * 18}  25%  00:30 left  load cpu:2"


def test_batches_are_measured_in_turns_and_told_as_curves(tmp_path: Path) -> None:
    arguments = ("sweep", "mobilenetv2:32x32", "--batch", "1,2,4", "--units", "CPU_ONLY@1", "--runs", "10")
    done = hettop(*arguments, "--warmup", "1", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = one_document(done.stdout)
    assert [(point["batch"], point["height"]) for point in document["points"]] == [(1, 32), (2, 32), (4, 32)]
    assert min(point["statistics"]["n"] for point in document["points"]) >= 10
    (curve,) = document["curves"]
    assert (curve["unit"], curve["x"]) == ("CPU_ONLY@1", [1, 2, 4])
    assert document["model"]["backend"] == "onnxruntime"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--batch", "1,0"), "is no batch"),
        (("--batch", ""), "is no batch"),
        (("--size", "224y"), "is no size"),
        (("--batch", "1,2", "--loads", "none"), "one sweep is over loads"),
        (("--budget", "5ms"), "--budget is for a sweep over batches"),
        (("--batch", "1", "--budget", "soon"), "is no budget"),
        (("--batch", ",".join(str(n) for n in range(1, 70))), "so many points"),
        (("--backend", "simulated", "--batch", "1,2"), "one batch and one size"),
    ],
)
def test_wrong_points_are_refused(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    assert_refused(called("sweep", *arguments, cwd=tmp_path), words)
