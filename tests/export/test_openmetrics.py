"""OpenMetrics text, read back by Prometheus' own parser."""

from __future__ import annotations

import bisect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hettop.events import AnyEvent, Power
from hettop.export.openmetrics import openmetrics_text
from hettop.record.opened import Recording
from tests.export.recordings import empty, everything, hostile, simulated, written
from tests.record.stories import MS, SECOND, window

parser = pytest.importorskip("prometheus_client.openmetrics.parser")


def families(recording: Recording) -> dict[str, Any]:
    found = parser.text_string_to_metric_families(openmetrics_text(recording.session))
    return {family.name: family for family in found}


def test_the_latency_histogram_is_exact_at_its_bounds(tmp_path: Path) -> None:
    latencies = np.random.default_rng(2).lognormal(15, 1, 2_000).astype(np.int64)
    latencies[:3] = (2_097_151, 2_097_152, 2_097_153)  # around a bound: 2^21 ns
    samples = families(written(tmp_path / "a.jsonl", [window(0, latencies.tolist(), t=13 * SECOND)]))
    buckets = [s for s in samples["hettop_latency_seconds"].samples if s.name.endswith("_bucket")]
    ordered = sorted(latencies.tolist())
    assert len(buckets) > 40
    for bucket in buckets:
        bound = float(bucket.labels["le"]) * 1e9
        assert bucket.value == (2_000 if bound == float("inf") else bisect.bisect_right(ordered, round(bound)))
    total = next(s for s in samples["hettop_latency_seconds"].samples if s.name.endswith("_sum"))
    assert total.value == pytest.approx(int(latencies.sum()) / 1e9)


def test_gauges_are_in_base_units_and_only_there_if_known(tmp_path: Path) -> None:
    found = families(everything(tmp_path))
    p50 = {s.labels["unit"]: s.value for s in found["hettop_latency_p50_seconds"].samples}
    # CPU_ONLY: 5, 6, 7.000001 and three of 5 ms; CPU_AND_NE: 4 and 8 ms.
    assert p50 == {"CPU_ONLY": pytest.approx(0.005), "CPU_AND_NE": pytest.approx(0.006)}
    assert "hettop_latency_p99_seconds" not in found
    assert {s.labels["rail"]: s.value for s in found["hettop_power_watts"].samples} == {"cpu": 0.5, "ane": 0.25}
    (about,) = found["hettop_session"].samples
    assert about.labels["chip"] == "Apple M2"


def test_every_series_says_whether_it_is_simulated(tmp_path: Path) -> None:
    for make, word in ((everything, "false"), (simulated, "true")):
        for family in families(make(tmp_path)).values():
            assert {sample.labels["simulated"] for sample in family.samples} <= {word}


@pytest.mark.parametrize("make", [empty, hostile])
def test_it_parses_whatever_the_recording_holds(make: Any, tmp_path: Path) -> None:
    text = openmetrics_text(make(tmp_path).session)
    assert text.endswith("# EOF\n")
    assert list(parser.text_string_to_metric_families(text))


def test_milliseconds_are_what_the_samples_were(tmp_path: Path) -> None:
    found = families(written(tmp_path / "one.jsonl", [window(0, [5 * MS])]))
    assert [s.value for s in found["hettop_latency_max_seconds"].samples] == [0.005]


def test_power_of_a_capture_is_labelled_as_such(tmp_path: Path) -> None:
    events: list[AnyEvent] = [
        window(0, [MS] * 3, t=SECOND),
        Power(t=2 * SECOND, source="file", elapsed_ns=SECOND, mw={"cpu": 500.0}),
    ]
    (sample,) = families(written(tmp_path / "a.jsonl", events))["hettop_power_watts"].samples
    assert (sample.labels["source"], sample.labels["capture"]) == ("file", "true")
    assert all("capture" not in s.labels for s in families(everything(tmp_path))["hettop_power_watts"].samples)
