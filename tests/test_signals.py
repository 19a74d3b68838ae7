"""The tests pass however they are started: `nohup` and `&` leave signals ignored, which no child of a test inherits."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.processes.waiting import PATIENCE_S, REPOSITORY, environment

IGNORING = ("sh", "-c", 'trap "" INT TERM HUP; exec "$@"', "sh")
ENDED_BY_DEFAULT = """
import signal
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
assert signal.getsignal(signal.SIGTERM) is signal.getsignal(signal.SIGHUP) is signal.SIG_DFL
"""


def test_a_child_starts_with_default_signals() -> None:
    subprocess.run([sys.executable, "-c", ENDED_BY_DEFAULT], check=True, timeout=PATIENCE_S)


@pytest.mark.parametrize("workers", ["0", "1"])
def test_so_it_does_where_the_tests_were_started_with_signals_ignored(workers: str) -> None:
    tested = f"{__file__}::{test_a_child_starts_with_default_signals.__name__}"
    done = subprocess.run(
        [*IGNORING, sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-n", workers, tested],
        cwd=REPOSITORY,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout
