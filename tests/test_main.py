"""What the program settles before it runs anything: the size of what it prints to."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hettop.__main__ import forget_odd_sizes
from tests.cli.running import hettop, plain_environment
from tests.processes.waiting import PATIENCE_S

TABLE = ("bench", "--backend", "simulated", "--units", "ALL", "--warmup", "0", "--runs", "3")


@pytest.mark.parametrize("told", ["20", "80", "1000", " 80 "])
def test_a_width_that_is_one_is_left_active(told: str) -> None:
    environ = {"COLUMNS": told, "LINES": "24", "TERM": "xterm"}
    forget_odd_sizes(environ)
    assert environ == {"COLUMNS": told, "LINES": "24", "TERM": "xterm"}


@pytest.mark.parametrize("told", ["", "0", "-80", "abc", "8e1", "80.5", "1", "19", "1001", "9" * 5000, "٨٠", "²"])
def test_what_is_no_size_is_as_if_it_were_not_set(told: str) -> None:
    environ = {"COLUMNS": told, "LINES": told, "TERM": "xterm"}
    forget_odd_sizes(environ)
    assert set(environ) - {"LINES"} == {"TERM"}
    assert environ.get("LINES") in (None, "19")


@pytest.mark.parametrize("told", ["0", "abc", "1", "1000000000"])
def test_a_table_has_its_usual_width_then(told: str) -> None:
    done = hettop(*TABLE, COLUMNS=told, LINES=told)
    assert (done.returncode, done.stderr) == (0, "")
    assert 60 < max(map(len, done.stdout.splitlines())) <= 100


INTERRUPTED_WHILE_IMPORTING = """
import signal, sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "hettop.cli.commands":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
from hettop.__main__ import main
sys.exit(main(["bench"]))
"""


def test_an_interruption_while_it_starts_ends_it_silently() -> None:
    command = [sys.executable, "-c", INTERRUPTED_WHILE_IMPORTING]
    done = subprocess.run(command, capture_output=True, check=False, timeout=PATIENCE_S, env=plain_environment())
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
