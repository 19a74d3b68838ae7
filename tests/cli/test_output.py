"""Options of every command: a file for the result, its format, verbosity, color, and that nothing is ignored."""

from __future__ import annotations

import csv
import io
import json
import os
import stat
from pathlib import Path

import pytest

from hettop.cli.output import colors
from hettop.console.messages import QUIET, VERBOSE, print_detail, print_error, print_note, print_warning, verbosity
from tests.cli.running import SIMULATED, assert_refused, called, hettop, one_document
from tests.processes.waiting import REPOSITORY

M2 = str(REPOSITORY / "recordings" / "simulated-m2.jsonl")
BENCH = ("bench", *SIMULATED, "-n", "30")


@pytest.fixture
def masked() -> int:
    os.umask(mask := os.umask(0o077))
    return 0o666 & ~mask


@pytest.mark.parametrize(
    ("name", "beginning"), [("r.json", "{\n"), ("r.csv", "unit,"), ("r.md", "SIMULATED"), ("r.txt", "SIMULATED")]
)
def test_a_result_goes_to_a_file_in_the_format_of_its_name(
    name: str, beginning: str, masked: int, tmp_path: Path
) -> None:
    done = called("replay", M2, "-o", name, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"wrote {name}\n")
    assert (tmp_path / name).read_text().startswith(beginning)
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == masked
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_csv_has_a_row_for_each_condition_with_the_figures_of_the_document() -> None:
    rows = list(csv.DictReader(io.StringIO(called("replay", M2, "--format", "csv").stdout)))
    conditions = one_document(called("replay", M2, "--json").stdout)["conditions"]
    assert [row["unit"] for row in rows] == [row["unit"] for row in conditions]
    assert [float(row["p90_ms"]) for row in rows] == [row["p90_ms"] for row in conditions]
    assert [float(row["p90_ci_ms.low"]) for row in rows] == [row["p90_ci_ms"][0] for row in conditions]
    assert [int(row["spikes.n"]) for row in rows] == [row["spikes"]["n"] for row in conditions]
    assert {row["simulated"] for row in rows} == {"true"}


@pytest.mark.parametrize(
    "command",
    [
        ("replay", M2),
        ("compare", M2, M2),
        ("pareto", M2),
        ("decide", M2),
        ("roofline", "mobilenetv2:32x32", "--chip", "M2"),
    ],
    ids=lambda command: command[0],
)
def test_tables_are_printed_as_markdown_too(command: tuple[str, ...], tmp_path: Path) -> None:
    text = called(*command, "--markdown", cwd=tmp_path).stdout
    assert "\n|--" in f"\n{text}"
    assert called(*command, "--format", "md", cwd=tmp_path).stdout == text


def test_an_existing_result_is_replaced_with_force_only(tmp_path: Path) -> None:
    arguments = ("verify", M2, "-o", "v.json")
    assert called(*arguments, cwd=tmp_path).returncode == 0
    assert_refused(called(*arguments, cwd=tmp_path), "v.json already exists")
    assert called(*arguments, "--force", cwd=tmp_path).returncode == 0
    assert json.loads((tmp_path / "v.json").read_text())["ok"] is True


@pytest.mark.parametrize("content", [b'{"k":"header"}\n', b"\x08\x01\x12\x00model", b"PAR1\x00"])
def test_a_file_that_is_no_result_is_never_replaced(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "v.json").write_bytes(content)
    assert_refused(called("verify", M2, "-o", "v.json", "--force", cwd=tmp_path), "not replaced")
    assert (tmp_path / "v.json").read_bytes() == content


def test_a_command_that_fails_leaves_no_file(tmp_path: Path) -> None:
    assert_refused(called("verify", "missing.jsonl", "-o", "v.json", cwd=tmp_path), "missing.jsonl")
    assert_refused(called("replay", M2, "-o", "no/folder.json", cwd=tmp_path), "folder not found: no")
    assert list(tmp_path.iterdir()) == []


def test_the_exit_code_of_a_command_with_a_file_is_its_own(tmp_path: Path) -> None:
    done = called("decide", M2, "--budget", "0.001ms@p99.9", "-o", "d.json", cwd=tmp_path)
    assert done.returncode == 1
    assert json.loads((tmp_path / "d.json").read_text())["budget"]["limit_ms"] == 0.001


def test_quiet_prints_the_result_and_errors_only(tmp_path: Path) -> None:
    done = hettop(*BENCH, "-q", "--record", "r.jsonl", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "CPU_AND_NE" in done.stdout
    assert_refused(hettop("-q", "verify", "missing.jsonl"), "missing.jsonl")


def test_verbose_prints_model_backend_and_units() -> None:
    done = hettop(*BENCH, "-v")
    assert done.returncode == 0
    assert "backend: simulated; units: CPU_AND_NE, ALL\n" in done.stderr


def test_messages_are_printed_as_the_level_says(capsys: pytest.CaptureFixture[str]) -> None:
    def printed(level: int) -> list[str]:
        with verbosity(level):
            print_error("broken: x", "fix it")
            print_warning("odd: y")
            print_note("wrote z")
            print_detail("backend: b")
        return capsys.readouterr().err.splitlines()

    error = ["error: broken: x", "hint: fix it"]
    assert printed(QUIET) == error
    assert printed(0) == [*error, "warning: odd: y", "wrote z"]
    assert printed(VERBOSE) == [*error, "warning: odd: y", "wrote z", "backend: b"]


def test_color_sets_the_environment_and_restores_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def environment() -> tuple[str | None, str | None]:
        return os.environ.get("NO_COLOR"), os.environ.get("FORCE_COLOR")

    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    with colors("always"):
        assert environment() == (None, "1")
    with colors("auto"):
        assert environment() == ("1", None)
    monkeypatch.delenv("NO_COLOR")
    with colors("never"):
        assert environment() == ("1", None)
    assert environment() == (None, None)


def test_without_color_the_screen_has_a_theme_without_hues() -> None:
    document = one_document(called("config", "--no-color", "--json").stdout)
    assert document["settings"]["theme"]["value"] == "hettop-mono"
    assert called("config", "--color", "sometimes").returncode == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("replay", M2, "--headless", "--theme", "hettop-light"), "--theme has no effect without the UI"),
        (("replay", M2, "--json", "--speed", "2"), "--speed has no effect without the UI"),
        (("replay", M2, "--serve", "--json"), "--format has no effect with --serve"),
        (("replay", M2, "--headless", "--at", "99h"), "--at is after the end of the recording"),
        (("export", M2, "-o", "x.svg", "--at", "99h"), "--at is after the end of the recording"),
        (("bench", "--force"), "--force has nothing to replace"),
        (("--force",), "--force has nothing to replace"),
        (("--theme", "nope"), "unknown theme: 'nope'"),
        (("--theme", "hettop-drak"), "did you mean 'hettop-dark'?"),
        (("layers", M2, "-n", "5"), "--runs has no effect on a recording"),
        (("roofline", "--chip", "M2", "--warmup", "3"), "--warmup has no effect with --chip"),
        (("plan", "--costs", "c.json", "--units", "cpu"), "--units has no effect with --costs"),
        (("sweep", "--batch", "1", "--rest", "2s"), "--rest needs --loads"),
        (("coexec", "--live", "--json"), "--format has no effect with --live"),
        (("doctor", "--sudoers", "--json"), "--format has no effect with --sudoers"),
        (("config", "--init", "--fps", "3"), "--fps has no effect with --init"),
        (("bench", "--units", "cpuu"), "did you mean 'cpu'?"),
        (("decide", M2, "--budget", "16ms@p9999"), "invalid budget"),
    ],
    ids=lambda value: " ".join(value).replace(M2, "M2") if isinstance(value, tuple) else "",
)
def test_no_option_is_ignored_silently(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    assert_refused(called(*arguments, cwd=tmp_path), words)


def test_more_threads_or_workers_than_cores_are_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    arguments = ("bench", "mobilenetv2:32x32", "--units", "cpu@3", "-n", "5", "--load", "cpu:3")
    done = called(*arguments)
    assert done.returncode == 0, done.stderr
    assert "warning: more threads than the 2 CPUs that this process may use: CPU_ONLY@3\n" in done.stderr
    assert "warning: more workers than the 2 CPUs that this process may use: cpu:3\n" in done.stderr
