"""The simulated machine on terminals of all sizes, and one that changes its size while it is looked at."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest

from tests.end_to_end.terminal import Terminal


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40)])
def test_the_demo_shows_all_units_and_that_they_are_simulated(width: int, height: int, tmp_path: Path) -> None:
    with Terminal(tmp_path, ["--demo"], width, height) as terminal:
        shown = terminal.until("SIMULATED", "P90", "CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL")
        assert max(map(len, shown.splitlines())) <= width
        terminal.until_so(lambda now: now != shown, "it goes on")
        terminal.press("q")
        terminal.assert_left(0)


def test_no_size_is_too_small_and_resizing_is_followed(tmp_path: Path) -> None:
    with Terminal(tmp_path, ["--demo"], 20, 5) as terminal:
        terminal.until("SIM")
        terminal.resize(40, 8)
        terminal.until("SIMULATED")
        terminal.resize(120, 40)
        terminal.until("SIMULATED", "P90", "timeline", "events", "CPU_AND_NE")
        terminal.resize(80, 24)
        terminal.until("SIMULATED", "P90", "CPU_AND_NE")
        terminal.resize(20, 5)
        terminal.until_so(lambda shown: "SIM" in shown and "CPU_AND_NE" not in shown, "it is drawn small")
        assert terminal.hettop().is_running()
        terminal.press("?")
        # By a word of its own: while it redraws after a resize, "SIM" is off the screen for a moment, too, and Escape
        # and q would then arrive in one read, as Alt+q.
        terminal.until("The latencies", without=["SIM"])
        terminal.press("Escape")
        terminal.until("SIM")
        terminal.press("q")
        terminal.assert_left(0)


def test_many_small_changes_leave_what_one_whole_redraw_draws(tmp_path: Path) -> None:
    """Of a line the cells that have changed are sent alone, so what was left out has to be there already."""
    with Terminal(tmp_path, ["--demo", "--fps", "10"], 120, 40) as terminal:
        terminal.until("ALL loaded")
        terminal.until_so(lambda shown: re.search(r"ALL +\d", shown) is not None, "all units were measured")
        terminal.press("f")
        terminal.until("FROZEN")
        terminal.until_still()
        before = terminal.coloured
        terminal.signal(signal.SIGCONT)  # as after a stop, when others may have written on the terminal
        terminal.until_still()
        assert terminal.coloured == before
        terminal.press("q")
        terminal.assert_left(0)


def test_plain_characters_are_plain(tmp_path: Path) -> None:
    with Terminal(tmp_path, ["--demo", "--ascii"], 100, 30) as terminal:
        assert terminal.until("SIMULATED", "P90", "CPU_AND_NE").isascii()
        terminal.press("q")
        terminal.assert_left(0)
