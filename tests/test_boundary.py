"""What nobody foresaw is reported in a line with exit 3, and never takes a terminal or a result along."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.terminal import Terminal
from hettop.processes.reaper import Reaper
from hettop.report.document import to_json
from hettop.version import __version__
from tests.cli.running import plain_environment
from tests.processes.waiting import PATIENCE_S

BROKEN = "import sys, hettop.cli.main as cli; cli._dispatch = lambda argv: [][1]; sys.exit(cli.run([]))"

BROKEN_KEY = """
import sys
from hettop.cli.main import run
from hettop.tui.app import HettopApp
HettopApp.action_freeze = lambda app: 1 / 0
sys.exit(run(sys.argv[1:]))
"""


def ran(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        env={**plain_environment(), **environment},
    )


def test_a_fault_of_our_own_is_explained_and_is_no_failed_threshold() -> None:
    done = ran(BROKEN)
    assert done.returncode == 3
    assert "IndexError" in done.stderr
    assert "HETTOP_DEBUG" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_traceback_is_kept_for_a_report(tmp_path: Path) -> None:
    done = ran(BROKEN, XDG_STATE_HOME=str(tmp_path))
    kept = tmp_path / "hettop" / "internal-error.txt"
    assert f"report it with {kept}" in done.stderr
    assert "IndexError: list index out of range" in kept.read_text()
    assert kept.read_text().startswith(f"hettop {__version__}, Python 3.")


def test_an_internal_error_of_the_screen_closes_the_recording_and_restores_the_terminal(tmp_path: Path) -> None:
    recording = tmp_path / "r.jsonl"
    argv = [sys.executable, "-c", BROKEN_KEY, "--demo", "--record", str(recording)]
    with Terminal(argv, environment={"XDG_STATE_HOME": str(tmp_path)}) as terminal:
        terminal.await_text(b"P90", PATIENCE_S)
        terminal.press("f")  # the first key closes the introduction
        terminal.press("f")
        assert terminal.process.wait(PATIENCE_S) == 3
        terminal.await_text(b"internal error: ZeroDivisionError", PATIENCE_S)
        shown = b"".join(terminal.kept)
        assert b"internal-error.txt" in shown
        assert b"Traceback" not in shown
        assert shown.count(b"\x1b[?1049l") >= shown.count(b"\x1b[?1049h"), "the alternate screen was left"
        assert terminal.is_canonical
    assert "ZeroDivisionError: division by zero" in (tmp_path / "hettop" / "internal-error.txt").read_text()
    assert json.loads(recording.read_text().splitlines()[-1])["k"] == "end"


def test_whoever_looks_for_it_gets_the_traceback() -> None:
    assert "Traceback" in ran(BROKEN, HETTOP_DEBUG="1").stderr


@pytest.mark.parametrize("command", ["bench", "inspect"])
def test_an_output_without_unicode_loses_dashes_and_no_result(command: str) -> None:
    options = ["--units", "CPU_ONLY@1", "--runs", "70"] if command == "bench" else []
    done = subprocess.run(
        [sys.executable, "-m", "hettop", command, "mobilenetv2:32x32", *options],
        capture_output=True,
        check=False,
        timeout=PATIENCE_S,
        env={**plain_environment(), "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 0, done.stderr
    assert b"mobilenetv2" in done.stdout
    done.stdout.decode("ascii")


def test_a_name_that_is_no_utf8_is_refused_in_words(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hettop", "bench", b"bad\xff.onnx"],
        capture_output=True,
        check=False,
        timeout=PATIENCE_S,
        cwd=tmp_path,
        env=plain_environment(),
    )
    assert done.returncode == 2
    assert b"UTF-8" in done.stderr
    assert b"Traceback" not in done.stderr


def test_json_on_a_terminal_holds_no_control_and_no_bidi_characters() -> None:
    text = to_json({"name": "\x9b31m\u202e\x1b]52;", "n": 1})
    assert text.isascii()
    assert not any(ord(character) < 32 and character != "\n" for character in text)


def test_a_reaper_that_stands_still_holds_nobody_up() -> None:
    sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    reaper = Reaper()
    try:
        reaper.add(sleeper.pid)
        assert reaper.pid is not None
        os.kill(reaper.pid, signal.SIGSTOP)
        reaper.close()
        assert sleeper.wait(PATIENCE_S) == -signal.SIGKILL, "its work is done without it"
    finally:
        sleeper.kill()
