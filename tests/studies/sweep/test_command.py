"""`hettop sweep` from outside."""

from __future__ import annotations

import argparse
import json
import signal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hettop.errors import HettopError
from hettop.events import Study
from hettop.studies.registry import result_of
from hettop.studies.rounds import study_options
from hettop.studies.sweep.result import SweepResult
from tests.cli.running import assert_refused, called, hettop, hettop_process, one_document, started
from tests.coreml.bench import Bench
from tests.record.stories import read

SHORT = ("sweep", "--backend", "simulated", "--units", "CPU_AND_NE,ALL", "--runs", "30", "--rest", "0", "--warmup", "2")


def test_a_sweep_gives_statistics_a_matrix_and_the_estimation_error(tmp_path: Path) -> None:
    done = hettop_process(*SHORT, "--loads", "none,cpu:4,gpu:1", "--json", "--record", "s.jsonl", cwd=tmp_path)
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
        (("--loads", "none,frobnicate:1"), "invalid load"),
        (("--loads", ""), "invalid load"),
        (("--loads", "none,gpu:1"), "Core ML"),
        (("--loads", ",".join(f"cpu:{n}" for n in range(1, 70))), "too many"),
        (("--units", "WARP"), "unknown unit"),
        (("--runs", "5", "--duration", "5s"), "options exclude each other"),
        (("--rest", "soon"), "invalid duration"),
        (("missing.onnx",), "missing.onnx"),
    ],
)
def test_wrong_use_is_refused_before_anything_starts(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    assert_refused(called("sweep", *arguments, "--record", "r.jsonl", cwd=tmp_path), words)
    assert list(tmp_path.iterdir()) == []


def lines_of(stdout: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stdout.splitlines()]


def studies_in(path: Path) -> list[Study]:
    events, report = read(path)
    assert not report.skipped
    return [event for event in events if isinstance(event, Study)]


def test_a_sweep_over_loads_reports_each_load_as_it_ends_and_joins_the_recording_of_its_samples(tmp_path: Path) -> None:
    done = hettop(*SHORT, "--loads", "none,cpu:4", "--stream", "--record", "s.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = lines_of(done.stdout)
    documents = [line["document"] for line in lines if line["document"] is not None]
    assert {row["load"] for row in documents[0]["conditions"]} == {"none"}
    assert {row["load"] for row in documents[-1]["conditions"]} == {"none", "cpu:4"}
    shares = [line["share"] for line in lines if line["share"] is not None]
    assert shares == sorted(shares)
    assert 0 <= shares[0] < 1
    (study,) = studies_in(tmp_path / "s.jsonl")
    assert (study.name, study.state, study.arguments[0]) == ("sweep", "done", "sweep")
    result = result_of(study)
    assert isinstance(result, SweepResult)
    found = {(point.unit, point.load): (point.n, point.p90_ms) for point in result.points}
    assert set(found) == {(unit, load) for unit in ("CPU_AND_NE", "ALL") for load in ("none", "cpu:4")}
    replayed = one_document(called("replay", "s.jsonl", "--headless", "--json", cwd=tmp_path).stdout)
    assert figures(replayed) == figures(documents[-1]), "the file tells what was printed"
    assert found == figures(replayed), "and what it says was found is what its samples give"


def figures(document: dict[str, Any]) -> dict[tuple[str, str], tuple[int, float]]:
    """Samples and P90 of each unit and load: of thermal states that with most samples."""
    rows = sorted(document["conditions"], key=lambda row: row["n"])
    return {(row["unit"], row["load"]): (row["n"], float(f"{row['p90_ms']:.6g}")) for row in rows}


def test_batches_are_measured_in_turns_and_reported_as_curves(tmp_path: Path) -> None:
    arguments = ("sweep", "mobilenetv2:32x32", "--batch", "1,2,4", "--units", "CPU_ONLY@1", "--runs", "10")
    done = hettop(*arguments, "--warmup", "1", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = one_document(done.stdout)
    assert [(point["batch"], point["height"]) for point in document["points"]] == [(1, 32), (2, 32), (4, 32)]
    assert min(point["statistics"]["n"] for point in document["points"]) >= 10
    (curve,) = document["curves"]
    assert (curve["unit"], curve["x"]) == ("CPU_ONLY@1", [1, 2, 4])
    assert document["model"]["backend"] == "onnxruntime"


def test_a_curve_grows_point_by_point_and_is_recorded_beside_the_samples_of_its_points(tmp_path: Path) -> None:
    arguments = ("sweep", "mobilenetv2:32x32", "--batch", "1,2", "--units", "CPU_ONLY@1", "--duration", "1s")
    done = hettop(*arguments, "--warmup", "1", "--stream", "--record", "s.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = lines_of(done.stdout)
    documents = [line["document"] for line in lines if line["document"] is not None]
    assert len(documents) >= 3, "between the turns, too"
    assert len(documents[-1]["points"]) == 2
    assert documents[-1]["curves"][0]["knee_certainty"] is not None
    assert documents[0]["curves"] == [] or documents[0]["curves"][0]["knee_certainty"] is None, "quickly worked out"
    last_of_each = [after for before, after in pairwise(lines[:-1]) if before["document"] is not None]
    assert all(line["share"] is not None for line in last_of_each), "whoever looks then sees how far it is"
    shares = [line["share"] for line in lines if line["share"] is not None]
    assert shares == sorted(shares)
    assert {path.name for path in tmp_path.iterdir()} == {
        "s.jsonl",
        "s-b1-CPU_ONLY@1.jsonl",
        "s-b2-CPU_ONLY@1.jsonl",
    }
    (study,) = studies_in(tmp_path / "s.jsonl")
    assert study.state == "done"
    result = result_of(study)
    assert isinstance(result, SweepResult)
    assert [point.batch for point in result.points] == [1, 2]
    again = called(*arguments, "--record", "s.jsonl", cwd=tmp_path)
    assert_refused(again, "exists")


def test_points_that_are_interrupted_are_reported_as_ended_with_what_their_samples_give(tmp_path: Path) -> None:
    arguments = ("sweep", "mobilenetv2:32x32", "--batch", "1,2", "--units", "CPU_ONLY@1", "--duration", "300s")
    with started(*arguments, "--stream", "--record", "s.jsonl", cwd=tmp_path) as process:
        assert process.stdout is not None
        while not (json.loads(process.stdout.readline())["share"] or 0) > 0:
            pass
        process.send_signal(signal.SIGINT)
        lines = lines_of(process.stdout.read())
        assert process.wait() == 130
    (study,) = studies_in(tmp_path / "s.jsonl")
    assert study.state == "ended"
    result = result_of(study)
    assert isinstance(result, SweepResult)
    replayed = one_document(called("replay", "s-b1-CPU_ONLY@1.jsonl", "--headless", "--json", cwd=tmp_path).stdout)
    first, never = result.points
    assert {(first.unit, "none"): (first.n, first.p90_ms)} == figures(replayed)
    assert (never.n, never.p90_ms) == (0, None)
    assert [point["statistics"]["n"] for point in lines[-1]["document"]["points"]] == [first.n, 0]


def test_the_study_is_plain_where_the_samples_are_compressed() -> None:
    told = study_options(argparse.Namespace(record="a/s.jsonl.zst", stream=True))
    assert (told.record, told.stream) == ("a/s.jsonl", True)
    assert study_options(argparse.Namespace(record="s.jsonl")).record == "s.jsonl"
    assert study_options(argparse.Namespace(record=None)).record is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--json", "--stream"), "options exclude each other: --stream"),
        (("--force",), "--force has nothing to replace"),
        (("--batch", "1", "--json", "--stream"), "options exclude each other: --stream"),
        (("--batch", "1,0"), "invalid batch size"),
        (("--batch", ""), "invalid batch size"),
        (("--size", "224y"), "invalid image size"),
        (("--batch", "1,2", "--loads", "none"), "options exclude each other: --loads"),
        (("--budget", "5ms"), "--budget needs --batch or --size"),
        (("--batch", "1", "--budget", "soon"), "invalid budget"),
        (("--batch", ",".join(str(n) for n in range(1, 70))), "too many points"),
        (("--backend", "simulated", "--batch", "1,2"), "one batch and one size"),
    ],
)
def test_wrong_points_are_refused(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    assert_refused(called("sweep", *arguments, cwd=tmp_path), words)


def test_a_sweep_for_which_core_ml_compiles_much_warns_before_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("coremltools", reason="coremltools is not installed")
    from hettop.studies.sweep import command as sweep
    from tests.coreml.models import ranged

    def nothing(*_: object) -> None:
        raise HettopError("usage", "far enough")

    monkeypatch.setattr(sweep, "make_rounds", nothing)
    arguments = ("sweep", str(ranged(tmp_path / "m.mlpackage")), "--units", "CPU_ONLY,CPU_AND_NE", "--batch")
    with Bench(tmp_path).here():
        many = called(*arguments, "2,3,4,5,6", cwd=tmp_path)
        few = called(*arguments, "2,3,4,5", cwd=tmp_path)
    told = many.stderr.splitlines()
    assert told[0] == "warning: Core ML compiles 10 times for this sweep, and macOS keeps what it compiles"
    assert told[1].startswith("hint: hettop doctor ")
    assert "warning" not in few.stderr
    assert "far enough" in few.stderr
