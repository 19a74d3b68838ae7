"""What nobody foresaw is reported in a line with exit 3, and never takes a terminal or a result along."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hettop.processes.reaper import Reaper
from hettop.report.document import to_json
from tests.cli.running import plain_environment
from tests.processes.waiting import PATIENCE_S

BROKEN = "import sys, hettop.cli.main as cli; cli._dispatch = lambda argv: [][1]; sys.exit(cli.run([]))"


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
