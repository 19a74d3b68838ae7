"""Watching processes from tests: whether they are gone, by polling with a generous end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import psutil

import hettop

PATIENCE_S = 240.0
"""What hangs is given up after this. No test that passes depends on it, however busy the machine is."""
REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGE = Path(hettop.__file__).resolve().parent
"""The source that is tested: in the repository, or, when a wheel is tested, installed elsewhere."""


def wait_for(condition: Callable[[], bool], what: str) -> None:
    """Polls `condition`; fails the test when it has not come true in `PATIENCE_S`."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"never happened: {what}"
        time.sleep(0.01)


def gone(pids: Iterable[int]) -> bool:
    """Whether none of the processes runs any more. A zombie that init has not collected yet is gone, too."""
    for pid in pids:
        try:
            if psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
                return False
        except psutil.NoSuchProcess:
            continue
    return True


def environment() -> dict[str, str]:
    """One in which a child process finds `hettop` and `tests`."""
    return {**os.environ, "PYTHONPATH": str(REPOSITORY)}
