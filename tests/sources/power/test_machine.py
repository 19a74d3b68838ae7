"""How the sources start what measures: it must die of its closed pipe, for a user cannot kill what runs as root."""

from __future__ import annotations

import ast
import os
import signal
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import hettop.sources.power
from hettop.sources.power.child import ChildOutput
from hettop.sources.power.machine import spawn
from tests.sources.power.machines import mac

PACKAGE = Path(hettop.sources.power.__file__).parent
STARTS = {"Popen", "run", "call", "check_call", "check_output", "posix_spawn", "fork", "system", "popen"}


@pytest.fixture
def ignored() -> Iterator[None]:
    """This process ignores SIGPIPE, as every Python does: it must not rest on how the tests were started."""
    before = signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGPIPE, before)


@pytest.mark.usefixtures("ignored")
def test_a_child_is_started_with_sigpipe_at_its_default_action_and_not_blocked() -> None:
    # No Python: that would set it to be ignored by itself.
    with spawn(("sh", "-c", "kill -s PIPE $$; echo survived"), os.environ) as process:
        printed, _ = process.communicate()
    assert (printed, process.returncode) == (b"", -signal.SIGPIPE)


@pytest.mark.usefixtures("ignored")
def test_a_program_that_prints_for_ever_dies_of_its_closed_pipe_and_is_not_asked_to() -> None:
    def refuse(pid: int, number: int) -> None:
        raise AssertionError(f"it was sent signal {number}")

    child = ChildOutput(("yes",), replace(mac().machine, spawn=spawn), farewell_s=60, kill=refuse)
    with closing(child.chunks()) as chunks:
        assert next(chunks).startswith(b"y\n")
    assert child.exit_code == -signal.SIGPIPE


def test_no_source_starts_a_process_in_any_other_way() -> None:
    starts = [
        (path.name, node.func.attr)
        for path in sorted(PACKAGE.glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in STARTS
    ]
    assert starts == [("machine.py", "Popen")]
