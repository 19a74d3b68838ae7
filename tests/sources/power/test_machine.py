"""How the sources start what measures: it must die of its closed pipe, for a user cannot kill what runs as root."""

from __future__ import annotations

import ast
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import hettop.sources.power
from hettop.processes.child_process import ChildExit, ChildProcess, ProcessGuard
from hettop.sources.power.child import ChildOutput
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
def test_a_program_that_prints_for_ever_dies_of_its_closed_pipe_and_is_not_asked_to() -> None:
    def refuse(pid: int, number: int) -> None:
        raise AssertionError(f"it was sent signal {number}")

    def start(argv: Sequence[str], environment: Mapping[str, str] | None, guard: ProcessGuard | None) -> ChildProcess:
        return ChildProcess(argv, environment, guard, stdin=False, blocked=(), kill=refuse)

    child = ChildOutput(("yes",), replace(mac().machine, spawn=start), farewell_s=60)
    with closing(child.chunks()) as chunks:
        assert next(chunks).startswith(b"y\n")
    assert child.exit == ChildExit(-signal.SIGPIPE)


def test_no_source_starts_a_process_in_any_other_way() -> None:
    starts = [
        (path.name, node.func.attr)
        for path in sorted(PACKAGE.glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in STARTS
    ]
    assert starts == []
