"""`hettop doctor` as a command."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import assert_refused, hettop, hettop_process
from tests.coreml.bench import Bench
from tests.processes.waiting import REPOSITORY
from tests.tools.test_json_schemas import problems


def test_it_reports_what_works_as_a_page_and_as_json() -> None:
    page = hettop_process("doctor")
    assert page.returncode == 0
    assert "onnxruntime: CPU_ONLY" in page.stdout
    document = json.loads(hettop("doctor", "--json").stdout)
    assert document["measures"] is True
    assert "power" in document["findings"]


def test_an_anonymous_page_names_no_folder() -> None:
    told = hettop("doctor", TERM="/home/ada/xterm")
    assert "TERM: /home/ada/xterm" in told.stdout
    for form in ((), ("--json",)):
        done = hettop("doctor", "--anonymize", *form, TERM="/home/ada/xterm")
        assert done.returncode == 0
        assert "ada" not in done.stdout
        assert "xterm" in done.stdout
        assert "onnxruntime: CPU_ONLY" in done.stdout


def test_sudoers_rules_allow_one_command_line() -> None:
    rules = [line for line in hettop("doctor", "--sudoers").stdout.splitlines() if not line.startswith("#")]
    assert len(rules) == 1
    assert rules[0].endswith("-n 7200")


def test_the_control_of_power_rails_says_why_it_cannot_run_here(tmp_path: Path) -> None:
    assert_refused(hettop("doctor", "--control"), "requires Core ML: Core ML needs macOS")
    pytest.importorskip("coremltools", reason="coremltools is not installed")
    with_core_ml: dict[str, Any] = Bench(tmp_path).environment({"PYTHONPATH": str(REPOSITORY)})
    assert_refused(hettop_process("doctor", "--control", "--json", **with_core_ml), "requires power readings: ")


@pytest.mark.parametrize("other", ["--sudoers", "--clear-cache"])
def test_the_control_is_run_by_itself(other: str) -> None:
    assert_refused(hettop("doctor", "--control", other), "options exclude each other")


def test_clearing_the_cache_says_what_it_removed(tmp_path: Path) -> None:
    places: dict[str, Any] = {name: str(tmp_path) for name in ("HOME", "XDG_CACHE_HOME", "TMPDIR")}
    assert hettop("inspect", "mobilenetv2:32x32", **places).returncode == 0
    (dead := tmp_path / "hettop-plan-deadbeef").mkdir(mode=0o700)
    (dead / "held").touch()  # nobody holds it any more
    lines = ["removed 1 model, 14.0 MB", "removed 1 scratch folder of killed processes"]
    assert hettop("doctor", "--clear-cache", **places).stdout.splitlines() == lines
    assert hettop("doctor", "--clear-cache", **places).stdout == "removed 0 models, 0 B\n"


def test_the_usual_backend_is_core_ml_where_it_is(tmp_path: Path) -> None:
    pytest.importorskip("coremltools", reason="coremltools is not installed")
    from tests.coreml.models import linear

    package = linear(tmp_path / "linear.mlpackage")
    usual = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONPATH": str(REPOSITORY)}
    found = Bench(tmp_path).environment(usual)
    arguments = ("bench", str(package), "--warmup", "0", "--runs", "3", "--json")
    on_a_mac = json.loads(hettop_process(*arguments, "--units", "CPU_ONLY", cwd=tmp_path, **found).stdout)
    assert [row["backend"] for row in on_a_mac["conditions"]] == ["coreml"]
    threaded = json.loads(hettop_process(*arguments, "--units", "CPU_ONLY@1", cwd=tmp_path, **found).stdout)
    assert [row["backend"] for row in threaded["conditions"]] == ["onnxruntime"]
    elsewhere = json.loads(hettop(*arguments, "--units", "CPU_ONLY").stdout)
    assert [row["backend"] for row in elsewhere["conditions"]] == ["onnxruntime"]


def test_a_report_is_written_once_and_lists_what_is_in_it(tmp_path: Path) -> None:
    recording = str(REPOSITORY / "recordings/simulated-m2.jsonl")
    done = hettop("doctor", "--report", "--include", recording, cwd=tmp_path, TERM="/home/ada/xterm")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("wrote hettop-report.zip, ")
    assert "not included: no internal error is on record" in done.stdout
    with zipfile.ZipFile(tmp_path / "hettop-report.zip") as archive:
        assert archive.namelist() == ["report.json", "doctor.json", "doctor.txt", "log.jsonl"]
        assert b"TERM: xterm" in archive.read("doctor.txt")
        report = json.loads(archive.read("report.json"))
    assert report["row"] in done.stdout
    assert problems(report) == []
    written = (tmp_path / "hettop-report.zip").read_bytes()
    assert_refused(hettop("doctor", "--report", cwd=tmp_path), "hettop-report.zip already exists")
    assert (tmp_path / "hettop-report.zip").read_bytes() == written
    again = hettop("doctor", "--report", "--force", "--json", cwd=tmp_path)
    document = json.loads(again.stdout)
    assert problems(document) == []
    assert document["archive"] == "hettop-report.zip"
    assert document["bytes"] == (tmp_path / "hettop-report.zip").stat().st_size != len(written)


def test_a_report_that_would_name_its_sender_is_not_written(tmp_path: Path) -> None:
    done = hettop("doctor", "--report", cwd=tmp_path, LOGNAME="64bitter", TERM="x64bitter")
    assert done.returncode == 3
    assert (
        "would still identify you or this machine: doctor.json, findings, terminal[1], words: user name" in done.stderr
    )
    assert list(tmp_path.iterdir()) == []


def test_a_user_who_is_called_like_a_word_of_hettop_is_warned(tmp_path: Path) -> None:
    done = hettop("doctor", "--report", cwd=tmp_path, LOGNAME="recording")
    assert done.returncode == 0
    assert done.stderr.startswith("warning: your ")  # and perhaps a home folder such as /root
    assert "user name" in done.stderr
    assert done.stderr.endswith("removed from paths only\n")
    assert (tmp_path / "hettop-report.zip").is_file()


def test_force_replaces_nothing_but_an_archive(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"model")
    assert_refused(hettop("doctor", "--report", "m.onnx", "--force", cwd=tmp_path), "m.onnx")
    assert (tmp_path / "m.onnx").read_bytes() == b"model"
    assert_refused(hettop("doctor", "--include", "x.jsonl", cwd=tmp_path), "--include has no effect without --report")
