"""Runs hettop as a user's shell does: in a plain environment, as a process of its own or, quicker, in this one."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

from hettop.__main__ import main
from hettop.cli.main import run
from tests.processes.waiting import PATIENCE_S, REPOSITORY

HETTOP = (sys.executable, "-m", "hettop")
KEPT = ("PATH", "HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "HETTOP_PROVIDERS")
"""What a shell hands on of the machine that `tests/conftest.py` makes."""
SIMULATED = ("--backend", "simulated", "--units", "CPU_AND_NE,ALL", "--warmup", "2")


def plain_environment(**more: str) -> dict[str, str]:
    """What a shell has, and nothing by which the person who runs the tests has set up theirs."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    return {**kept, "PYTHONPATH": str(REPOSITORY), "LANG": "C.UTF-8", "TERM": "xterm-256color", **more}


def hettop_process(*arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the program as a shell does, without a terminal and to its end.

    For what only a process of its own shows; `hettop` is quicker by all that a program imports.
    """
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


def hettop(*arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the program's main function here, in the plain environment; what it starts are processes as ever."""
    handlers = [(number, signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    stdout, stderr = Printed(), Printed()
    with (
        Path(os.devnull).open() as nothing,
        mock.patch.object(sys, "stdin", nothing),
        mock.patch.object(tempfile, "tempdir", None),  # read from TMPDIR anew
        mock.patch.dict(os.environ, plain_environment(**environment), clear=True),
        contextlib.chdir(cwd or Path.cwd()),
        redirect_stdout(stdout),
        redirect_stderr(stderr),
    ):
        try:
            code = main(list(arguments))
        finally:
            for number, handler in handlers:
                signal.signal(number, handler)
    return subprocess.CompletedProcess(arguments, code, stdout.text, stderr.text)


class Printed(io.TextIOWrapper):
    """A stream that keeps what is written to it, bytes and text."""

    def __init__(self) -> None:
        self.kept = io.BytesIO()
        super().__init__(self.kept, encoding="utf-8", write_through=True)

    @property
    def text(self) -> str:
        return self.kept.getvalue().decode()


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
    """Exit code 2, an error and a hint on stderr, nothing on stdout but the last line of `--stream`."""
    assert done.returncode == 2, done.stderr
    if "--stream" in done.args:
        (line,) = done.stdout.splitlines()
        assert json.loads(line)["failed"]["kind"] == "usage"
    else:
        assert done.stdout == ""
    assert words in done.stderr
    lines = done.stderr.splitlines()
    assert 0 < len(lines) <= 3
    assert lines[0].startswith("error: ")
    assert all(line.startswith("hint: ") for line in lines[1:])
    assert "Traceback" not in done.stderr
    assert not [c for c in done.stderr if ord(c) < 32 and c != "\n"]


def read(descriptor: int) -> bytes:
    """What a terminal has printed; nothing once its other end is closed."""
    try:
        return os.read(descriptor, 65536)
    except OSError:  # as Linux says it
        return b""
