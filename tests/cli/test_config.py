"""`hettop config` as a command: where, what, from where, and what is wrong."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.cli.running import assert_refused, hettop, hettop_process, one_document


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_STATE_HOME": str(tmp_path / "state")}


def config(home: dict[str, str], *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return hettop("config", *arguments, cwd=None, **{**home, **environment})


def test_without_a_file_it_says_so_and_shows_what_is_active(home: dict[str, str], tmp_path: Path) -> None:
    done = config(home)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{tmp_path}/config/hettop/config.toml  (does not exist)" in done.stdout
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line}
    assert rows["theme"] == ['"hettop-dark"', "default"]
    assert rows["layout.keep"] == ["true", "default"]


def test_the_example_is_written_once_and_sets_nothing(home: dict[str, str], tmp_path: Path) -> None:
    assert config(home, "--init").returncode == 0
    path = tmp_path / "config/hettop/config.toml"
    assert tomllib.loads(path.read_text()) == {}
    path.write_text("fps = 8\n")
    assert_refused(config(home, "--init"), "config file exists")
    assert path.read_text() == "fps = 8\n"


def test_every_value_reports_where_it_came_from(home: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('ascii = true\nfps = 8\nwindow = 10\n[keys]\n"unit.next" = "u"\n')
    done = config(home, "--json", "--fps", "2", HETTOP_CONFIG=str(file), HETTOP_WINDOW="60")
    document = one_document(done.stdout)
    assert done.returncode == 0
    told = {name: (value["value"], value["from"], value["where"]) for name, value in document["settings"].items()}
    assert told["ascii"] == (True, "file", "mine.toml, line 1")
    assert told["fps"] == (2.0, "option", "--fps")
    assert told["window"] == (60, "environment", "HETTOP_WINDOW")
    assert told["theme"] == ("hettop-dark", "default", None)
    assert document["keys"] == {"unit.next": {"value": "u", "from": "file", "where": "mine.toml, line 5"}}
    assert document["files"]["config"] == {"path": str(file), "exists": True}
    assert document["faults"] == []


@pytest.mark.parametrize("text", ["", 'theme = "nope"\n'])
def test_without_colours_the_theme_that_the_screen_takes_is_reported_and_why(
    home: dict[str, str], tmp_path: Path, text: str
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    page = config(home, HETTOP_CONFIG=str(file), NO_COLOR="1").stdout
    rows = {line.split()[0]: line.split()[1:] for line in page.splitlines() if line}
    assert rows["theme"] == ['"hettop-mono"', "NO_COLOR"]
    assert "note: NO_COLOR is set" in page
    document = one_document(config(home, "--json", HETTOP_CONFIG=str(file), NO_COLOR="1").stdout)
    assert document["settings"]["theme"] == {"value": "hettop-mono", "from": "environment", "where": "NO_COLOR"}


def test_a_theme_that_the_user_names_goes_before_no_color(home: dict[str, str]) -> None:
    page = config(home, "--theme", "light", NO_COLOR="1").stdout
    rows = {line.split()[0]: line.split()[1:] for line in page.splitlines() if line}
    assert rows["theme"] == ['"hettop-light"', "--theme"]
    assert "NO_COLOR" not in page


def test_all_that_is_wrong_is_named_and_the_exit_code_says_so(home: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('theme = "nope"\nwidnow = 3\n[keys]\nfreeze = "i"\nrecord = "ctrl+b"\n')
    done = config(home, HETTOP_CONFIG=str(file))
    assert (done.returncode, done.stderr) == (2, "")
    wrong = [line for line in done.stdout.splitlines() if line.startswith("error: ")]
    assert len(wrong) == 3
    assert "error: mine.toml, line 2: unknown setting 'widnow'; did you mean 'window'?" in wrong
    assert any("mine.toml, line 1: unknown theme 'nope'" in line for line in wrong)
    assert any("mine.toml, line 4: freeze: i is already the key of interleave" in line for line in wrong)
    assert "note: ctrl+b is the prefix key of tmux" in done.stdout
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line}
    assert rows["theme"] == ['"hettop-dark"', "default"], "what is active, not what was asked for"


@pytest.mark.parametrize("text", ["a = [", "\x00", "[[keys]]\na = 1\n", "keys = 3\n", 'theme = "\\u001b[31m"\n'])
def test_no_file_makes_it_crash(home: dict[str, str], tmp_path: Path, text: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    done = config(home, HETTOP_CONFIG=str(file))
    assert done.returncode == 2
    assert "error: mine.toml, line 1" in done.stdout
    assert "\x1b" not in done.stdout
    assert done.stderr == ""


def test_a_named_file_that_is_not_there_is_wrong(home: dict[str, str], tmp_path: Path) -> None:
    done = config(home, HETTOP_CONFIG=str(tmp_path / "none.toml"))
    assert done.returncode == 2
    assert "error: there is no none.toml" in done.stdout


def test_choices_from_the_screen_are_shown_and_forgotten(home: dict[str, str], tmp_path: Path) -> None:
    state = tmp_path / "state/hettop/state.json"
    state.parent.mkdir(parents=True)
    state.write_text('{"layout.hidden": {"chosen": ["power"], "over": []}, "introduced": true}')
    assert '["power"]              chosen on the screen' in config(home).stdout
    assert config(home, "--forget").returncode == 0
    assert not state.exists()
    assert "chosen on the screen\n" not in config(home).stdout


def test_measuring_without_a_screen_reads_no_settings(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("this is no TOML")
    done = hettop_process(
        "bench", "--backend", "simulated", "--units", "ALL", "--warmup", "0", "--runs", "5", HETTOP_CONFIG=str(file)
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_long_value_keeps_the_columns_apart_and_an_empty_one_is_none(home: dict[str, str], tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(f'power = "file:{"x" * 40}"\n')
    lines = config(home, HETTOP_CONFIG=str(file)).stdout.splitlines()
    rows = {line.split()[0]: line for line in lines if line}
    assert rows["layout.zoomed"].split()[1:] == ["none", "default"]
    at = rows["setting"].index("from")
    assert (rows["fps"].index("default"), rows["power"].index("mine.toml, line 1")) == (at, at)
