"""The README: what it promises about Python is what the package declares, and what it quotes is what is printed."""

from __future__ import annotations

import re
import shlex
import tomllib
from html import unescape
from pathlib import Path

from hettop.sources.engine.coreml.availability import NEWEST_PYTHON
from tests.cli.running import hettop

REPOSITORY = Path(__file__).parents[1]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
NEWEST = ".".join(map(str, NEWEST_PYTHON))


def test_the_commands_that_are_run_as_they_are_name_python3_and_macs_their_own_above_them() -> None:
    for mark in ("<!-- run -->", "<!-- test -->"):
        above, _, below = README.partition(f"{mark}\n```sh\n")
        assert below.startswith("python3 -m venv .venv && "), mark
        assert f"`python{NEWEST}` for `python3`" in above.strip().splitlines()[-1], mark


def test_the_oldest_python_is_the_one_that_the_package_declares() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"Python {project['requires-python'].removeprefix('>=')}" in README


def test_uv_is_reported_a_python_that_has_core_ml() -> None:
    told = [call for call in re.findall(r"`(uv run [^`]*)`", README) if f"--python {NEWEST} " not in call]
    assert told == []
    assert not (REPOSITORY / ".python-version").exists(), "pyenv obeys it, too"


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= 120


def test_quoted_output_of_a_shipped_recording_is_what_is_printed_now() -> None:
    """Line by line, apart from spaces and escapes. What is measured anew differs from run to run and is left out."""
    checked = 0
    for block in re.findall(r"^```console\n\$ (.*?)^```", README, flags=re.S | re.M):
        command, *quoted = block.splitlines()
        if "recordings/" not in command:
            continue
        printed = hettop(*shlex.split(command)[1:], cwd=REPOSITORY).stdout
        text = " ".join(unescape(printed.replace("\\", "").replace("|", " ")).split())
        assert [line for line in quoted if " ".join(line.split()) not in text] == [], command
        checked += 1
    assert checked == 2
