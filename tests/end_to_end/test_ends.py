"""However hettop ends: no process stays, the terminal is as it was, the recording is closed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from pathlib import Path

import psutil
import pytest

from tests.cli.running import hettop, one_document
from tests.end_to_end.terminal import Terminal
from tests.processes.waiting import gone, wait_for
from tests.sources.engine import faulty


def running(terminal: Terminal, recording: Path) -> list[int]:
    """Waits until samples are measured and recorded; the pids of hettop and of all it has started."""
    terminal.until("LIVE", "P90", "REC")
    wait_for(lambda: recording.exists() and '"steady"' in recording.read_text(), "samples are recorded")
    family = terminal.family()
    assert len(family) >= 4, "hettop, its reaper, an engine process and a load"
    return family


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_asked_to_end_it_closes_everything(number: signal.Signals, code: int, tmp_path: Path) -> None:
    with Terminal(tmp_path, ["--record", "r.jsonl", "--load", "cpu:1"]) as terminal:
        family = running(terminal, tmp_path / "r.jsonl")
        terminal.signal(number)
        terminal.assert_left(code)
        wait_for(lambda: gone(family), "all processes end")
    assert json.loads((tmp_path / "r.jsonl").read_text().splitlines()[-1])["k"] == "end"


def failing(folder: Path, script: str, *more: str) -> list[str]:
    """Arguments for a session of units that fail as `script` says."""
    (folder / script).write_text("x")
    return [script, "--backend", faulty.NAME, *more]


def test_a_session_in_which_all_that_ran_failed_has_failed_and_says_why(tmp_path: Path) -> None:
    arguments = failing(tmp_path, "CPU_ONLY vanish 3;- - .onnx", "--unit", "CPU_ONLY")
    with Terminal(tmp_path, arguments) as terminal:
        terminal.until("failed: ")
        terminal.press("q")
        terminal.assert_left(3)
        assert "error: CPU_ONLY: " in terminal.text
        assert "SIGKILL" in terminal.text


def test_a_session_of_what_is_no_model_was_asked_wrongly(tmp_path: Path) -> None:
    with Terminal(tmp_path, failing(tmp_path, "CPU_ONLY refuse 0;- - .onnx", "--unit", "CPU_ONLY")) as terminal:
        terminal.until("failed: ")
        terminal.press("q")
        terminal.assert_left(2)
        assert "not a model" in terminal.text


def test_a_session_in_which_something_was_measured_before_it_failed_is_none_that_failed(tmp_path: Path) -> None:
    arguments = failing(tmp_path, "CPU_ONLY vanish 900;- - .onnx", "--unit", "CPU_ONLY")
    with Terminal(tmp_path, arguments) as terminal:
        terminal.until("failed: ")
        terminal.press("q")
        terminal.assert_left(0)


def test_a_recording_that_was_asked_for_and_is_taken_away_is_a_failure(tmp_path: Path) -> None:
    with Terminal(tmp_path, ["--backend", "simulated", "--record", "r.jsonl"]) as terminal:
        running_alone(terminal, tmp_path / "r.jsonl")
        (tmp_path / "r.jsonl").unlink()
        terminal.press("q")
        terminal.assert_left(3)


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


def test_asked_to_continue_without_having_stopped_it_goes_on_as_it_was_and_quits(tmp_path: Path) -> None:
    with Terminal(tmp_path, ["--record", "r.jsonl"]) as terminal:
        terminal.until("LIVE", "P90", "REC")
        process, family = terminal.hettop(), terminal.family()
        threads = process.num_threads()
        for _ in range(5):
            terminal.signal(signal.SIGCONT)
            time.sleep(0.1)  # two of a signal at once are one
        terminal.press("f")
        terminal.until("FROZEN")
        assert process.num_threads() <= threads
        terminal.press("q")
        terminal.assert_left(0)
        wait_for(lambda: gone(family), "all processes end")


def test_stopped_by_force_and_continued_it_draws_again_and_quits(tmp_path: Path) -> None:
    with Terminal(tmp_path, ["--record", "r.jsonl"]) as terminal:
        terminal.until("LIVE", "P90", "REC")
        family = terminal.family()
        terminal.signal(signal.SIGSTOP)
        wait_for(lambda: terminal.hettop().status() == psutil.STATUS_STOPPED, "it stops")
        terminal.signal(signal.SIGCONT)
        terminal.press("f")
        terminal.until("FROZEN")
        terminal.press("q")
        terminal.assert_left(0)
        wait_for(lambda: gone(family), "all processes end")


def test_continued_while_it_quits_it_ends_without_a_word(tmp_path: Path) -> None:
    with Terminal(tmp_path, ["--record", "r.jsonl"]) as terminal:
        terminal.until("LIVE", "P90", "REC")
        family = terminal.family()
        terminal.press("q")
        while not gone(family[:1]):
            with contextlib.suppress(ProcessLookupError):
                os.kill(family[0], signal.SIGCONT)
            time.sleep(0.02)
        terminal.assert_left(0)
        assert "Traceback" not in terminal.text
        wait_for(lambda: gone(family), "all processes end")


def test_suspended_by_the_terminal_and_continued_it_comes_back_once(tmp_path: Path) -> None:
    with Terminal(tmp_path, ["--record", "r.jsonl"]) as terminal:
        terminal.until("LIVE", "P90", "REC")
        process, family = terminal.hettop(), terminal.family()
        threads = process.num_threads()
        terminal.signal(signal.SIGTSTP)
        wait_for(lambda: process.status() == psutil.STATUS_STOPPED, "it stops")
        terminal.signal(signal.SIGCONT)
        terminal.until("LIVE", "P90", "REC")
        terminal.signal(signal.SIGCONT)
        terminal.press("f")
        terminal.until("FROZEN")
        assert process.num_threads() <= threads
        terminal.press("q")
        terminal.assert_left(0)
        wait_for(lambda: gone(family), "all processes end")


def test_continued_and_then_without_its_terminal_it_still_ends(tmp_path: Path) -> None:
    with Terminal(tmp_path, ["--record", "r.jsonl"]) as terminal:
        family = running_alone(terminal, tmp_path / "r.jsonl")
        for _ in range(3):
            terminal.signal(signal.SIGCONT)
            time.sleep(0.1)
    wait_for(lambda: gone(family), "all processes end")


def running_alone(terminal: Terminal, recording: Path) -> list[int]:
    terminal.until("LIVE", "P90", "REC")
    wait_for(lambda: recording.exists() and '"steady"' in recording.read_text(), "samples are recorded")
    return terminal.family()
