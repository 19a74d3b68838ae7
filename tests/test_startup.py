"""What is imported to start: a library that is not needed yet must not be waited for."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.running import plain_environment, read
from tests.processes.waiting import PATIENCE_S

# Runs hettop and writes down, when it ends, the names of all top-level modules that it has imported.
WATCHED = """
import atexit, json, pathlib, sys
def note():
    names = sorted({name.partition(".")[0] for name in sys.modules})
    pathlib.Path(sys.argv[1]).write_text(json.dumps(names))
atexit.register(note)
from hettop.__main__ import main
sys.exit(main(sys.argv[2:]))
"""
FRAMEWORKS = {"onnxruntime", "onnx", "coremltools"}
SLOW = {*FRAMEWORKS, "textual", "rich", "numpy", "scipy", "diptest", "msgspec", "psutil"}


def imported_by(*arguments: str, tmp_path: Path) -> set[str]:
    note = tmp_path / "modules.json"
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, str(note), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=PATIENCE_S,
        env=plain_environment(),
    )
    assert done.returncode in (0, 2), done.stderr
    return set(json.loads(note.read_text()))


@pytest.mark.parametrize(
    "arguments",
    [
        ("--version",),
        ("--help",),
        ("bench", "--help"),
        ("replay", "--help"),
        ("--fps", "x"),
        ("help", "keys"),
        ("help", "config"),
        ("completions", "bash"),
    ],
)
def test_what_needs_no_model_imports_nothing_slow(arguments: tuple[str, ...], tmp_path: Path) -> None:
    assert imported_by(*arguments, tmp_path=tmp_path) & SLOW == set()


def test_a_bench_leaves_the_frameworks_to_its_engine_processes(tmp_path: Path) -> None:
    """Runs enough for quantiles with intervals and for modes: its statistics need no library but numpy."""
    arguments = ("bench", "mobilenetv2:32x32", "--units", "CPU_ONLY@1", "--runs", "100")
    assert imported_by(*arguments, tmp_path=tmp_path) & {*FRAMEWORKS, "textual", "scipy"} == set()


def test_a_replay_without_a_screen_imports_no_screen(tmp_path: Path) -> None:
    assert imported_by("replay", "missing.jsonl", "--headless", tmp_path=tmp_path) & {*FRAMEWORKS, "textual"} == set()


def test_the_screen_waits_for_no_framework_and_no_statistics_library(tmp_path: Path) -> None:
    """Until it is left again right after its first picture, that is."""
    note = tmp_path / "modules.json"
    far, near = pty.openpty()
    command = [sys.executable, "-c", WATCHED, str(note), "--backend", "onnxruntime", "mobilenetv2:32x32"]
    with subprocess.Popen(
        command, stdin=near, stdout=near, stderr=near, env=plain_environment(COLUMNS="100", LINES="30")
    ) as process:
        os.close(near)
        shown = b""
        deadline = time.monotonic() + PATIENCE_S
        while b"CPU_ONLY" not in shown:
            assert time.monotonic() < deadline
            shown += os.read(far, 65536)
        os.write(far, b"q")
        while read(far):
            pass
        assert process.wait(PATIENCE_S) == 0
    os.close(far)
    modules = set(json.loads(note.read_text()))
    assert "textual" in modules
    assert modules & {*FRAMEWORKS, "scipy", "diptest", "tomlkit"} == set()


def test_the_screen_is_painted_before_numpy_and_the_codec_are_imported(tmp_path: Path) -> None:
    code = "import json, sys, hettop.tui.app; print(json.dumps(sorted({n.partition('.')[0] for n in sys.modules})))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, timeout=PATIENCE_S, env=plain_environment()
    )
    imported = set(json.loads(done.stdout))
    assert "textual" in imported
    assert imported & {"numpy", "msgspec", "psutil", "scipy", *FRAMEWORKS} == set()
