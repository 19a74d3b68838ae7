"""Runs hettop as a user's shell does: a process of its own, in a plain environment."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from hettop.cli.main import run
from tests.processes.waiting import REPOSITORY

HETTOP = (sys.executable, "-m", "hettop")
PATIENCE_S = 100
KEPT = ("PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
"""What a shell hands on of the machine that `tests/conftest.py` makes."""
SIMULATED = ("--backend", "simulated", "--units", "CPU_AND_NE,ALL", "--warmup", "2")


def plain_environment(**more: str) -> dict[str, str]:
    """What a shell has, and nothing by which the person who runs the tests has set up theirs."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {**kept, "PYTHONPATH": str(REPOSITORY), "LANG": "C.UTF-8", "TERM": "xterm-256color", **more}


def hettop(*arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs it without a terminal, to its end."""
    return subprocess.run(
        [*HETTOP, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
        cwd=cwd,
        env=plain_environment(**environment),
    )


def called(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs it in this very process, which is quicker; for what starts no other one."""
    before = [(number, signal.getsignal(number)) for number in (signal.SIGTERM, signal.SIGHUP)]
    stdout, stderr = io.StringIO(), io.StringIO()
    for name in ("COLUMNS", "LINES"):  # a terminal that somebody tested on in this process is not this one's
        os.environ.pop(name, None)
    with contextlib.chdir(cwd or Path.cwd()), redirect_stdout(stdout), redirect_stderr(stderr):
        code = run(list(arguments))
    for number, handler in before:
        signal.signal(number, handler)
    return subprocess.CompletedProcess(arguments, code, stdout.getvalue(), stderr.getvalue())


def started(*arguments: str, cwd: Path | None = None) -> subprocess.Popen[str]:
    """Starts it, in a process group of its own that a test may send signals to."""
    return subprocess.Popen(
        [*HETTOP, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=plain_environment(),
        start_new_session=True,
    )


def one_document(stdout: str) -> dict[str, Any]:
    """Stdout as one JSON document; whatever else stands there makes this fail."""
    document: dict[str, Any] = json.loads(stdout)
    return document


def assert_refused(done: subprocess.CompletedProcess[str], words: str) -> None:
    """Exit code 2, a few words on stderr, nothing on stdout."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert words in done.stderr
    lines = done.stderr.splitlines()
    assert 0 < len(lines) <= 3
    assert lines[0].startswith("hettop: ")
    assert "Traceback" not in done.stderr
    assert not [c for c in done.stderr if ord(c) < 32 and c != "\n"]


def read(descriptor: int) -> bytes:
    """What a terminal has to tell; nothing once its other end is closed."""
    try:
        return os.read(descriptor, 65536)
    except OSError:  # as Linux says it
        return b""
