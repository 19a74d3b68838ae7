"""A replay in a real terminal: typed moments, spikes, and a selection that is played over and over."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.terminal import Terminal
from tests.processes.waiting import REPOSITORY

RECORDING = REPOSITORY / "recordings" / "simulated-m2.jsonl"


@pytest.mark.parametrize(("width", "height"), [(120, 40), (80, 24)])
def test_going_to_a_moment_selecting_and_looping(width: int, height: int, tmp_path: Path) -> None:
    with Terminal(tmp_path, ["replay", str(RECORDING)], width, height) as terminal:
        terminal.until("REPLAY", "P90")
        terminal.press("Space")
        go_to(terminal, "1", "0", "s")
        terminal.until("00:10.0")
        terminal.press("(")
        terminal.until("sets the other end")
        go_to(terminal, "0", ":", "1", "2")
        terminal.until("00:12.0")
        terminal.press(")")
        terminal.until_so(selected, "the statistics of what is selected")
        terminal.press("o")
        terminal.until("loop", "00:11")
        terminal.until("00:10")  # it went round
        terminal.press("o", "Space", "S-Right")
        terminal.until("spike ")
        terminal.press("q")
        terminal.assert_left(0)


def go_to(terminal: Terminal, *keys: str) -> None:
    terminal.press("g")
    terminal.until("Enter goes there")
    terminal.press(*keys, "Enter")


def selected(shown: str) -> bool:
    """Whether a line is about samples between the two ends."""
    return any(line.lstrip().startswith("(") and " n " in line and "P90" in line for line in shown.splitlines())
