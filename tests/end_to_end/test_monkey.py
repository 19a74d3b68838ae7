"""Random keys, mouse, pastes and sizes: the screen survives them. `python -m benchmarks monkey` sends 20,000 keys."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from benchmarks.monkey import is_valid, survives
from tests.processes.waiting import REPOSITORY

KEYS = 120


@pytest.mark.parametrize("seed", [1, 2])
def test_the_demo_survives_a_monkey_and_its_recording_is_valid(seed: int, tmp_path: Path) -> None:
    recording = tmp_path / "r.jsonl"
    assert survives(["--demo", "--record", str(recording)], tmp_path, Random(seed), KEYS) == (True, 143)
    assert is_valid(recording)


def test_a_replay_survives_a_monkey(tmp_path: Path) -> None:
    recording = REPOSITORY / "recordings" / "simulated-m2.jsonl"
    assert survives(["replay", str(recording)], tmp_path, Random(3), KEYS) == (True, 143)
