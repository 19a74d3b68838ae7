"""The table of commands: each has options and a runner, and none is imported before it is run."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import hettop
from hettop.cli.commands import COMMANDS, LIVE, command_of, parse, parser_of
from tests.cli.running import plain_environment
from tests.processes.waiting import PATIENCE_S

NAMES = [LIVE, *COMMANDS]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_a_runner_a_summary_and_a_description(name: str) -> None:
    command = command_of(name)
    module, _, function = command.runner.partition(":")
    assert callable(getattr(importlib.import_module(module), function))
    assert command.summary[0].isupper()
    assert not command.summary.endswith(".")
    assert "\n\nexamples:\n  hettop" in (parser_of(name).description or "")


def test_every_module_with_a_runner_is_in_the_table() -> None:
    """A command that nobody can call is dead code; that of a co-execution without a screen is called by another's."""
    folder = Path(hettop.__file__).parent
    runners = {
        f"{'.'.join(['hettop', *path.relative_to(folder).with_suffix('').parts])}:{found}"
        for pattern, name in (("cli/*.py", "run(?:_[a-z]+)?"), ("studies/*/command.py", "run"))
        for path in folder.glob(pattern)
        for found in re.findall(rf"^def ({name})\(arguments: argparse.Namespace\)", path.read_text(), re.M)
    }
    assert {command_of(name).runner for name in NAMES} == runners - {"hettop.studies.coexec.command:run"}


def test_the_table_imports_no_runner() -> None:
    code = (
        "import json, sys; before = set(sys.modules); import hettop.cli.commands; "
        "print(json.dumps(list(set(sys.modules) - before)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, timeout=PATIENCE_S, env=plain_environment()
    )
    imported = set(json.loads(done.stdout))
    assert "hettop.studies.registry" in imported
    assert imported & {command_of(name).runner.partition(":")[0] for name in NAMES} == set()
    assert imported & {"pathlib", "difflib"} == set(), "every help would wait for them"


def test_the_command_line_is_kept_as_it_was_written() -> None:
    """A study's recording reports by which command it was made."""
    assert parse("sweep", ["--batch", "1,2"]).command == ["sweep", "--batch", "1,2"]
    assert parse(LIVE, ["model.onnx"]).command == ["model.onnx"]
