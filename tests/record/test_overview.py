"""The overview of a whole recording: what each stretch of it holds, from its samples or from its keyframes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hettop import events
from hettop.events import AnyEvent, Samples
from hettop.record.overview import SLOTS, Overview
from hettop.record.reader import open_recording
from hettop.session.views.replay import Band
from tests.record.stories import MS, SECOND, flushes, read, record, story, window


def overview(path: Path, **options: int) -> Overview:
    """The finished overview of a recording."""
    file, _ = open_recording(path)
    found = Overview(file, path.stat().st_size, read(path)[0][-1].t, **options)
    while not found.done:
        found.poll()
    return found


def samples_between(told: Sequence[AnyEvent], unit: str, start: int, end: int) -> np.ndarray:
    found = []
    for event in told:
        if isinstance(event, Samples) and event.unit == unit and event.phase == "steady":
            ends = event.starts_ns() + event.lat_ns
            found.append(event.lat_ns[(ends >= start) & (ends < end)])
    return np.concatenate(found)


def known(bands: Sequence[Band | None]) -> list[Band]:
    return [band for band in bands if band is not None]


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("overview") / "a.jsonl"
    record(path, story(5, 240.0))
    return path


def test_each_column_has_the_percentiles_of_the_samples_that_ended_in_it(recording: Path) -> None:
    told, _ = read(recording)
    columns = 12
    for column, band in enumerate(overview(recording).bands(columns)):
        assert band is not None
        start, end = (place * told[-1].t // columns for place in (column, column + 1))
        expected = samples_between(told, band.unit, start, end)
        assert band.n == len(expected)
        assert band.max_ms == expected.max() / MS
        assert band.p50_ms == pytest.approx(np.quantile(expected, 0.5) / MS, rel=0.005)
        assert band.p90_ms == pytest.approx(np.quantile(expected, 0.9) / MS, rel=0.005)


def test_keyframes_alone_report_nearly_the_same(recording: Path) -> None:
    columns = 8
    by_samples = overview(recording).bands(columns)
    by_keyframes = overview(recording, whole_bytes=0).bands(columns)
    for one, other in zip(known(by_samples), known(by_keyframes), strict=True):
        # A stretch between two keyframes lies in the columns that it touches, so its edges are 10 s vague.
        assert other.p50_ms == pytest.approx(one.p50_ms, rel=1.1)
        assert other.max_ms <= max(band.max_ms for band in known(by_samples)) * 1.01


def test_a_steady_recording_is_reported_exactly_by_its_keyframes(tmp_path: Path) -> None:
    record(tmp_path / "a.jsonl", [window(second * SECOND, [2 * MS] * 9 + [7 * MS]) for second in range(120)])
    for band in known(overview(tmp_path / "a.jsonl", whole_bytes=0).bands(6)):
        assert band.p50_ms == pytest.approx(2.0, rel=0.004)
        assert band.max_ms == pytest.approx(7.0, rel=0.008)


def test_a_reset_does_not_lose_what_came_after_it(tmp_path: Path) -> None:
    told: list[AnyEvent] = [window(second * SECOND, [2 * MS] * 10) for second in range(60)]
    told.append(events.Control(t=60 * SECOND, action="reset", units=["CPU_ONLY"]))
    told += [window(second * SECOND, [5 * MS] * 10) for second in range(60, 120)]
    record(tmp_path / "a.jsonl", told)
    bands = overview(tmp_path / "a.jsonl", whole_bytes=0).bands(4)
    medians = [None if band is None else band.p50_ms for band in bands]
    assert medians[0] == pytest.approx(2.0, rel=0.004)
    assert medians[-1] == pytest.approx(5.0, rel=0.004)


def test_the_unit_with_the_most_samples_stands_for_a_column(tmp_path: Path) -> None:
    told = [*flushes(1, 20, unit="CPU_ONLY", mean_ms=10), *flushes(2, 20, unit="ALL", mean_ms=2)]
    record(tmp_path / "a.jsonl", sorted(told, key=lambda event: event.t))
    assert {band.unit for band in known(overview(tmp_path / "a.jsonl").bands(20))} == {"ALL"}


@pytest.mark.parametrize("columns", [1, 7, SLOTS, 3 * SLOTS])
def test_it_has_as_many_columns_as_are_asked_for(recording: Path, columns: int) -> None:
    assert len(overview(recording).bands(columns)) == columns


def test_without_samples_there_are_no_bands(tmp_path: Path) -> None:
    record(tmp_path / "a.jsonl", [events.Mark(t=SECOND)])
    for whole_bytes in (0, 1 << 20):
        assert known(overview(tmp_path / "a.jsonl", whole_bytes=whole_bytes).bands(10)) == []


def test_looking_moves_no_other_reader_of_the_file(recording: Path) -> None:
    file, _ = open_recording(recording)
    before = file.tell()
    found = Overview(file, recording.stat().st_size, 240 * SECOND)
    found.poll()
    assert file.tell() == before
    file.close()


@settings(max_examples=15, deadline=None)
@given(flips=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 7)), min_size=1, max_size=40))
def test_damage_is_never_a_traceback(recording: Path, flips: list[tuple[float, int]]) -> None:
    data = bytearray(recording.read_bytes())
    first = data.index(b"\n") + 1
    for place, bit in flips:
        data[first + int(place * (len(data) - first))] ^= 1 << bit
    path = recording.with_name("damaged.jsonl")
    path.write_bytes(data)
    for whole_bytes in (0, 1 << 26):
        assert len(overview(path, whole_bytes=whole_bytes).bands(50)) == 50
