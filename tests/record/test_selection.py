"""Statistics of a part of a recording: those of the samples that ended in it, to the last one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hettop.events import AnyEvent, Samples
from hettop.record.player import Player
from hettop.record.selection import SelectionReader
from hettop.session.session import Session
from hettop.session.views.replay import SelectedUnit
from tests.record.stories import MS, SECOND, read, record, story, window


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("selection") / "a.jsonl"
    record(path, story(7, 240.0))
    return path


@pytest.fixture(scope="module")
def told(recording: Path) -> list[AnyEvent]:
    return read(recording)[0]


def finished(reader: SelectionReader) -> dict[str, SelectedUnit]:
    while not reader.done:
        reader.poll()
    return {unit.unit: unit for unit in reader.units}


def latencies(told: list[AnyEvent], start: int, end: int) -> dict[str, list[int]]:
    """Of the steady samples that ended in (start, end], by unit."""
    found: dict[str, list[int]] = {}
    for event in told:
        if isinstance(event, Samples) and event.phase == "steady":
            ends = event.starts_ns() + event.lat_ns
            inside = event.lat_ns[(ends > start) & (ends <= end)].tolist()
            if inside:
                found.setdefault(event.unit, []).extend(inside)
    return found


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ends=st.tuples(st.floats(0, 1), st.floats(0, 1)), folded_bytes=st.sampled_from([0, 1 << 30]))
def test_it_is_that_of_the_samples_between_the_two_moments(
    recording: Path, told: list[AnyEvent], ends: tuple[float, float], folded_bytes: int
) -> None:
    player = Player(recording, folded_bytes=folded_bytes)
    start, end = sorted(round(share * player.duration_ns) for share in ends)
    expected = latencies(told, start, end)
    found = finished(player.select(start, end))
    assert set(found) == set(expected)
    for name, unit in found.items():
        of = np.array(expected[name])
        assert unit.exact
        assert unit.n == len(of)
        assert unit.p50_ms == pytest.approx(np.quantile(of, 0.5) / MS, rel=1e-12)
        assert unit.p90_ms == pytest.approx(np.quantile(of, 0.9) / MS, rel=1e-12)
        assert unit.max_ms == of.max() / MS
    player.close()


def test_the_spikes_of_two_halves_are_those_of_the_whole(recording: Path, told: list[AnyEvent]) -> None:
    whole = Session(raw_limit=0)
    for event in told:
        whole.fold(event)
    expected: dict[str, int] = {}
    for condition in whole.conditions.values():
        expected[condition.key.unit] = expected.get(condition.key.unit, 0) + condition.spikes
    assert sum(expected.values()) > 20
    player = Player(recording, folded_bytes=0)
    middle = 101_234_567_890  # amid a window
    found = dict.fromkeys(expected, 0)
    for start, end in ((0, middle), (middle, player.duration_ns)):
        for unit in finished(player.select(start, end)).values():
            found[unit.unit] += unit.spikes or 0
    assert found == expected


def test_before_there_is_a_threshold_the_spikes_are_unknown_and_not_none(tmp_path: Path) -> None:
    record(tmp_path / "a.jsonl", [window(0, [2 * MS] * 20)])
    (unit,) = finished(Player(tmp_path / "a.jsonl").select(0, SECOND)).values()
    assert unit.n == 20
    assert unit.spikes is None


def test_an_empty_stretch_has_no_units(recording: Path) -> None:
    assert finished(Player(recording).select(5 * SECOND, 5 * SECOND)) == {}


def test_a_long_one_reports_how_far_it_has_been_read(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    told = [window(second * SECOND, rng.integers(10**5, 2 * 10**5, 5_000).tolist()) for second in range(100)]
    record(tmp_path / "a.jsonl", told)
    reader = Player(tmp_path / "a.jsonl").select(0, 100 * SECOND)
    shares = []
    while not reader.done:
        reader.poll()
        shares.append(reader.share)
    assert len(shares) >= 3
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    (unit,) = reader.units
    assert unit.n == 500_000
