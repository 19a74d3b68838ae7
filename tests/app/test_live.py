"""A live session on the simulated machine: what each control does to the stream."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hettop import events
from hettop.app.live import LiveFeed, recording_notice
from hettop.errors import HettopError
from hettop.measurement.measurement import Measurement
from hettop.measurement.options import MeasureOptions, ModelOptions
from hettop.measurement.setup import prepare
from hettop.record.writer import Closed
from hettop.session.event_log import kind_of
from hettop.session.log import in_words
from hettop.tui.feed import Notice
from tests.clocks import FakeClock
from tests.processes.waiting import wait_for
from tests.streams import S

WALL = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)


@pytest.fixture
def feed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveFeed]:
    monkeypatch.chdir(tmp_path)
    setup = prepare(ModelOptions(backend="simulated"), ("CPU_AND_NE", "ALL"), 2)
    feed = LiveFeed(Measurement(setup, MeasureOptions(warmup=0), rows=setup.units, raw_limit=0, wall=lambda: WALL))
    yield feed
    feed.close()


def pumped(feed: LiveFeed, condition: Callable[[], bool], what: str) -> None:
    def holds() -> bool:
        feed.pump()
        return condition()

    wait_for(holds, what)


def steady(feed: LiveFeed, unit: str) -> int:
    return sum(condition.wall.n for key, condition in feed.session.conditions.items() if key.unit == unit)


def control(feed: LiveFeed) -> events.Control:
    assert feed.session.control is not None
    return feed.session.control


def test_every_unit_has_a_row_before_it_has_run(feed: LiveFeed) -> None:
    assert [(unit.name, unit.state) for unit in feed.session.units.values()] == [
        ("CPU_AND_NE", "stopped"),
        ("ALL", "stopped"),
    ]
    assert feed.session.simulated
    assert feed.live is feed
    assert feed.replay is None
    assert feed.replay_status() is None


def test_what_to_know_of_the_setup_is_on_the_screen_and_in_the_header() -> None:
    setup = replace(prepare(ModelOptions(backend="simulated"), None, 2), warnings=("Core ML was passed over",))
    feed = LiveFeed(Measurement(setup, MeasureOptions(), rows=setup.units, raw_limit=0, wall=lambda: WALL))
    try:
        assert Notice("Core ML was passed over", "warning") in feed.notices()
        assert feed.session.header is not None
        assert "Core ML was passed over" in feed.session.header.host.warnings
    finally:
        feed.close()


def test_switching_runs_one_unit_then_the_other(feed: LiveFeed) -> None:
    feed.switch("CPU_AND_NE")
    pumped(feed, lambda: steady(feed, "CPU_AND_NE") > 10, "the first unit runs")
    feed.switch("ALL")
    assert (control(feed).action, control(feed).units, control(feed).mode) == ("switch", ["ALL"], "single")
    pumped(feed, lambda: steady(feed, "ALL") > 10, "the second unit runs")
    assert feed.session.units["CPU_AND_NE"].state == "paused"


def test_interleaving_runs_all_units(feed: LiveFeed) -> None:
    feed.interleave()
    assert (control(feed).action, control(feed).units, control(feed).mode) == (
        "interleave",
        ["CPU_AND_NE", "ALL"],
        "interleave",
    )
    pumped(feed, lambda: min(steady(feed, "CPU_AND_NE"), steady(feed, "ALL")) > 50, "both units run")


def test_pausing_stops_inference_and_resuming_goes_on(feed: LiveFeed) -> None:
    feed.switch("ALL")
    pumped(feed, lambda: steady(feed, "ALL") > 10, "it runs")
    feed.toggle_pause()
    assert (control(feed).action, control(feed).paused, control(feed).units) == ("pause", True, ["ALL"])
    pumped(feed, lambda: feed.session.units["ALL"].state == "paused", "it pauses")
    before = feed.session.samples
    feed.toggle_pause()
    assert (control(feed).action, control(feed).paused) == ("resume", False)
    pumped(feed, lambda: feed.session.samples > before + 10, "it goes on")
    assert feed.session.units["ALL"].apart["resume"] == 1


def test_switching_ends_a_pause(feed: LiveFeed) -> None:
    feed.switch("ALL")
    feed.toggle_pause()
    feed.switch("ALL")
    assert not control(feed).paused
    pumped(feed, lambda: steady(feed, "ALL") > 10, "it runs")


def test_resetting_forgets_the_samples(feed: LiveFeed) -> None:
    feed.switch("ALL")
    pumped(feed, lambda: steady(feed, "ALL") > 100, "it runs")
    feed.toggle_pause()
    pumped(feed, lambda: feed.session.units["ALL"].state == "paused", "it pauses")
    feed.reset()
    assert control(feed).action == "reset"
    assert not feed.session.conditions
    assert control(feed).paused, "a reset is not a resume"


def test_a_mark_is_an_event_of_limited_length(feed: LiveFeed) -> None:
    feed.mark("x" * 300)
    assert kind_of(feed.session.log[-1]) == "mark"
    assert len(in_words(feed.session.log[-1]).text) <= events.TEXT_LIMIT


def test_each_kind_of_load_has_a_dial_that_leaves_the_others_alone(feed: LiveFeed) -> None:
    seen = []
    for what, level, duty in (("cpu", 2, 100), ("memory", 1, 50), ("cpu", 1, 100), ("memory", 0, 100)):
        feed.change_load(what, level, duty)
        feed.pump()
        seen.append(feed.session.load)
    assert seen == ["cpu:2", "cpu:2+memory:1@50%", "cpu:1+memory:1@50%", "cpu:1"]
    assert [(dial.what, dial.level) for dial in feed.loads()] == [("cpu", 1), ("memory", 0), ("gpu", 0), ("ane", 0)]
    feed.end_load()
    feed.pump()
    assert "simulated load now none" in in_words(feed.session.log[-1]).text


def test_the_simulated_machine_has_every_kind_of_load(feed: LiveFeed) -> None:
    assert [dial.reason for dial in feed.loads()] == [None] * 4


def test_recordings_are_named_after_the_time_and_never_overwrite_each_other(feed: LiveFeed, tmp_path: Path) -> None:
    feed.switch("ALL")
    pumped(feed, lambda: steady(feed, "ALL") > 10, "it runs")
    for _ in range(2):
        feed.toggle_recording()
        status = feed.recording_status()
        assert status is not None
        assert status.fault is None
        pumped(feed, lambda path=Path(status.path): "samples" in kinds_recorded(path), "it records")  # type: ignore[misc]
        feed.toggle_recording()
        assert feed.recording_status() is None
    local = f"hettop-{WALL.astimezone():%Y%m%d-%H%M%S}"
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{local}-2.jsonl", f"{local}.jsonl"]
    for path in tmp_path.iterdir():
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        opening = [line["k"] for line in lines if line["t"] == 0 and line["k"] not in ("power-source", "host")]
        assert opening[:4] == ["header", "engine", "engine", "control"]
        assert lines[-1] == {
            "k": "end",
            "t": lines[-1]["t"],
            "why": "stopped by the user",
            "samples": lines[-1]["samples"],
            "dropped": 0,
            "crc32": lines[-1]["crc32"],
            "line_crc32": lines[-1]["line_crc32"],
        }
        assert lines[-1]["samples"] > 0
    notices = [notice.text for notice in feed.notices()]
    assert [text.split()[0] for text in notices] == ["recording", "recorded"] * 2
    assert feed.notices() == []


def test_closing_closes_the_recording_and_may_be_done_twice(feed: LiveFeed, tmp_path: Path) -> None:
    feed.toggle_recording()
    closed = feed.close("quit")
    assert closed is not None
    assert json.loads(Path(closed.path).read_text().splitlines()[-1])["why"] == "quit"
    assert feed.close("quit") is None


def test_redraws_end_up_in_the_stream(tmp_path: Path) -> None:
    setup = prepare(ModelOptions(backend="simulated"), None, 2)
    file = tmp_path / "r.jsonl"
    clock = FakeClock()
    feed = LiveFeed(Measurement(setup, MeasureOptions(record=str(file)), rows=(), raw_limit=0, clock=clock))
    feed.drew_frame(7_000_000)
    clock.pass_time(6 * S)
    feed.pump()
    feed.close()
    (frame,) = [json.loads(line) for line in file.read_text().splitlines() if '"frame"' in line]
    assert (frame["redraws"], frame["worst_ns"]) == (1, 7_000_000)


@pytest.mark.parametrize(
    ("closed", "severity", "text"),
    [
        (Closed("r.jsonl", 100, 1234, 0, 0, None), "information", "recorded 1,234 samples to r.jsonl"),
        (
            Closed("r.jsonl", 100, 5, 0, 7, None),
            "warning",
            "recorded 5 samples to r.jsonl; 7 samples are missing, 7 of them without a line that reports it",
        ),
        (
            Closed("r.jsonl", 100, 5, 0, 0, "No space left on device (ENOSPC)"),
            "error",
            "recorded 5 samples to r.jsonl: No space left on device (ENOSPC)",
        ),
    ],
)
def test_what_became_of_a_recording_is_reported(closed: Closed, severity: str, text: str) -> None:
    notice = recording_notice(closed)
    assert (notice.severity, notice.text) == (severity, text)


def kinds_recorded(path: Path) -> set[str]:
    return {json.loads(line)["k"] for line in path.read_text().splitlines()}


def test_the_canary_reports_into_the_stream_of_a_real_machine(tmp_path: Path) -> None:
    setup = prepare(ModelOptions(backend="onnxruntime"), ("CPU_ONLY",), 2)
    path = tmp_path / "canary.jsonl"
    feed = LiveFeed(Measurement(setup, MeasureOptions(canary=True, record=str(path)), rows=setup.units, raw_limit=0))
    try:
        pumped(feed, lambda: "canary" in kinds_recorded(path), "the canary has reported")
    finally:
        feed.close()


def test_a_simulated_machine_has_no_canary(tmp_path: Path) -> None:
    setup = prepare(ModelOptions(backend="simulated"), ("ALL",), 2)
    path = tmp_path / "simulated.jsonl"
    feed = LiveFeed(
        Measurement(setup, MeasureOptions(canary=True, warmup=0, record=str(path)), rows=setup.units, raw_limit=0)
    )
    feed.switch("ALL")
    pumped(feed, lambda: feed.now_ns > 2 * S, "two seconds have passed")
    feed.close()
    assert "canary" not in kinds_recorded(path)


def test_a_simulated_machine_reports_its_power_and_a_baseline_rests_inference_and_goes_on(feed: LiveFeed) -> None:
    feed.switch("CPU_AND_NE")
    pumped(feed, lambda: feed.session.power is not None and steady(feed, "CPU_AND_NE") > 0, "there is power")
    feed.take_baseline()
    assert (control(feed).action, control(feed).paused) == ("baseline", True)
    pumped(feed, lambda: "none" in feed.session.baselines, "the baseline is taken")
    assert (control(feed).action, control(feed).paused) == ("resume", False)
    # The simulated M2 idles at 110 mW on its CPU and 0 on its Neural Engine, give or take noise and whole mJ.
    baseline = feed.session.baselines["none"]
    assert baseline.mw["cpu"] == pytest.approx(110, abs=8)
    assert baseline.mw["ane"] == 0
    assert [notice.text for notice in feed.notices()] == []


class OneAdvice:
    """Advises `CPU_AND_NE` at its first look."""

    def __init__(self) -> None:
        self._looks = 0

    def poll(self, _session: object, t: int) -> events.Advice | None:
        self._looks += 1
        return events.Advice(t=t, load="none", unit="CPU_AND_NE", over="ALL") if self._looks == 1 else None


@pytest.mark.parametrize("follow", [False, True])
def test_advice_is_followed_only_if_the_user_wants_it_and_both_are_recorded(
    follow: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hettop.app.live.Adviser", OneAdvice)
    setup = prepare(ModelOptions(backend="simulated"), ("CPU_AND_NE", "ALL"), 2)
    path = tmp_path / "s.jsonl"
    measurement = Measurement(setup, MeasureOptions(warmup=0, record=str(path)), rows=setup.units, raw_limit=0)
    feed = LiveFeed(measurement, follow_advice=follow)
    feed.interleave()
    pumped(feed, lambda: feed.session.advice is not None, "advice was given")
    expected = ["CPU_AND_NE"] if follow else ["CPU_AND_NE", "ALL"]
    assert (list(control(feed).units), control(feed).mode) == (expected, "single" if follow else "interleave")
    feed.close()
    kinds = [json.loads(line)["k"] for line in path.read_text().splitlines()]
    assert kinds[kinds.index("advice") :].count("control") == int(follow)


def test_a_baseline_needs_power(tmp_path: Path) -> None:
    setup = prepare(ModelOptions(backend="simulated"), ("ALL",), 2)
    feed = LiveFeed(Measurement(setup, MeasureOptions(power="none"), rows=setup.units, raw_limit=0))
    try:
        pumped(feed, lambda: feed.session.power_status is not None, "the source is known to be none")
        feed.take_baseline()
        assert [notice.text for notice in feed.notices()] == [
            "no idle baseline without power readings: disabled (--power none)"
        ]
        assert feed.session.control is None, "nothing was paused"
    finally:
        feed.close()


def test_a_baseline_waits_until_nothing_loads_any_more(feed: LiveFeed) -> None:
    feed.switch("ALL")
    pumped(feed, lambda: feed.session.power is not None, "there is power")
    feed.take_baseline()
    feed.restart("CPU_AND_NE")
    pumped(feed, lambda: "none" in feed.session.baselines, "the baseline is taken")
    baseline = feed.session.baselines["none"]
    loaded_ns = feed.session.units["CPU_AND_NE"].since_ns
    assert feed.session.units["CPU_AND_NE"].state == "paused"
    assert baseline.t - baseline.elapsed_ns > loaded_ns


def test_a_baseline_that_is_broken_off_leaves_inference_as_it_found_it(feed: LiveFeed) -> None:
    feed.switch("ALL")
    pumped(feed, lambda: feed.session.power is not None, "there is power")
    feed.toggle_pause()
    feed.take_baseline()
    feed.take_baseline()
    assert control(feed).paused
    feed.toggle_pause()
    feed.take_baseline()
    feed.take_baseline()
    assert not control(feed).paused


@pytest.fixture
def studying(tmp_path: Path) -> Iterator[LiveFeed]:
    setup = prepare(ModelOptions("mobilenetv2:32x32", backend="onnxruntime"), ("CPU_ONLY@1",), 2)
    measurement = Measurement(setup, MeasureOptions(power="none"), rows=setup.units, raw_limit=0)
    feed = LiveFeed(measurement, ModelOptions("mobilenetv2"))
    yield feed
    feed.close()


def test_inference_rests_during_a_study_and_goes_on_after_it(studying: LiveFeed) -> None:
    studying.switch("CPU_ONLY@1")
    studying.study("layers")
    assert control(studying).paused
    assert studying.session.studies.running is not None
    studying.end_study()
    assert not control(studying).paused
    assert [study.state for study in studying.session.studies.all] == ["ended"]


def test_a_study_begun_on_a_variant_is_of_its_unit(studying: LiveFeed) -> None:
    studying.measurement.run_control("switch", units=["CPU_ONLY@1~b"], mode="single", paused=True)
    studying.study("layers")
    running = studying.session.studies.running
    assert running is not None
    assert running.arguments == ["layers", "--units", "CPU_ONLY@1"]


@pytest.mark.parametrize("meanwhile", ["space", "switch", "interleave", "load"])
def test_whatever_would_be_measured_with_a_study_ends_it_and_says_so(studying: LiveFeed, meanwhile: str) -> None:
    studying.switch("CPU_ONLY@1")
    studying.study("layers")
    does: dict[str, Callable[[], None]] = {
        "space": studying.toggle_pause,
        "switch": lambda: studying.switch("CPU_ONLY@1"),
        "interleave": studying.interleave,
        "load": lambda: studying.change_load("cpu", 1, 100),
    }
    does[meanwhile]()
    assert [study.state for study in studying.session.studies.all] == ["ended"]
    assert any("study ended" in notice.text for notice in studying.notices())


def test_no_study_begins_under_competing_load(studying: LiveFeed) -> None:
    studying.change_load("cpu", 1, 10)
    with pytest.raises(HettopError, match="without competing load"):
        studying.study("layers")


def test_without_a_command_there_are_no_studies(feed: LiveFeed) -> None:
    assert feed.studies() == ()


def test_switching_breaks_a_baseline_off(feed: LiveFeed) -> None:
    feed.switch("ALL")
    pumped(feed, lambda: feed.session.power is not None, "there is power")
    feed.take_baseline()
    feed.switch("CPU_AND_NE")
    assert not control(feed).paused
    assert feed.session.baselines == {}


def test_samples_carry_the_thermal_state_that_the_power_source_reports(feed: LiveFeed) -> None:
    feed.switch("ALL")
    pumped(feed, lambda: any(key.thermal == "Nominal" for key in feed.session.conditions), "the state is known")


def test_an_unknown_source_of_power_is_refused_and_leaves_no_file(tmp_path: Path) -> None:
    setup = prepare(ModelOptions(backend="simulated"), ("ALL",), 2)
    path = tmp_path / "none.jsonl"
    with pytest.raises(HettopError, match="simulated power"):
        LiveFeed(Measurement(setup, MeasureOptions(power="rapl", record=str(path)), rows=setup.units, raw_limit=0))
    assert not path.exists()


def test_simulated_power_needs_no_access(feed: LiveFeed) -> None:
    pumped(feed, lambda: feed.session.power_status is not None, "the source is known")
    with pytest.raises(HettopError, match="power is simulated: no access needed"):
        feed.power_access()


def test_where_nothing_would_change_the_sources_reason_is_the_hint() -> None:
    setup = prepare(ModelOptions(backend="simulated"), ("ALL",), 2)
    feed = LiveFeed(Measurement(setup, MeasureOptions(power="none"), rows=setup.units, raw_limit=0))
    try:
        pumped(feed, lambda: feed.session.power_status is not None, "the source is known to be none")
        with pytest.raises(HettopError) as caught:
            feed.power_access()
        assert (caught.value.kind, caught.value.hint) == ("usage", "disabled (--power none)")
    finally:
        feed.close()


def test_notices_of_controllers_come_after_the_first_ones_were_shown(feed: LiveFeed) -> None:
    feed.notices()
    feed.measure_without_load()
    assert [notice.text for notice in feed.notices()] == ["no load is active: units are measured without load already"]


def test_a_measurement_without_load_ends_by_itself_and_the_load_returns(
    feed: LiveFeed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hettop.app.without_load.LEAST_NS", S // 5)
    monkeypatch.setattr("hettop.app.without_load.MOST_NS", 10**6 * S)
    feed.change_load("cpu", 2, 100)
    feed.switch("CPU_AND_NE")
    pumped(feed, lambda: steady(feed, "CPU_AND_NE") > 0, "it runs under load")
    feed.measure_without_load()
    assert feed.without_load_left_ns() is not None
    pumped(feed, lambda: feed.session.load == "none", "there is no load")
    pumped(feed, lambda: feed.without_load_left_ns() is None and feed.session.load == "cpu:2", "the load is back")
    without = [c.wall.n for key, c in feed.session.conditions.items() if key[:2] == ("CPU_AND_NE", "none")]
    assert sum(without) >= 64
    assert "measured without load; the load is active again" in [notice.text for notice in feed.notices()]


def test_a_load_set_meanwhile_stays(feed: LiveFeed) -> None:
    feed.switch("CPU_AND_NE")
    feed.change_load("cpu", 2, 100)
    feed.measure_without_load()
    feed.change_load("memory", 1, 100)
    assert feed.without_load_left_ns() is None
    assert [(dial.what, dial.level) for dial in feed.loads() if dial.level] == [("memory", 1)]


def test_called_again_it_starts_the_load_at_once(feed: LiveFeed) -> None:
    feed.switch("CPU_AND_NE")
    feed.change_load("cpu", 2, 100)
    feed.measure_without_load()
    feed.measure_without_load()
    assert feed.without_load_left_ns() is None
    assert [(dial.what, dial.level) for dial in feed.loads() if dial.level] == [("cpu", 2)]


def test_nothing_is_measured_without_load_while_paused(feed: LiveFeed) -> None:
    feed.switch("CPU_AND_NE")
    feed.change_load("cpu", 2, 100)
    feed.toggle_pause()
    feed.measure_without_load()
    assert feed.without_load_left_ns() is None
    assert feed.notices()[-1].text == "inference is paused: space resumes it"
