"""How far a job is: reported truly, and not too often."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hettop.models.cache import ModelCache
from hettop.processes.serve import Caller
from hettop.sources.engine.backend import RealClock
from hettop.studies.plan.cutting.messages import CuttingProgress, run_weight, survey_weight
from hettop.studies.plan.cutting.result import Compared, Granularity
from hettop.studies.plan.cutting.survey import survey
from hettop.studies.plan.cutting.worker import ProgressSender
from tests.clocks import FakeClock
from tests.studies.plan.cutting import models
from tests.studies.plan.cutting.test_measuring import ONE, TWO, subject

MS = 1_000_000
COMPARED = Compared((Granularity("single", 100.0, 10.0, 12.0, 30, (100.0,)),), (1,), 250.0)


def test_parts_count_by_their_weights() -> None:
    told: list[tuple[str, float]] = []
    progress = CuttingProgress(4.0, lambda text, share: told.append((text, share)))
    progress.begin("opening", 1.0)
    progress.begin("running", 3.0)
    progress.within(0.5)
    assert told == [("opening", 0.0), ("running", 0.25), ("running", 0.625)]


def test_a_survey_reports_each_part_and_its_share_only_grows(tmp_path: Path) -> None:
    told: list[tuple[str, float]] = []
    made = subject(models.residual(tmp_path / "m.onnx"))
    cache = ModelCache(tmp_path / "cache", tmp_path / "cache2")
    survey(made, tmp_path, cache, RealClock(), tell=lambda text, share: told.append((text, share)))
    texts = list(dict.fromkeys(text for text, _ in told))
    assert texts[:4] == [
        "opening the model",
        f"profiling layers on {ONE}, device 1 of 2",
        f"profiling layers on {TWO}, device 2 of 2",
        "timing the whole model",
    ]
    assert texts[4].startswith(f"measuring transfer cost on {ONE}: cut 1 of ")
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1] < 1.0, shares[-1] > 0.8) == (0.0, True, True)


def test_running_a_plan_is_a_part_of_the_whole() -> None:
    """Two devices: 4.6 to measure, 1.9 to run."""
    assert survey_weight(2) == pytest.approx(4.6)
    assert run_weight(2) == pytest.approx(1.9)


def test_what_changes_is_reported_at_once_and_how_far_it_is_five_times_a_second() -> None:
    clock = FakeClock()
    told: list[Any] = []
    tell = ProgressSender(Caller(None, told.append), clock)
    for share in range(10):
        tell("running", share / 10)
        clock.pass_time(50 * MS)
    tell("ending", 1.0)
    assert [(each.doing, each.share) for each in told] == [
        ("running", 0.0),
        ("running", 0.4),
        ("running", 0.8),
        ("ending", 1.0),
    ]


def test_what_is_known_is_reported_once_a_second() -> None:
    clock = FakeClock()
    told: list[Any] = []
    tell = ProgressSender(Caller(None, told.append), clock)
    for _ in range(6):
        clock.pass_time(500 * MS)
        tell("in turns", 0.5, COMPARED)
    assert [each.compared for each in told] == [None, COMPARED, None, COMPARED, None, COMPARED]
