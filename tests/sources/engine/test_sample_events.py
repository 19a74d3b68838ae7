from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from hettop.events import (
    LARGEST_EXACT,
    LATENCY_LIMIT_NS,
    LATENESS_LIMIT_NS,
    WINDOW_LIMIT,
    Header,
    Samples,
)
from hettop.record.defects import Report
from hettop.record.reader import open_recording, read_events
from hettop.record.writer import Writer
from hettop.sources.engine.frames import BrokenStreamError, SampleFrame
from hettop.sources.engine.unit_events import MOST_AHEAD_NS, REMEMBERED, LoadHistory, SampleEvents, to_events


def frame(start: list[int], latency: list[int], phase: str = "steady", **columns: list[int]) -> SampleFrame:
    return SampleFrame(
        phase,
        np.array(start, dtype=np.int64),
        np.array(latency, dtype=np.int64),
        native=np.array(columns["native"], dtype=np.int64) if "native" in columns else None,
        late=np.array(columns["late"], dtype=np.int64) if "late" in columns else None,
    )


def events(
    samples: SampleFrame, loads: LoadHistory | None = None, *, origin: int = 0, previous_end: int | None = None
) -> list[Samples]:
    loads = loads or LoadHistory()
    return list(to_events(samples, t=9, unit="ALL", origin_ns=origin, previous_end=previous_end, loads=loads))


def test_gaps_are_starts_minus_the_units_previous_end() -> None:
    (window,) = events(frame([1000, 1250, 1400], [200, 100, 50]), origin=400, previous_end=970)
    assert window.t0 == 600
    assert window.gap_ns.tolist() == [30, 50, 50]
    assert window.starts_ns().tolist() == [600, 850, 1000]


def test_the_first_gap_is_0_when_the_previous_end_is_unknown() -> None:
    (window,) = events(frame([1000], [200]))
    assert window.gap_ns.tolist() == [0]


def test_a_start_before_the_session_counts_as_its_beginning() -> None:
    (window,) = events(frame([1000], [200]), origin=5000)
    assert window.t0 == 0


def test_a_frame_is_cut_where_the_load_changed_by_the_samples_starts() -> None:
    loads = LoadHistory()
    loads.change(150, "cpu:2", confirmed=False)
    loads.change(300, "cpu:2", confirmed=True)
    windows = events(frame([100, 150, 200, 300, 400], [40, 40, 40, 40, 40], late=[1, 2, 3, 4, 5]), loads)
    assert [(w.condition, w.phase, w.lat_ns.size) for w in windows] == [
        ("none", "steady", 1),
        ("cpu:2", "transition", 2),
        ("cpu:2", "steady", 2),
    ]
    assert [w.late_ns.tolist() for w in windows if w.late_ns is not None] == [[1], [2, 3], [4, 5]]
    assert [w.gap_ns.tolist() for w in windows] == [[0], [10, 10], [60, 60]]
    assert [s for w in windows for s in w.starts_ns().tolist()] == [100, 150, 200, 300, 400]


def test_warm_up_under_an_unconfirmed_load_stays_warm_up() -> None:
    loads = LoadHistory()
    loads.change(50, "cpu:2", confirmed=False)
    (window,) = events(frame([100], [40], phase="warmup"), loads)
    assert (window.condition, window.phase) == ("cpu:2", "warmup")


def test_frames_that_arrive_after_a_change_keep_the_condition_they_ran_under() -> None:
    loads = LoadHistory()
    loads.change(500, "cpu:1", confirmed=True)
    loads.change(900, "none", confirmed=True)
    assert [w.condition for w in events(frame([400], [1]), loads)] == ["none"]
    assert [w.condition for w in events(frame([600], [1]), loads)] == ["cpu:1"]
    assert loads.condition == "none"


def test_what_began_before_all_remembered_changes_is_under_the_oldest_of_them() -> None:
    loads = LoadHistory()
    for number in range(1, REMEMBERED + 2):
        loads.change(number * 100, f"cpu:{number}", confirmed=True)
    assert [w.condition for w in events(frame([50, 150], [1, 1]), loads)] == ["cpu:2"]


def test_no_window_is_longer_than_20_000_samples() -> None:
    n = 45_000
    windows = events(frame(list(range(0, 10 * n, 10)), [7] * n, native=[6] * n))
    assert [w.n for w in windows] == [20_000, 20_000, 5_000]
    assert [w.gap_ns[0] for w in windows] == [0, 3, 3]
    assert [w.t0 for w in windows] == [0, 200_000, 400_000]
    assert [w.native_ns is not None and w.native_ns.size == w.n for w in windows] == [True] * 3


LATEST = LARGEST_EXACT - LATENCY_LIMIT_NS


@pytest.mark.parametrize(
    "frames",
    [
        [frame([LATEST], [LATENCY_LIMIT_NS], native=[LATENCY_LIMIT_NS], late=[LATENESS_LIMIT_NS])],
        [frame([0, 0, LATEST], [0, LATENCY_LIMIT_NS, 1], native=[0, 0, 0], late=[0, 0, 0])],
        [frame([0], [LATENCY_LIMIT_NS]), frame([0], [1])],
        [frame(list(range(WINDOW_LIMIT + 5)), [LATENCY_LIMIT_NS] * (WINDOW_LIMIT + 5))],
    ],
    ids=["all at their limits", "far apart, and at once", "a clock that went back", "more than a window"],
)
def test_what_passes_the_check_of_a_frame_is_recorded_and_read_back(tmp_path: Path, frames: list[SampleFrame]) -> None:
    samples = SampleEvents("ALL", origin_ns=0, loads=LoadHistory(), now=lambda: LARGEST_EXACT)
    windows = [msgspec.structs.replace(w, t=LARGEST_EXACT) for each in frames for w in samples.take(each)]
    writer = Writer(tmp_path / "a.jsonl", Header(t=0, format="hettop", version=(1, 1), id="x"))
    for window in windows:
        writer.write(window)
    writer.close("done")
    file, _ = open_recording(tmp_path / "a.jsonl")
    report = Report()
    with file:
        read = [event for event in read_events(file, report) if isinstance(event, Samples)]
    assert not report.skipped
    assert [s for w in read for s in w.starts_ns().tolist()] == [s for each in frames for s in each.start.tolist()]
    assert sum(window.n for window in read) == sum(len(each.start) for each in frames)


def test_a_sample_may_end_a_little_ahead_of_the_clock_but_not_after_it_arrived() -> None:
    samples = SampleEvents("ALL", origin_ns=0, loads=LoadHistory(), now=lambda: 1_000)
    assert [window.n for window in samples.take(frame([1_000], [MOST_AHEAD_NS]))] == [1]
    with pytest.raises(BrokenStreamError, match="ends after its arrival"):
        samples.take(frame([1_001], [MOST_AHEAD_NS]))
