"""`hettop help`, completions and the manual page: made of the same data as what they explain."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from hettop.app.settings.schema import SETTINGS
from hettop.cli.commands import COMMANDS, LIVE, all_options, parser_of
from hettop.cli.help import manual
from hettop.cli.topics import TOPICS, page
from hettop.resources import themes_folder
from hettop.stats.quantiles import samples_needed
from hettop.tui.keys import KEYS
from hettop.tui.themes import load_themes
from tests.cli.running import assert_refused, called, hettop_process


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_is_a_short_page_that_fits(topic: str) -> None:
    done = called("help", topic)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{topic.upper()}\n\n")
    assert len(done.stdout.splitlines()) <= 90
    set_as_they_stand = [line for line in page(topic, 60).splitlines() if not line.startswith("  ")]
    assert max(map(len, set_as_they_stand)) <= 60


def test_the_keys_of_the_help_are_those_of_the_screen() -> None:
    text = page("keys", 100)
    for key in KEYS:
        assert f"{key.display:<10} {key.id:<16} {key.words}" in text


def test_the_settings_and_the_themes_of_the_help_are_those_there_are() -> None:
    assert all(f"  {setting.name} " in page("config", 100) for setting in SETTINGS)
    assert all(f"  {theme.name} " in page("themes", 100) for theme in load_themes([themes_folder()])[0])


def test_the_figures_of_the_help_are_those_of_the_statistics() -> None:
    text = page("percentiles", 100)
    assert f"how many of its {samples_needed(0.9)} samples" in text
    assert f"P99     not shown below {samples_needed(0.99)} samples" in text
    assert f"P99.9   not shown below {samples_needed(0.999):,} samples" in text


def test_without_a_topic_all_commands_and_topics_are_listed() -> None:
    text = called("help").stdout
    assert all(f"\n  {name} " in text for name in (*COMMANDS, *TOPICS))


def test_a_command_as_a_topic_has_its_own_help() -> None:
    assert called("help", "bench").stdout == called("bench", "--help").stdout


def test_an_unknown_topic_gets_the_nearest_as_a_hint() -> None:
    assert_refused(called("help", "percentile"), "did you mean 'percentiles'?")
    assert_refused(called("help", "\x1b[31m"), "unknown topic")


def test_a_terminal_without_unicode_gets_ascii() -> None:
    done = hettop_process("help", "panels", LANG="C", LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "?" not in done.stdout.replace("`?`", "")


@pytest.mark.parametrize("command", [LIVE, *COMMANDS])
def test_every_command_has_a_parser_to_make_things_of(command: str) -> None:
    assert parser_of(command).prog == f"hettop {command}".strip()


def test_the_manual_has_every_command_option_and_topic() -> None:
    text = manual()
    assert text.startswith(".TH HETTOP 1")
    plain = text.replace("\\-", "-")
    for command, options in all_options():
        assert command == LIVE or f".SS {command}\n" in text
        assert all(f"\\fB{flag}\\fR" in plain for option in options for flag in option.flags)
    assert all(f'.SH "{name.upper()}"' in text for name in TOPICS)
    assert text.isascii(), "troff takes nothing else for granted"


def test_the_manual_is_troff_without_a_warning(tmp_path: Path) -> None:
    if shutil.which("groff") is None:
        pytest.skip("groff is not installed")
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8"], input=manual(), capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
