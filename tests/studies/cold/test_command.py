"""`hettop cold` from outside."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from hettop.events import Study
from hettop.studies.cold.result import ColdResult
from hettop.studies.registry import result_of
from tests.cli.running import assert_refused, called, hettop, hettop_process, one_document, started
from tests.record.stories import read

SMALL = ("cold", "mobilenetv2:32x32", "--units", "CPU_ONLY@1")
SIMULATED = ("cold", "--backend", "simulated", "--units", "CPU_AND_NE,ALL", "--repeat", "1")


def test_start_up_of_a_real_model_is_measured_as_a_document_and_recorded(tmp_path: Path) -> None:
    done = hettop_process(*SMALL, "--repeat", "2", "--json", "--record", "c.jsonl", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = one_document(done.stdout)
    assert (document["simulated"], document["repeat"]) == (False, 2)
    assert document["model"]["backend"] == "onnxruntime"
    (row,) = document["rows"]
    assert (row["unit"], row["n"], row["cached"], row["error"]) == ("CPU_ONLY@1", 2, None, None)
    assert row["compile_ms"] is None, "ONNX Runtime reports none"
    assert any(note.startswith("compile n/a: onnxruntime") for note in document["notes"])
    parts = sum(row[part]["median"] for part in ("load_ms", "first_ms"))
    assert 0 < parts < row["ready_ms"]["median"]
    assert row["ready_ms"]["lowest"] == min(row["ready_each_ms"])
    assert document["break_even"] == [], "one unit has no other"
    assert {path.name for path in tmp_path.iterdir()} == {"c.jsonl"}
    events, report = read(tmp_path / "c.jsonl")
    assert not report.skipped
    (study,) = [event for event in events if isinstance(event, Study)]
    result = result_of(study)
    assert isinstance(result, ColdResult)
    assert (study.state, study.arguments[0], result.rows[0].n) == ("done", "cold", 2)
    text = called("replay", "c.jsonl", "--headless", cwd=tmp_path).stdout
    assert "CPU_ONLY@1 answers first" in " ".join(text.split())


def test_a_simulated_machine_says_so(tmp_path: Path) -> None:
    done = hettop(*SIMULATED, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("SIMULATED")
    assert "SIMULATED start-up" in done.stdout
    assert "needs 6 starts of each" in " ".join(done.stdout.split())


def test_progress_and_result_are_reported_as_lines(tmp_path: Path) -> None:
    done = hettop(*SIMULATED, "--stream", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert {"CPU_AND_NE, start 1", "ALL, start 1"} <= {line["doing"] for line in lines}
    shares = [line["share"] for line in lines if line["share"] is not None]
    assert shares == sorted(shares)
    documents = [line["document"] for line in lines if line["document"] is not None]
    assert {row["unit"] for row in documents[-1]["rows"]} == {"CPU_AND_NE", "ALL"}
    assert documents[-1]["simulated"] is True


def test_what_cannot_be_loaded_is_a_failure_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "bad.onnx").write_bytes(b"\x08\x07 no model")
    done = hettop("cold", "bad.onnx", "--units", "CPU_ONLY", "--stream", "--repeat", "2", cwd=tmp_path)
    assert done.returncode == 2
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["failed"]["kind"] == "format"
    assert last["failed"]["message"]
    assert "Traceback" not in done.stderr


def test_an_interrupted_study_keeps_the_starts_it_has(tmp_path: Path) -> None:
    with started(*SIMULATED[:-1], "300", "--stream", "--record", "c.jsonl", cwd=tmp_path) as process:
        assert process.stdout is not None
        while not (json.loads(process.stdout.readline())["share"] or 0) > 0:
            pass
        process.send_signal(signal.SIGINT)
        lines = [json.loads(line) for line in process.stdout.read().splitlines()]
        assert process.wait() == 130
    document = lines[-1]["document"]
    assert document["notes"][0].startswith("interrupted")
    assert document["rows"][0]["n"] >= 1
    events, _ = read(tmp_path / "c.jsonl")
    (study,) = [event for event in events if isinstance(event, Study)]
    assert study.state == "ended"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--repeat", "0"), "whole number of at least 1"),
        (("--repeat", "1001"), "invalid number of starts"),
        (("--units", "WARP"), "unknown unit"),
        (("--json", "--stream"), "options exclude each other: --stream"),
        (("--force",), "--force has nothing to replace"),
        (("missing.onnx",), "missing.onnx"),
        (("--record", "c.jsonl.zst"), "cannot be compressed"),
    ],
)
def test_wrong_use_is_refused_before_anything_starts(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    assert_refused(called("cold", *arguments, cwd=tmp_path), words)
    assert list(tmp_path.iterdir()) == []
