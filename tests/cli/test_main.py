"""The command line as a whole: help, version, errors in words, and odd surroundings."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hettop import __version__
from hettop.cli.commands import COMMAND_GROUPS, COMMANDS
from hettop.cli.main import command_in
from hettop.console.measuring import Outcome, Pumpable
from hettop.exits import WRONG_USE_KINDS, exit_code_of
from tests.cli.running import HETTOP, assert_refused, called, hettop, hettop_process, plain_environment
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


@pytest.mark.parametrize("option", [("--help",), ("help", "live")])
def test_the_options_of_the_live_view_are_in_the_help(option: tuple[str, ...]) -> None:
    done = called(*option)
    assert (done.returncode, done.stderr) == (0, "")
    for part in ("examples:", "hettop --demo", "--units ", "--record FILE", "--fps", "--rate HZ"):
        assert part in done.stdout


@pytest.mark.parametrize("option", ["--help", "-h", "help"])
def test_every_command_is_listed_in_its_group(option: str) -> None:
    text = called(option).stdout
    places = [text.index(f"\n{title}:\n") for title in COMMAND_GROUPS]
    assert places == sorted(places)
    assert all(f"\n  {name} " in text for name in COMMANDS)


def test_every_command_is_in_one_group() -> None:
    assert sorted(name for names in COMMAND_GROUPS.values() for name in names) == sorted(COMMANDS)


def test_the_help_of_topics_begins_with_them() -> None:
    assert called("help").stdout.startswith("topics:\n")


@pytest.mark.parametrize("command", [(), *((command,) for command in COMMANDS)])
def test_the_short_help_is_shorter_and_points_to_the_long_one(command: tuple[str, ...]) -> None:
    short, long = called(*command, "-h"), called(*command, "--help")
    assert (short.returncode, short.stderr) == (0, "")
    assert len(short.stdout.splitlines()) < len(long.stdout.splitlines())
    assert "--help" in short.stdout


def test_the_version_is_a_command_too() -> None:
    assert called("version").stdout == f"hettop {__version__}\n"
    assert called("version", "-v").stdout.startswith(f"hettop {__version__}\nPython 3")


def test_general_options_may_stand_before_the_command() -> None:
    assert command_in(["-q", "--color", "never", "bench", "-n", "3"]) == (
        "bench",
        ["-q", "--color", "never", "-n", "3"],
    )
    assert command_in(["--color=never", "bench"]) == ("bench", ["--color=never"])
    assert command_in(["--demo", "bench"]) == ("", ["--demo", "bench"])


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_help_with_an_example(command: str) -> None:
    done = called(command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"examples:\n  hettop {command}" in done.stdout


@pytest.mark.parametrize("kind", sorted(WRONG_USE_KINDS))
def test_what_the_user_can_fix_is_wrong_use(kind: str) -> None:
    assert exit_code_of(kind) == 2


@pytest.mark.parametrize("kind", ["load", "predict", "crashed", "timeout"])
def test_what_went_wrong_while_running_is_a_failure(kind: str) -> None:
    assert exit_code_of(kind) == 3


@pytest.mark.parametrize("arguments", [("--bogus",), ("--version", "more"), ("--fps",), ("a.onnx", "b.onnx")])
def test_wrong_options_are_answered_in_words(arguments: tuple[str, ...]) -> None:
    assert_refused(called(*arguments), "see hettop --help")


def test_an_option_before_a_command_is_answered_with_their_order() -> None:
    assert_refused(called("--theme", "hettop-mono", "bench"), "put the command first: hettop bench")


def test_what_is_quoted_from_the_command_line_is_clean() -> None:
    assert_refused(called("--\x1b[31m\u202e"), "unknown option: --�[31m�")


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


def test_an_interruption_before_anything_was_measured_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(measurement: Pumpable, *_: object) -> Outcome:
        return Outcome(interrupted=True, closed=measurement.close("interrupted"))

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("hettop.cli.decide.measure", interrupted)
    monkeypatch.setattr("hettop.studies.predict.command.measure_networks", interrupt)
    for command in (("decide", "mobilenetv2", "--backend", "simulated"), ("predict",)):
        done = hettop(*command)
        assert done.returncode == 130
        assert done.stderr.endswith("error: interrupted: nothing was measured yet\n")
