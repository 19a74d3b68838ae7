"""`hettop decide` and `hettop compare` from outside: exit codes, forms, refusals."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from hettop.analysis.start_up import StartUp
from hettop.cli.decide import _starts
from hettop.events import Failure, Study
from hettop.measurement.recorded import looks_like_recording
from hettop.report.verdict import NOTHING
from hettop.studies.cold.result import ColdResult, ColdRow
from tests.analysis.material import stream_of, write
from tests.analysis.table_4 import TABLE_4
from tests.cli.running import SIMULATED, assert_refused, called, hettop, hettop_process, one_document
from tests.report.sessions import failure

STARTS = ColdResult(
    rows=[
        ColdRow(unit="CPU_ONLY", n=7, ready_each_ms=[4_000.0] * 7, call_each_ms=[20.0] * 7),
        ColdRow(unit="CPU_AND_NE", n=7, ready_each_ms=[12_000.0] * 7, call_each_ms=[10.0] * 7),
    ]
)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(write(tmp_path_factory.mktemp("table") / "table4.jsonl", stream_of(TABLE_4, turns=10)))


def test_a_recording_is_judged(table: str) -> None:
    done = called("decide", table, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert one_document(done.stdout)["advice"]["real_time"] == "CPU_AND_NE"
    assert called("decide", table).stdout == one_document(done.stdout)["text"], "and the same seed says the same"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--budget", "1ms@p90"), 0),
        (("--budget", "0.1ms@p90"), 1),
        (("--budget", "16ms@p99"), 4),
        (("--budget", "1ms@p90", "--energy", "5mJ"), 4),
        (("--energy", "5mJ"), 4),
        (("--rate", "60"), 4),
    ],
)
def test_the_exit_code_is_0_if_a_unit_is_proven_to_meet_all_1_if_all_miss_it_4_otherwise(
    table: str, options: tuple[str, ...], code: int
) -> None:
    done = called("decide", table, *options)
    assert (done.returncode, done.stderr) == (code, "")


def test_an_empty_recording_is_valid_and_meets_nothing(tmp_path: Path) -> None:
    empty = str(write(tmp_path / "empty.jsonl"))
    assert called("decide", empty).returncode == 0
    assert called("decide", empty, "--budget", "5ms").returncode == 4


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"{}\n", "not a hettop header"),
        (b'{"k":"header","t":0,"format":"hettop","version":[9,0]}\n', "version 9"),
        (b"\x1f\x8b\x08\x00\x00", "compressed"),
        (b"\x00\x1b[31m" * 50, "not a hettop recording"),
    ],
)
@pytest.mark.parametrize("command", ["decide", "compare"])
def test_what_is_no_recording_is_refused_in_words(command: str, content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(content)
    files = ("x.jsonl",) * (2 if command == "compare" else 1)
    assert_refused(called(command, *files, cwd=tmp_path), words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--budget", "soon"), "invalid budget"),
        (("--energy", "lots"), "invalid energy budget"),
        (("--units", "cpu"), "--units has no effect on a recording"),
        (("--seed", "0"), "--seed has no effect on a recording"),
        (("--time-limit", "5"), "--time-limit has no effect on a recording"),
        (("--force",), "--force has nothing to replace"),
        (("--rate", "-3"), "invalid rate"),
        (("--load", "cpu:2"), "no samples under this load in the recording: cpu:2"),
        (("--load", "nonsense"), "invalid load"),
        (("--runs", "5"), "--runs has no effect on a recording"),
        (("--until-proven",), "--until-proven has no effect on a recording"),
        (("--record", "r.jsonl"), "--record has no effect on a recording"),
        (("--rate", "60", "--by", "native"), "response times"),
        (("--json", "--markdown"), "output formats exclude each other"),
        (("--cold", "2s"), "no start-up study in the recording"),
        (("--calls", "5"), "hettop cold MODEL --record"),
        (("--cold", "soon"), "invalid duration"),
        (("--calls", "0"), "whole number of at least 1"),
        (("--calls", "5", "--load", "none"), "start-up is measured without it"),
    ],
)
def test_wrong_use_is_refused_in_words(table: str, arguments: tuple[str, ...], words: str) -> None:
    assert_refused(called("decide", table, *arguments), words)


def test_its_usage_names_both_and_without_a_file_it_says_what_it_measures() -> None:
    assert "usage: hettop decide [MODEL|RECORDING] [options]" in called("decide", "--help").stdout
    done = called("decide", "--backend", "simulated", "--units", "ne", "-n", "20")
    assert done.stderr.startswith("no recording or model file named: measuring mobilenetv2")


def test_a_model_that_is_not_there_is_refused() -> None:
    assert_refused(called("decide", "missing.onnx"), "missing.onnx")


def test_damaged_lines_are_skipped_and_said(table: str, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.jsonl"
    lines = Path(table).read_bytes().splitlines(keepends=True)
    damaged.write_bytes(b"".join([*lines[:2], b"{nonsense\n", *lines[2:]]))
    done = called("decide", str(damaged), "--json")
    assert done.returncode == 0
    assert sum(one_document(done.stdout)["skipped"].values()) == 1


def test_markdown_without_names(table: str) -> None:
    done = called("decide", table, "--markdown", "--anonymize")
    assert done.returncode == 0
    assert done.stdout.startswith("### hettop verdict\n")
    assert "| CPU\\_AND\\_NE | 100 |" in done.stdout
    assert os.fspath(Path(table).parent) not in done.stdout


def test_recordings_are_told_from_models(tmp_path: Path) -> None:
    (tmp_path / "renamed").write_bytes(b'\xef\xbb\xbf{"k":"header"')
    (tmp_path / "model.onnx").write_bytes(b"\x08\x07")
    assert looks_like_recording("anything.jsonl")
    assert looks_like_recording(str(tmp_path / "renamed"))
    assert not looks_like_recording(str(tmp_path / "model.onnx"))
    assert not looks_like_recording(str(tmp_path))
    assert not looks_like_recording("mobilenetv2")


def test_a_model_is_measured_interleaved_and_recorded(tmp_path: Path) -> None:
    done = hettop_process(
        "decide",
        *SIMULATED[:4],
        "--power",
        "none",
        "--budget",
        "100ms@p90",
        "--json",
        "--record",
        "r.jsonl",
        cwd=tmp_path,
    )
    assert (done.returncode, "few turns" in done.stderr) == (0, False), done.stderr
    document = one_document(done.stdout)
    assert document["simulated"] is True
    assert document["budget"]["met"] == {"CPU_AND_NE": True, "ALL": True}
    assert all(row["n"] >= 200 for row in document["conditions"])
    again = called("decide", "r.jsonl", "--budget", "100ms@p90", "--json", cwd=tmp_path)
    assert one_document(again.stdout)["ranks"] == document["ranks"]
    assert one_document(again.stdout)["budget"] == document["budget"]


def test_until_proven_ends_with_the_proof_and_not_at_its_limit() -> None:
    done = hettop("decide", *SIMULATED[:4], "--until-proven", "--time-limit", "80s", "--budget", "50ms@p90", "--json")
    assert done.returncode == 0, done.stderr
    document = one_document(done.stdout)
    assert all(document["budget"]["met"].values())
    assert 0.9749 < document["budget"]["confidence"] < 1, "each look is surer than 95%"


def test_until_proven_gives_up_at_its_limit() -> None:
    done = hettop("decide", *SIMULATED[:4], "--until-proven", "--time-limit", "2s", "--budget", "50ms@p99.99")
    assert done.returncode == 4, done.stderr
    assert "not proven" in done.stdout


def two(tmp_path: Path, factor: float) -> tuple[str, str]:
    samples = np.random.default_rng(1).normal(2.0, 0.1, 300)
    a = write(tmp_path / "a.jsonl", stream_of({"CPU_ONLY": samples, "ALL": samples}))
    b = write(tmp_path / "b.jsonl", stream_of({"CPU_ONLY": factor * samples, "ALL": samples}))
    return str(a), str(b)


@pytest.mark.parametrize(
    ("factor", "tolerance", "code"), [(1.0, "5%", 0), (1.5, "5%", 1), (1.5, "0.6", 0), (0.5, "0%", 0)]
)
def test_compare_fails_on_a_proven_regression(tmp_path: Path, factor: float, tolerance: str, code: int) -> None:
    a, b = two(tmp_path, factor)
    done = called("compare", a, b, "--tolerance", tolerance, "--json")
    assert (done.returncode, done.stderr) == (code, "")
    assert one_document(done.stdout)["regressions"] == code


def test_compare_reports_to_ci_and_replaces_its_own_reports_only(tmp_path: Path) -> None:
    a, b = two(tmp_path, 1.5)
    report = tmp_path / "report.xml"
    for _ in range(2):
        assert called("compare", a, b, "--junit", str(report)).returncode == 1
    assert b'failures="1"' in report.read_bytes()
    before = Path(b).read_bytes()
    assert_refused(called("compare", a, b, "--junit", b), "it is not a JUnit report")
    assert Path(b).read_bytes() == before
    assert_refused(called("compare", a, b, "--junit", str(tmp_path / "no" / "folder.xml")), "cannot write")


def test_compare_says_what_is_missing(tmp_path: Path) -> None:
    a, _ = two(tmp_path, 1.0)
    other = str(write(tmp_path / "other.jsonl", stream_of({"CPU_AND_NE": [1.0] * 20})))
    assert_refused(called("compare", a, other), "no unit and load in common")
    assert_refused(called("compare", a, "missing.jsonl"), "missing.jsonl")
    assert_refused(called("compare", a, a, "--tolerance", "lots"), "invalid tolerance")
    broken = str(write(tmp_path / "broken.jsonl", [failure("CPU_ONLY", "killed"), failure("ALL", "killed")]))
    assert called("compare", a, broken).returncode == 1


def test_a_recording_of_start_up_is_judged_by_its_starts(tmp_path: Path) -> None:
    study = Study(t=1, name="cold", state="done", elapsed_ns=1, found=STARTS.line())
    recording = str(write(tmp_path / "c.jsonl", [study]))
    done = called("decide", recording, "--cold", "5s", "--calls", "802", "--json")
    document = one_document(done.stdout)
    assert (done.returncode, document["meeting"]) == (0, ["CPU_ONLY"])
    assert document["start_up"]["met"] == {"CPU_ONLY": True, "CPU_AND_NE": False}
    assert document["totals"]["units"][0]["unit"] == "CPU_AND_NE"
    assert called("decide", recording, "--cold", "1s").returncode == 1
    assert "in budget    CPU_ONLY  proven to meet the budget" in called("decide", recording, "--cold", "5s").stdout
    text = called("decide", recording, "--calls", "1").stdout
    assert "1 call       CPU_ONLY  lowest total time, start-up included, 4.00 s" in text
    assert NOTHING not in text


def test_of_starts_with_and_without_a_compilation_those_count_of_which_there_are_more() -> None:
    few = ColdRow(unit="ALL", cached=False, n=1, ready_each_ms=[9], call_each_ms=[1])
    many = ColdRow(unit="ALL", cached=True, n=2, ready_each_ms=[2, 3], call_each_ms=[1, 1])
    assert _starts(ColdResult(rows=[few, many])) == [StartUp("ALL", (2, 3), (1, 1), cached=True)]
    failed = Failure(kind="crashed", message="killed")
    (start,) = _starts(ColdResult(rows=[ColdRow(unit="ALL", error=failed)]))
    assert (start.ready_ms, start.error) == ((), "killed")


def test_a_model_is_started_anew_before_it_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hettop.cli.decide.DEFAULT_REPEAT", 1)
    monkeypatch.setattr("hettop.cli.decide.starts_needed", lambda _confidence: 1)
    options = ("--runs", "20", "--power", "none", "--cold", "60s", "--calls", "3", "--json", "--record", "r.jsonl")
    done = hettop("decide", *SIMULATED[:4], *options, cwd=tmp_path)
    document = one_document(done.stdout)
    assert done.returncode == 4, "one start proves nothing"
    assert {unit: found["n"] for unit, found in document["start_up"]["evidence"].items()} == {"CPU_AND_NE": 1, "ALL": 1}
    assert {row["n"] for row in document["conditions"]} == {20}
    assert document["totals"]["calls"] == 3
    again = one_document(hettop("decide", "r.jsonl", "--cold", "60s", "--calls", "3", "--json", cwd=tmp_path).stdout)
    for name in ("met", "cached"):
        assert again["start_up"].get(name) == document["start_up"].get(name)
    assert [row["unit"] for row in again["totals"]["units"]] == [row["unit"] for row in document["totals"]["units"]]
    for row, before in zip(again["totals"]["units"], document["totals"]["units"], strict=True):
        assert row["ms"] == pytest.approx(before["ms"], rel=1e-5), "the recording holds six digits"
