"""The tutorial's walk through the screen: each key that it names, in its order, does what it says."""

from __future__ import annotations

import re
from pathlib import Path

from tests.end_to_end.terminal import Terminal
from tests.end_to_end.test_settings import of_this_user
from tests.processes.waiting import REPOSITORY

WALK = (
    (REPOSITORY / "docs/guide/tutorial.md").read_text(encoding="utf-8").partition("## 2. Look")[2].partition("## 3.")[0]
)


def test_the_walk_names_these_keys() -> None:
    """Where it names others, the walk below is to be changed with it."""
    assert re.findall(r"[Pp]ress `([^`]+)`", WALK) == ["c", "a", "i", "a", "l", "?", "v"]


def test_the_walk_goes_as_asked(tmp_path: Path) -> None:
    with Terminal(tmp_path, ["--demo"], environment=of_this_user(tmp_path)) as terminal:
        terminal.until("Welcome to hettop", "SIMULATED")
        terminal.press("Escape")
        terminal.until("P90", "3 units", without=["Welcome to"])
        terminal.press("c")
        terminal.until("▸ CPU_AND_GPU", without=["CPU / GPU"])
        terminal.press("a")
        terminal.until("latency ms", without=["all units · "])
        terminal.press("i")
        terminal.until("▸ CPU / GPU / NE / ALL")
        terminal.press("a")
        terminal.until("· all units ·")
        terminal.press("l")
        terminal.until("competing load", "active: none")
        terminal.press("Right")
        terminal.until("active: cpu:1")
        terminal.press("Escape")
        terminal.until("1 latency", "under cpu:1", without=["competing load"])
        terminal.press("?")
        terminal.until("The latencies of")
        terminal.press("Escape")
        terminal.until("1 latency", without=["The latencies of"])
        terminal.press("v")
        terminal.until("verdict", "verdict · at")
        terminal.press("q")
        terminal.until("1 latency", without=["verdict · at"])
        terminal.press("q")
        terminal.assert_left(0)
