"""Children are started in one place, where they get their guard, their log and their environment."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import hettop

PACKAGE = Path(hettop.__file__).parent
HARMLESS = {"Future"}
"""Of the modules below: the result of a coroutine that another thread runs, which starts nothing."""

MODULES = {"subprocess", "multiprocessing", "pty", "concurrent.futures"}
CALLS = {"fork", "forkpty", "posix_spawn", "posix_spawnp", "system", "popen", "create_subprocess_exec"}
ALLOWED = {
    "processes/child_process.py": "the one place",
    "tui/actions/measuring.py": "sudo asks on the terminal itself: it has no pipes to read and outlives nothing",
}


def starters(source: str) -> Iterator[str]:
    """What in a module could start a process."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names if alias.name in MODULES)
            case ast.ImportFrom(module=str(module), names=names) if module in MODULES:
                yield from (f"{module}.{alias.name}" for alias in names if alias.name not in HARMLESS)
            case ast.Attribute(attr=name) if name in CALLS or name.startswith(("exec", "spawn")):
                if isinstance(node.value, ast.Name) and node.value.id in ("os", "asyncio"):
                    yield name


def test_only_one_module_starts_children_and_the_other_has_its_reason() -> None:
    found = {
        str(path.relative_to(PACKAGE)): names
        for path in PACKAGE.rglob("*.py")
        if (names := list(starters(path.read_text(encoding="utf-8"))))
    }
    assert set(found) == set(ALLOWED), found


def test_what_starts_children_is_told_from_what_only_has_its_module() -> None:
    assert not list(starters("from concurrent.futures import Future"))
    assert list(starters("from concurrent.futures import Future, ProcessPoolExecutor")) == [
        "concurrent.futures.ProcessPoolExecutor"
    ]
    assert list(starters("import subprocess\nimport os\nos.execv('a', [])")) == ["subprocess", "execv"]
