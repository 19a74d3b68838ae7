"""What is left of a recording when its writer is killed, or when the disk is really full."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hettop import events
from tests.record.stories import MS, SECOND, read, samples_of

ROOT = Path(__file__).parents[2]


def recorder(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.record.recorder", *arguments], stdout=subprocess.PIPE, text=True, cwd=ROOT
    )


@pytest.mark.parametrize("lines", [1, 30, 500, 1_203])
def test_a_killed_writer_loses_at_most_the_last_second(tmp_path: Path, lines: int) -> None:
    path = tmp_path / "a.jsonl"
    with recorder(str(path)) as process:
        assert process.stdout is not None
        told = [process.stdout.readline() for _ in range(lines)]
        process.send_signal(signal.SIGKILL)
        told += [line for line in process.stdout if line.endswith("\n")]
    found, report = read(path, check_crc=True)
    assert report.bad_lines == 0
    assert not report.ended
    starts = [start for _, _, start, _ in samples_of(found)]
    windows = [
        (int(began), int(handed), int(by_then)) for began, handed, by_then in (line.split()[:3] for line in told)
    ]
    assert windows[-1][1] - max(starts, default=0) <= SECOND
    # And nothing earlier: up to the last sample kept, there are as many as were measured.
    assert len(starts) >= max(
        (by_then for began, _, by_then in windows if began + MS // 20 <= max(starts, default=0)), default=0
    )


def test_a_full_disk_leaves_whole_lines_and_a_true_account(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with recorder(str(path), "70000") as process:
        assert process.stdout is not None
        said = process.stdout.read().splitlines()
    assert process.returncode == 0
    assert any("EFBIG" in line for line in said)
    _, written, _, undeclared = said[-1].split()
    measured = int(said[-2].split()[2])
    found, report = read(path)
    declared = sum(event.n for event in found if isinstance(event, events.Dropped))
    assert path.stat().st_size <= 70_000
    assert path.read_bytes().endswith(b"\n")
    assert not report.skipped
    assert report.samples == int(written)
    assert report.samples + declared + int(undeclared) == measured
