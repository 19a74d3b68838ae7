"""A session as a user has it: measured on the real engine, recorded, and played again."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import Any

import psutil

from tests.end_to_end.terminal import Terminal
from tests.processes.waiting import gone, wait_for


def test_measuring_recording_and_playing_it_again(tmp_path: Path) -> None:
    with Terminal(tmp_path, []) as terminal:
        terminal.until("LIVE", "mobilenetv2", "P90", "has only its CPU engine")
        _runs(terminal, "CPU_ONLY")
        _switches_units(terminal)
        _pauses_and_freezes(terminal)
        recording = _records(terminal, tmp_path)
        _starts_a_load_and_resets(terminal)
        _helps(terminal)
        family = terminal.family()
        terminal.press("q")
        terminal.assert_left(0)
        wait_for(lambda: gone(family), "all processes end")
    (tmp_path / "again").mkdir()
    with Terminal(tmp_path / "again", ["replay", str(recording)]) as terminal:
        _plays(terminal, json.loads(recording.read_text().splitlines()[-1])["t"])


def _runs(terminal: Terminal, unit: str) -> None:
    """The unit is the active one and its row has numbers: a count of samples, then mean and P90."""
    row = re.compile(rf"▶ {unit}[ ‹] +[1-9][\d,.kM]* +[\d.]+ +[\d.]+ ")
    terminal.until_so(lambda shown: row.search(shown) is not None, f"{unit} runs")


def _switches_units(terminal: Terminal) -> None:
    terminal.press("c")
    _runs(terminal, "CPU_ONLY@1")
    terminal.click(10, terminal.row_of("  CPU_ONLY  "))
    _runs(terminal, "CPU_ONLY")


def _pauses_and_freezes(terminal: Terminal) -> None:
    terminal.press("Space")
    terminal.until("PAUSED", without=["LIVE"])
    terminal.press("Space")
    terminal.until("LIVE", without=["PAUSED"])
    terminal.press("f")
    terminal.until("FROZEN", without=["LIVE"])
    terminal.until_still()
    terminal.press("f")
    terminal.until("LIVE", without=["FROZEN"])


def _records(terminal: Terminal, folder: Path) -> Path:
    terminal.press("r")
    terminal.until("REC", "recording to")
    (recording,) = folder.glob("hettop-*.jsonl")
    terminal.press("m")
    terminal.until("Enter saves it")
    terminal.press("h", "e", "r", "e", "Enter")
    terminal.until("mark: here", without=["Enter saves it"])
    # The second window after the mark comes most of a second later: a replay can stand at the one and not at the other.
    wait_for(lambda: _windows_after_the_mark(recording) >= 2, "samples are recorded")
    terminal.press("r")
    terminal.until("recorded ", without=["REC "])
    lines = _lines_of(recording)
    assert [lines[0]["k"], lines[-1]["k"]] == ["header", "end"]
    assert [line["text"] for line in lines if line["k"] == "mark"] == ["here"]
    return recording


def _windows_after_the_mark(recording: Path) -> int:
    _, _, after = recording.read_text().partition('"k":"mark"')
    return after.count('"steady"')


def _lines_of(recording: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in recording.read_text().splitlines()]


def _starts_a_load_and_resets(terminal: Terminal) -> None:
    terminal.press("l")
    terminal.until("competing load", "cpu", "memory", "needs macOS")
    terminal.press("Right")
    terminal.until("load now cpu:1", "active: cpu:1")
    terminal.press("Escape")
    terminal.until("under cpu:1", without=["competing load"])
    _runs(terminal, "CPU_ONLY")
    terminal.press("x")
    terminal.until("statistics reset")
    _runs(terminal, "CPU_ONLY")


def _helps(terminal: Terminal) -> None:
    terminal.press("?")
    terminal.until("restart a unit that failed or does not answer")
    terminal.press("Escape")
    terminal.until("LIVE", "P90", without=["restart a unit that failed or"])


def _plays(terminal: Terminal, duration_ns: int) -> None:
    terminal.until("REPLAY", "CPU_ONLY", "P90", without=["LIVE"])
    terminal.press("Home")
    terminal.until("00:00")
    terminal.press("End")
    end = f"{duration_ns // 10**9 // 60:02}:{duration_ns // 10**8 / 10 % 60:04.1f}"
    terminal.until(f"{end}/{end}")
    terminal.until_still()
    terminal.press("Home", "n")
    terminal.until("mark: here", f"/{end}", without=[f"{end}/{end}"])
    terminal.until_still()
    terminal.press("Space")
    terminal.until(f"{end}/{end}")
    terminal.press("q")
    terminal.assert_left(0)


def test_a_unit_whose_process_dies_says_so_and_can_be_restarted(tmp_path: Path) -> None:
    with Terminal(tmp_path, ["--unit", "CPU_ONLY@3", "mobilenetv2:32x32"]) as terminal:
        _runs(terminal, "CPU_ONLY@3")
        engines = [
            child for child in terminal.hettop().children() if "hettop.sources.engine.worker" in _command_of(child)
        ]
        assert len(engines) == 1
        engines[0].send_signal(signal.SIGKILL)
        terminal.until("✗ CPU_ONLY@3  ", "killed by SIGKILL")
        terminal.press("R")
        _runs(terminal, "CPU_ONLY@3")
        terminal.press("C-c")
        terminal.assert_left(130)


def _command_of(process: psutil.Process) -> list[str]:
    command: list[str] = process.cmdline()
    return command
