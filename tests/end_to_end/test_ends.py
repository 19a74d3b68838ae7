"""However hettop ends: no process stays, the terminal is as it was, the recording is closed."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from tests.commands.running import hettop, one_document
from tests.end_to_end.terminal import Terminal
from tests.engine.processes import gone, wait_for


def running(terminal: Terminal, recording: Path) -> list[int]:
    """Waits until samples are measured and recorded; the pids of hettop and of all it has started."""
    terminal.until("LIVE", "P90", "REC")
    wait_for(lambda: recording.exists() and '"steady"' in recording.read_text(), "samples are recorded")
    family = terminal.family()
    assert len(family) >= 4, "hettop, its reaper, an engine process and a load"
    return family


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_told_to_end_it_closes_everything(number: signal.Signals, code: int, tmp_path: Path) -> None:
    with Terminal(tmp_path, ["--record", "r.jsonl", "--load", "cpu:1"]) as terminal:
        family = running(terminal, tmp_path / "r.jsonl")
        terminal.signal(number)
        terminal.assert_left(code)
        wait_for(lambda: gone(family), "all processes end")
    assert json.loads((tmp_path / "r.jsonl").read_text().splitlines()[-1])["k"] == "end"


def test_killed_it_leaves_no_process_and_a_recording_that_plays(tmp_path: Path) -> None:
    with Terminal(tmp_path, ["--record", "r.jsonl", "--load", "cpu:1"]) as terminal:
        family = running(terminal, tmp_path / "r.jsonl")
        terminal.signal(signal.SIGKILL)
        terminal.until("LEFT:137")
        wait_for(lambda: gone(family), "all processes end")
    done = hettop("replay", str(tmp_path / "r.jsonl"), "--json")
    assert one_document(done.stdout)["conditions"][0]["n"] > 0


def test_when_its_terminal_goes_away_it_ends_and_closes_the_recording(tmp_path: Path) -> None:
    with Terminal(tmp_path, ["--record", "r.jsonl", "--load", "cpu:1"]) as terminal:
        family = running(terminal, tmp_path / "r.jsonl")
    wait_for(lambda: gone(family), "all processes end")
    assert json.loads((tmp_path / "r.jsonl").read_text().splitlines()[-1])["k"] == "end"
