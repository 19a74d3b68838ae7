"""What every power sample promises, whatever measured it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hettop import events
from hettop.events import Cluster, Gpu
from hettop.sources.power import sample as samples
from hettop.sources.power.sample import ClusterFigures, as_document, as_event, make_sample
from tests.sources.power.captures import CHIPS, plist, truth_of
from tests.sources.power.reading import one, read_plist


def test_every_rail_is_there_and_none_is_invented() -> None:
    made = make_sample("x", 5, {"cpu": 1.0, "gpu": 2.0, "ane": 3.0})
    assert made.mw == {"cpu": 1.0, "gpu": 2.0, "ane": 3.0, "dram": None, "package": None, "combined": None}


def test_clusters_are_ranked_by_their_highest_frequency_and_equals_stay_in_order() -> None:
    figures = [ClusterFigures(name, None, None, top) for name, top in (("S", 4600), ("P0", 4300), ("P1", 4300))]
    assert [cluster.name for cluster in make_sample("x", 5, {}, clusters=figures).clusters] == ["P0", "P1", "S"]


def test_flags_come_in_one_order_without_repeats() -> None:
    made = make_sample("x", 5, {"cpu": 0.0}, flags=["estimated", "partial", "estimated"])
    assert made.flags == ("suspect-zero", "partial", "estimated")


@pytest.mark.parametrize(
    ("cpu", "ane", "combined", "flags"),
    [
        (100.0, 0.0, 9150.0, ("inconsistent",)),
        (9000.0, 0.0, 150.0, ("inconsistent",)),
        (100.0, 0.0, 152.0, ()),  # rounded apart from each other
        (0.4, 0.0, 120.0, ()),  # far, but of little
        (1000.0, 0.0, 1900.0, ()),
        (100.0, None, 9150.0, ()),
        (100.0, 0.0, None, ()),
    ],
)
def test_a_sum_that_is_far_from_its_parts_is_flagged(
    cpu: float, ane: float | None, combined: float | None, flags: tuple[str, ...]
) -> None:
    assert make_sample("x", 5, {"cpu": cpu, "gpu": 50.0, "ane": ane, "combined": combined}).flags == flags


@pytest.mark.parametrize("busy", [None, 0.0, 0.04, 1.0])
def test_a_cpu_at_exactly_no_watts_was_not_measured_whatever_its_busy_share(busy: float | None) -> None:
    clusters = [] if busy is None else [ClusterFigures("E", 600.0, busy)]
    assert make_sample("x", 5, {"cpu": 0.0}, clusters=clusters).flags == ("suspect-zero",)
    assert make_sample("x", 5, {"cpu": 0.001}, clusters=clusters).flags == ()
    assert make_sample("x", 5, {"cpu": None}, clusters=clusters).flags == ()


@pytest.mark.parametrize(("busy", "flags"), [(0.06, ("suspect-zero",)), (0.05, ()), (None, ())])
def test_a_gpu_at_no_watts_is_suspect_only_while_it_is_busy(busy: float | None, flags: tuple[str, ...]) -> None:
    assert make_sample("x", 5, {"cpu": 1.0, "gpu": 0.0, "ane": 0.0}, gpu=Gpu(mhz=400.0, busy=busy)).flags == flags


def test_the_document_has_every_key_with_unknown_as_null() -> None:
    made = make_sample("x", None, {"cpu": 1.5}, clusters=[ClusterFigures("E", 600.0, None)], gpu=Gpu(mhz=1.0, busy=0.5))
    assert as_document(made) == {
        "elapsed_ns": None,
        "mw": {"cpu": 1.5, "gpu": None, "ane": None, "dram": None, "package": None, "combined": None},
        "clusters": [{"name": "E", "mhz": 600.0, "busy": None}],
        "gpu": {"mhz": 1.0, "busy": 0.5},
        "thermal": None,
        "flags": [],
        "accelerators": [],
    }


@pytest.mark.parametrize("name", CHIPS)
def test_a_sample_can_be_recorded_and_read_back(name: str) -> None:
    sample = one(read_plist(plist(truth_of(CHIPS[name]))))
    event = events.decode(events.encode(as_event(sample, t=7, elapsed_ns=500_000_000)))
    assert isinstance(event, events.Power)
    assert (event.t, event.source, event.elapsed_ns, event.mw) == (7, "powermetrics", 500_000_000, sample.mw)
    assert [cluster.name for cluster in event.clusters] == list(CHIPS[name].slowest_first)


def test_names_that_are_too_long_for_an_event_are_cut() -> None:
    made = make_sample("x", 5, {}, clusters=[ClusterFigures("E" * 999, None, None)], thermal="t" * 999)
    assert made.clusters == (Cluster(name="E" * 200),)
    assert events.decode(events.encode(as_event(made, t=0, elapsed_ns=5))) is not None


@given(st.floats())
def test_whatever_is_printed_every_figure_fits_an_event(value: float) -> None:
    figure = value if math.isfinite(value) else None
    made = make_sample(
        "x",
        samples.window_ns(figure),
        {rail: samples.milliwatts(figure) for rail in samples.RAILS},
        clusters=[ClusterFigures("E", samples.megahertz(figure), samples.share(figure))],
    )
    assert events.decode(events.encode(as_event(made, t=0, elapsed_ns=made.elapsed_ns or 0))) is not None


@pytest.mark.parametrize(
    ("idle", "down", "busy"),
    [
        (0.25, None, 0.75),
        (0.25, 0.5, 0.25),
        (0.0, 1.0, 0.0),
        (0.6, 0.401, 0.0),
        (None, 0.5, None),
        (5.0, None, None),
        (-0.001, None, None),
        (0.5, -0.001, None),
    ],
)
def test_busy_is_what_idle_and_down_leave(idle: float | None, down: float | None, busy: float | None) -> None:
    assert samples.busy_of(idle, down) == busy


@pytest.mark.parametrize(
    ("text", "value"),
    [("1.5", 1.5), (" 1,5 ", 1.5), (".5", 0.5), ("nan", None), ("-inf", None), ("", None), ("1.000,5", None)],
)
def test_numbers_are_read_or_absent(text: str, value: float | None) -> None:
    assert samples.number(text) == value
