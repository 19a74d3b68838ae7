"""The HdrHistogram log, read back by the library's own reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hettop.events import Samples
from hettop.export.formats import FORMATS, Files
from hettop.record.opened import Recording
from tests.export.recordings import EVERYTHING, everything, hostile, written
from tests.record.stories import MS, SECOND, window

hdrh = pytest.importorskip("hdrh.histogram")
HdrHistogram: Any = hdrh.HdrHistogram


def log_of(recording: Recording, folder: Path) -> list[str]:
    path = folder / "out.hlog"
    with Files(path, ()) as files:
        FORMATS["hdr"].load()(recording, files)
    return path.read_text().splitlines()


def intervals(lines: list[str]) -> list[tuple[str, float, float, float, Any]]:
    """(tag, start s, length s, max ms, histogram) of each line, as the format's page has them."""
    found = []
    for line in lines:
        if line.startswith(("#", '"')):
            continue
        tag, start, length, largest, text = line.split(",")
        assert tag.startswith("Tag=")
        found.append((tag[4:], float(start), float(length), float(largest), HdrHistogram.decode(text)))
    return found


def test_steady_samples_stand_in_intervals_of_ten_seconds_by_unit_and_load(tmp_path: Path) -> None:
    found = intervals(log_of(everything(tmp_path), tmp_path))
    assert [(tag, start, length, histogram.get_total_count()) for tag, start, length, _, histogram in found] == [
        ("CPU_ONLY", 0.0, 10.0, 3),
        ("CPU_AND_NE[cpu:1](Fair)", 0.0, 10.0, 2),
        ("CPU_ONLY", 10.0, 4.0, 3),
    ]
    assert found[0][3] == pytest.approx(7.0, abs=0.01)


def test_values_are_within_a_thousandth(tmp_path: Path) -> None:
    latencies = np.random.default_rng(1).lognormal(15, 0.5, 900).astype(np.int64)
    made = written(tmp_path / "many.jsonl", [window(0, latencies.tolist(), t=9 * SECOND)])
    ((_, _, _, largest, histogram),) = intervals(log_of(made, tmp_path))
    assert histogram.get_total_count() == 900
    for percent in (50, 90, 99, 100):
        # HdrHistogram's percentile is the least value that so many are at or below.
        exact = int(np.quantile(latencies, percent / 100, method="inverted_cdf"))
        assert histogram.get_value_at_percentile(percent) == pytest.approx(exact, rel=1e-3)
    assert largest == pytest.approx(int(latencies.max()) / MS, rel=1e-3)


def test_the_heading_has_version_and_start(tmp_path: Path) -> None:
    lines = log_of(everything(tmp_path), tmp_path)
    assert "#[Histogram log format version 1.3]" in lines
    assert any(line.startswith("#[StartTime: 1769860800.250 ") for line in lines)


def test_the_library_s_reader_takes_the_file(tmp_path: Path) -> None:
    reader_of = pytest.importorskip("hdrh.log").HistogramLogReader
    log_of(everything(tmp_path), tmp_path)
    total = HdrHistogram(1, 3_600 * 10**9, 3)
    reader = reader_of(str(tmp_path / "out.hlog"), total)
    counted = 0
    while (histogram := reader.get_next_interval_histogram()) is not None:
        counted += histogram.get_total_count()
    reader.close()
    assert counted == sum(e.n for e in EVERYTHING if isinstance(e, Samples) and e.phase == "steady")


def test_a_tag_never_ends_early(tmp_path: Path) -> None:
    ((tag, *_),) = intervals(log_of(hostile(tmp_path), tmp_path))
    assert not set(tag) & set(' ,"\n')
