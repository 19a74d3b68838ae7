"""A source of power that is named is had, or its lack is said: on stderr, in the result and by the exit code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import assert_refused, called, hettop, one_document, started
from tests.processes.waiting import PATIENCE_S, wait_for
from tests.sources.power.captures import CHIPS, macmon_line, truth_of

SMALL = ("mobilenetv2:32x32", "--units", "CPU_ONLY@1")
MEASURING = (
    ("bench", *SMALL, "--runs", "20"),
    ("decide", *SMALL, "--runs", "20", "--energy", "1000mJ"),
    ("sweep", *SMALL, "--runs", "20", "--loads", "none", "--rest", "0"),
)


@pytest.mark.parametrize("command", MEASURING, ids=lambda command: command[0])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("file:nowhere.plist", "no power from file: file not found: nowhere.plist"),
        ("zeus", "no power from zeus"),
        ("battery", "invalid power source 'battery'"),
    ],
)
def test_what_cannot_be_had_is_refused_before_anything_runs(
    command: tuple[str, ...], name: str, words: str, tmp_path: Path
) -> None:
    assert_refused(called(*command, "--power", name, "--record", "r.jsonl", cwd=tmp_path), words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", MEASURING, ids=lambda command: command[0])
def test_a_capture_gives_no_figure_and_is_called_one(command: tuple[str, ...], tmp_path: Path) -> None:
    lines = [macmon_line(truth_of(CHIPS["M1"]), f"2026-01-01T00:00:{n:02}.000Z") for n in range(50)]
    (tmp_path / "capture.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    done = hettop(*command, "--power", "file:capture.jsonl", "--json", cwd=tmp_path)
    document = one_document(done.stdout)
    assert document["power"]["capture"] is True
    assert [row["energy_mj_per_inference"] for row in document["conditions"]] == [None]
    assert [row["thermal"] for row in document["conditions"]] == [None]
    assert "CAPTURE: power is from a capture, not from this run" in done.stderr
    if command[0] == "decide":
        assert (done.returncode, document["energy_budget"]["met"]) == (4, {"CPU_ONLY@1": None})


def test_without_power_bench_says_why_and_what_repairs_it() -> None:
    done = hettop("bench", *SMALL, "--runs", "20", "--json")
    power = one_document(done.stdout)["power"]
    assert power["reason"].startswith("not measured without --duration")
    fix = "use --duration 10s, if hettop doctor lists a power source that works"
    assert (power["state"], power["fix"], power["coverage"]) == ("stopped", fix, None)
    assert done.stderr == ""


def test_power_is_not_for_turns_of_points_nor_for_recordings(tmp_path: Path) -> None:
    assert_refused(called("sweep", *SMALL, "--batch", "1,2", "--power", "rapl"), "--power needs --loads")
    recording = tmp_path / "r.jsonl"
    assert hettop("bench", *SMALL, "--runs", "20", "--record", str(recording)).returncode == 0
    assert_refused(called("decide", str(recording), "--power", "rapl"), "--power has no effect on a recording")


@pytest.mark.parametrize("command", [("decide", "--runs", "4000"), ("sweep", "--duration", "3s")])
def test_a_recording_that_is_taken_away_is_exit_3_and_keeps_the_result(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    file = tmp_path / "r.jsonl"
    more = ("--loads", "none", "--rest", "0") if command[0] == "sweep" else ()
    simulated = ("--backend", "simulated", "--units", "CPU_AND_NE,ALL")
    with started(*command, *more, *simulated, "--json", "--record", str(file)) as process:
        wait_for(lambda: file.exists() and '"steady"' in file.read_text(), "samples are recorded")
        file.unlink()
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert all(row["n"] > 0 for row in one_document(stdout)["conditions"])
    assert "the recording is incomplete" in stderr
    assert process.returncode == 3
