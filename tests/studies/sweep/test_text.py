"""The page and the document of a sweep over batches."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np

from hettop.analysis.sweeps import PointResult
from hettop.analysis.unit_samples import Measured
from hettop.report.document import to_json
from hettop.studies.sweep.text import sweep_document, sweep_text
from tests.analysis.test_sweeps import BATCHES, failed, point


def test_the_page_tells_the_line_the_knee_and_what_failed() -> None:
    text = sweep_text("a model", [*(point(batch, 8.0 + batch) for batch in BATCHES), failed(64)], None, 140)
    assert "8.00 + 1.00 B ms" in text
    assert "batch 8" in text
    assert "batch 32 (800/s)" in text
    assert "CPU_ONLY b64: no" in text
    row = next(line for line in text.splitlines() if line.startswith("CPU_ONLY  224x224     64"))
    assert row.split()[3:5] == ["0", "n/a"]


def test_a_narrow_page_fits() -> None:
    text = sweep_text("a model", [point(batch, 8.0 + batch) for batch in BATCHES], None, 80)
    assert max(map(len, text.splitlines())) <= 80


def test_a_column_is_explained_only_where_it_is_shown() -> None:
    points = [point(batch, 8.0 + batch) for batch in BATCHES]
    wide, narrow = (" ".join(sweep_text("a model", points, None, width).split()) for width in (160, 80))
    assert "R² half at knee" in wide
    assert "half at a / b" in wide
    assert "half at" not in narrow
    assert "t = a + b x: mean time of a call by least squares, up to where the rate falls" in narrow


def test_the_document_has_points_with_the_statistics_object_and_curves() -> None:
    document = json.loads(
        to_json(sweep_document([*(point(batch, 8.0 + batch) for batch in BATCHES), failed(64)], None))
    )
    assert document["budget"] is None
    assert [each["batch"] for each in document["points"]] == [*BATCHES, 64]
    first = document["points"][0]
    assert first["items_per_s"] == 1000 / 9
    assert first["statistics"]["p99_ms"] is None
    assert document["points"][-1]["statistics"]["error"]["kind"] == "memory"
    assert document["points"][-1]["items_per_s"] is None
    (curve,) = document["curves"]
    assert (curve["axis"], curve["knee"], curve["no_knee"]) == ("batch", 8, None)
    assert curve["best"] == {"throughput": 32, "latency": 1, "within_budget": None}
    assert round(curve["fit"]["limit_items_per_s"], 6) == 1000


def test_under_way_nothing_is_drawn_again_and_notes_tell_what_figures_do_not() -> None:
    """The rate falls from 667/s at 8 to 100/s at 16."""
    samples = np.full(100, 5.0)
    measured = Measured("CPU_ONLY", "none", "wall", 100, samples, 5.0, 5.0, 5.0, 5.0, 5.0)
    times = {1: 5.0, 2: 6.0, 4: 8.0, 8: 12.0, 16: 160.0}
    points = [replace(point(batch, ms), measured=measured) for batch, ms in times.items()]
    quick, whole = (sweep_document(points, None, ["a note"], certain=each) for each in (False, True))
    assert quick["curves"][0]["knee_certainty"] is None
    assert whole["curves"][0]["knee_certainty"] is not None
    assert quick["notes"] == ["a note", "CPU_ONLY, 224x224: saturated, from batch 16 on the rate falls"]


def test_what_resamples_often_say_otherwise_has_a_mark_that_is_explained() -> None:
    """Rates within each other's noise: which batch serves most is a matter of chance; a slope of 1 ms is none."""
    generator = np.random.default_rng(7)

    def noisy(batch: int, mean_ms: float, spread: float) -> PointResult:
        samples = mean_ms * (1 + spread * generator.standard_normal(60))
        mean = float(samples.mean())
        measured = Measured("CPU_ONLY", "none", "wall", 60, samples, mean, mean, mean, mean, mean)
        return replace(point(batch, mean), measured=measured)

    doubtful = sweep_text("a model", [noisy(batch, batch, 0.2) for batch in BATCHES], None, 140)
    assert "/s)" in doubtful
    assert "? (" in doubtful, "batch 16? (1 020/s), or so"
    assert "?: fewer than 95% of resamples say the same; more --runs may tell" in doubtful
    sure = sweep_text("a model", [noisy(batch, 8.0 + batch, 1e-3) for batch in BATCHES], None, 140)
    assert "?" not in sure
