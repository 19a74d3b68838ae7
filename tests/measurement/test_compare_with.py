"""Rows beside each other: what they are made of, and a real measurement of them, live."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from hettop.errors import HettopError
from hettop.measurement.measurement import Measurement
from hettop.measurement.options import MeasureOptions, ModelOptions
from hettop.measurement.setup import prepare, prepare_against, with_closed_loop, with_other_model
from hettop.session.views.session_view import view
from hettop.session.views.structs import ViewRequest
from tests.processes.waiting import wait_for

SIMULATED = ModelOptions(backend="simulated")
SMALL = "mobilenetv2:32x32"


def test_each_unit_is_followed_by_itself_in_a_closed_loop() -> None:
    setup = with_closed_loop(prepare(SIMULATED, ("CPU_AND_NE", "ALL"), 2))
    assert setup.units == ("CPU_AND_NE", "CPU_AND_NE~closed", "ALL", "ALL~closed")
    assert dict(setup.variants["closed"].job) == {"rate_hz": None}


def test_each_unit_is_followed_by_itself_with_the_other_model() -> None:
    setup = prepare_against(prepare(ModelOptions(model=SMALL), ("CPU_ONLY@1",), 2), ModelOptions(), "mobilenetv2", 2)
    assert setup.units == ("CPU_ONLY@1", "CPU_ONLY@1~b")
    variant = setup.variants["b"]
    assert variant.model is not None
    assert (variant.model.name, variant.job["backend"]) == ("mobilenetv2:224x224:b1", "onnxruntime")
    assert variant.job["model"] == "mobilenetv2:224x224:b1"  # and no file, which only one backend could load
    assert variant.words == "the same with mobilenetv2:224x224:b1"


def test_warnings_of_both_models_stay_each_once() -> None:
    setup = replace(prepare(SIMULATED, ("ALL",), 2), warnings=("of both",))
    other = replace(setup, warnings=("of both", "of the other"))
    assert with_other_model(setup, other, "other").warnings == ("of both", "of the other")


def test_a_simulated_model_is_not_held_against_a_real_one() -> None:
    real = prepare(ModelOptions(model=SMALL), ("CPU_ONLY",), 2)
    simulated = prepare(SIMULATED, ("CPU_ONLY",), 2)
    with pytest.raises(HettopError) as caught:
        with_other_model(real, simulated, "b")
    assert caught.value.kind == "usage"


def test_two_real_models_live_beside_each_other_and_the_screen_compares_them() -> None:
    options = ModelOptions(model=SMALL)
    setup = prepare_against(prepare(options, ("CPU_ONLY@1",), 2), options, "mobilenetv2:96x96", 2)
    feed = Measurement(
        setup,
        MeasureOptions(warmup=2, power="none"),
        rows=setup.units,
        raw_limit=0,
        wall=lambda: datetime(2026, 1, 1, tzinfo=UTC),
    )
    try:
        feed.interleave(setup.units)

        def sides() -> list[int]:
            feed.pump()
            return [condition.wall.n for condition in feed.session.conditions.values()]

        wait_for(lambda: len(sides()) == 2 and min(sides()) > 100, "both have samples")
        request = ViewRequest(now_ns=feed.now_ns + 4 * 10**9, window_ns=30 * 10**9)
        shown = view(feed.session, request).units
    finally:
        feed.close()
    assert [row.unit for row in shown.rows] == ["CPU_ONLY@1", "CPU_ONLY@1~b"]
    (sentence,) = shown.beside
    assert sentence.startswith("CPU_ONLY@1~b against CPU_ONLY@1: ")
    assert re.search(r"\[-?\d+%, -?\d+%\] at P50|undecided \[", sentence), "which one is faster depends on the machine"
    assert feed.session.header is not None
    assert feed.session.header.settings["variants"]["b"]["model"] == "mobilenetv2:96x96:b1"


def test_the_comparison_is_the_same_for_all_redraws_of_two_seconds() -> None:
    from hettop.session.beside import EVERY_NS, LATE_NS, RecentComparisons
    from tests.session.test_beside import latencies, session_of
    from tests.streams import S, window

    session = session_of(window(latencies(2.0, 1)), window(latencies(1.0, 2), unit="CPU_ONLY~b", t0=S))
    start = 4 * EVERY_NS + LATE_NS
    found = RecentComparisons().at(session, start)
    assert len(found) == 1
    session.fold(window(latencies(9.0, 3), unit="CPU_ONLY~b", t0=start - S // 10))
    assert RecentComparisons().at(session, start + EVERY_NS - 1) == found, "what ended later is not yet in it"
    assert RecentComparisons().at(session, start + 2 * EVERY_NS) != found
