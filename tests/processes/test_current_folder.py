"""No child process runs Python of the current folder, whatever lies in it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hettop.processes import reaper
from hettop.processes.child_process import ChildProcess, environment_for_child, module_command
from hettop.processes.reaper import Reaper
from tests.processes.waiting import PACKAGE, PATIENCE_S

SOURCES = sorted(PACKAGE.rglob("*.py"))
MODULES = sorted({name for path in SOURCES for name in re.findall(r'module_command\("([\w.]+)"\)', path.read_text())})
HOSTILE = ("hettop/__init__.py", "numpy.py", "msgspec.py", "psutil.py", "onnx.py", "onnxruntime.py", "signal.py")


def test_python_is_started_in_two_places_alone() -> None:
    assert len(MODULES) >= 12
    starting = {path.name for path in SOURCES if re.search(r"\bsys\.executable\b", path.read_text())}
    assert starting == {"child_process.py", "reaper.py"}


@pytest.mark.parametrize("module", MODULES)
def test_a_module_is_run_from_where_hettop_is(module: str, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    for name in HOSTILE:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"open({str(ran)!r}, 'a').write(__file__ + '\\n')\n")
    environment = environment_for_child({**os.environ, "PYTHONPATH": ""})
    arguments = ("version",) if module == "hettop" else ()
    subprocess.run(
        (*module_command(module), *arguments),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=tmp_path,
        env=environment,
        timeout=PATIENCE_S,
        check=False,
    )
    assert not ran.exists(), ran.read_text()


def test_the_reaper_is_started_without_a_folder_to_search(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[str, ...]] = []

    class Watched(ChildProcess):
        def __init__(self, argv: tuple[str, ...], *rest: Any, **options: Any) -> None:
            started.append(argv)
            super().__init__(argv, *rest, **options)

    monkeypatch.setattr(reaper, "ChildProcess", Watched)
    Reaper().close()
    assert started[0][:4] == (sys.executable, "-S", "-E", "-P")
