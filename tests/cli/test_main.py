"""The command line as a whole: help, version, errors in words, and odd surroundings."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hettop import __version__
from hettop.cli.commands import COMMANDS
from hettop.exits import WRONG_USE_KINDS, exit_code_of
from tests.cli.running import HETTOP, assert_refused, called, hettop_process, plain_environment
from tests.processes.waiting import PATIENCE_S


def in_shell(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        env=plain_environment(),
    )


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_the_version(option: str) -> None:
    done = hettop_process(option)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"hettop {__version__}\n", "")


@pytest.mark.parametrize("option", ["--help", "-h", "help"])  # the last with topics, too
def test_the_help_has_examples_every_command_and_the_options_of_the_live_view(option: str) -> None:
    done = called(option)
    assert (done.returncode, done.stderr) == (0, "")
    for part in ("examples:", "hettop --demo", *COMMANDS, "--unit ", "--record FILE", "--fps", "--rate HZ"):
        assert part in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_help_with_an_example(command: str) -> None:
    done = called(command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"examples:\n  hettop {command}" in done.stdout


@pytest.mark.parametrize("kind", sorted(WRONG_USE_KINDS))
def test_what_the_user_can_mend_is_wrong_use(kind: str) -> None:
    assert exit_code_of(kind) == 2


@pytest.mark.parametrize("kind", ["load", "predict", "crashed", "timeout"])
def test_what_went_wrong_while_running_is_a_failure(kind: str) -> None:
    assert exit_code_of(kind) == 3


@pytest.mark.parametrize("arguments", [("--bogus",), ("--version", "more"), ("--fps",), ("a.onnx", "b.onnx")])
def test_wrong_options_are_answered_in_words(arguments: tuple[str, ...]) -> None:
    assert_refused(called(*arguments), "see hettop --help")


def test_what_is_quoted_from_the_command_line_is_clean() -> None:
    assert_refused(called("--\x1b[31m\u202e"), "unrecognized arguments: --�[31m�")


@pytest.mark.parametrize("command", ["--help", "--version", "bench --help"])
def test_a_reader_that_is_gone_is_no_error(command: str) -> None:
    done = in_shell(f"{' '.join(HETTOP)} {command} | true")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_descriptors_are_no_error(closed: str) -> None:
    for command in ("--version", "--help", "bench --backend simulated --units ALL --runs 5"):
        done = in_shell(f"{' '.join(HETTOP)} {command} {closed}")
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""


def test_with_stdout_closed_nothing_is_printed_into_the_recording(tmp_path: Path) -> None:
    file = tmp_path / "r.jsonl"
    in_shell(f"{' '.join(HETTOP)} bench --backend simulated --units ALL --runs 5 --record {file} >&-")
    assert all(line.startswith('{"k":') for line in file.read_text().splitlines())
