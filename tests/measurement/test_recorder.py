"""A recording begun in the middle of a session opens with what is active, on a clock of its own."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from hettop import events
from hettop.errors import HettopError
from hettop.measurement.recorder import Recorder, opening_events, rfc3339
from hettop.session.session import Session
from tests.streams import MS, S, header, window

WALL = datetime(2026, 1, 31, 12, 0, 0, 250_000, tzinfo=UTC)


def in_the_middle() -> Session:
    """Some seconds into a session: one unit measured, one failed, under load, paused."""
    session = Session()
    stream: list[events.AnyEvent] = [
        header(absent={"ALL": "no Mac"}),
        events.Engine(t=0, unit="CPU_ONLY", state="spawning"),
        events.Engine(t=S, unit="CPU_ONLY", state="running", load_ns=45 * MS, first_ns=20 * MS, placed="CPU"),
        window([2 * MS] * 100, t0=2 * S),
        events.Engine(t=3 * S, unit="ALL", state="failed", error=events.Failure(kind="crashed", message="gone")),
        events.Load(t=4 * S, what="all", state="confirmed", condition="cpu:2"),
        events.Control(t=5 * S, action="pause", units=["CPU_ONLY"], paused=True, rate_hz=50.0),
    ]
    for event in stream:
        session.fold(event)
    return session


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_it_opens_with_the_state_that_is_active(tmp_path: Path) -> None:
    recorder = Recorder(in_the_middle(), lambda: WALL)
    recorder.start(tmp_path / "middle.jsonl", 30 * S)
    recorder.stop("done", 32 * S)
    head, running, failed, load, control, _ = lines_of(tmp_path / "middle.jsonl")
    assert (head["wall"], head["settings"]["absent"]) == ("2026-01-31T12:00:00.250Z", {"ALL": "no Mac"})
    assert {line["t"] for line in (head, running, failed, load, control)} == {0}
    assert (running["state"], running["load_ns"], running["placed"]) == ("running", 45 * MS, "CPU")
    assert failed["error"]["message"] == "gone"
    assert load["condition"] == "cpu:2"
    assert (control["action"], control["paused"], control["rate_hz"]) == ("start", True, 50.0)


def test_its_time_counts_from_its_own_beginning(tmp_path: Path) -> None:
    recorder = Recorder(in_the_middle(), lambda: WALL)
    recorder.start(tmp_path / "middle.jsonl", 30 * S)
    # Three samples of a second each, of which the first began before the recording did.
    recorder.write(window([S, S, S], t0=29 * S + S // 2, gap=0))
    closed = recorder.stop("done", 40 * S)
    assert closed is not None
    assert closed.samples == 2
    *_, samples, end = lines_of(tmp_path / "middle.jsonl")
    assert (samples["k"], samples["t0"], samples["n"]) == ("samples", S // 2, 2)
    assert (end["k"], end["why"], end["t"]) == ("end", "done", 10 * S)


def test_folding_the_opening_gives_the_state_that_was() -> None:
    session = in_the_middle()
    again = Session()
    for event in (header(), *opening_events(session, 30 * S)):
        again.fold(event)
    assert again.load == "cpu:2"
    assert again.paused
    assert again.limit_ns == 20 * MS
    assert again.units["CPU_ONLY"].load_ns == 45 * MS
    assert again.units["ALL"].error == session.units["ALL"].error
    assert again.samples == 0


def test_what_was_reported_units_and_power_is_reported_again() -> None:
    session = in_the_middle()
    told: list[events.AnyEvent] = [
        events.Plan(t=6 * S, unit="CPU_ONLY", ops=3),
        events.Outputs(t=6 * S, unit="CPU_ONLY", reference="ALL", inputs=2),
        events.PowerStatus(t=7 * S, source="macmon", state="running", interval_ns=S),
        events.Baseline(t=8 * S, source="macmon", elapsed_ns=3 * S, mw={"cpu": 100.0}, n=6),
        events.HostLoad(t=9 * S, cpu_percent=[10.0]),
    ]
    for event in told:
        session.fold(event)
    again = Session()
    for event in (header(), *opening_events(session, 30 * S)):
        again.fold(event)
    unit = again.units["CPU_ONLY"]
    assert unit.plan is not None
    assert unit.plan.ops == 3
    assert unit.outputs is not None
    assert unit.outputs.inputs == 2
    assert again.power_status is not None
    assert (again.power_status.source, again.power_status.t) == ("macmon", 30 * S)
    assert again.baselines["none"].mw == {"cpu": 100.0}
    assert again.host is not None
    assert again.host.cpu_percent == [10.0]


def test_every_recording_has_an_id_of_its_own(tmp_path: Path) -> None:
    recorder = Recorder(in_the_middle(), lambda: WALL)
    ids = set()
    for name in ("one.jsonl", "two.jsonl"):
        recorder.start(tmp_path / name, 30 * S)
        recorder.stop("done", 31 * S)
        ids.add(lines_of(tmp_path / name)[0]["id"])
    assert len(ids) == 2
    assert all(len(name) == 32 for name in ids)


def test_between_recordings_events_go_nowhere() -> None:
    recorder = Recorder(in_the_middle(), lambda: WALL)
    recorder.write(events.Mark(t=S, text="unrecorded"))
    recorder.tick(2 * S)
    assert recorder.stop("done", 3 * S) is None
    assert recorder.writer is None


def test_a_file_that_cannot_be_made_leaves_it_without_a_recording(tmp_path: Path) -> None:
    recorder = Recorder(in_the_middle(), lambda: WALL)
    with pytest.raises(HettopError, match="folder not found"):
        recorder.start(tmp_path / "missing" / "x.jsonl", S)
    assert recorder.writer is None


def test_wall_time_is_reported_in_utc() -> None:
    local = datetime(2026, 1, 31, 13, 30, 0, 1999, tzinfo=timezone(timedelta(hours=1, minutes=30)))
    assert rfc3339(local) == "2026-01-31T12:00:00.001Z"


def test_one_that_shall_be_compressed_is_plain_until_its_close(tmp_path: Path) -> None:
    pytest.importorskip("zstandard")
    recorder = Recorder(in_the_middle(), lambda: WALL)
    recorder.start(tmp_path / "a.jsonl.zst", 30 * S)
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]
    closed = recorder.stop("done", 32 * S)
    assert closed is not None
    assert closed.path == str(tmp_path / "a.jsonl.zst")
    assert closed.size_bytes == (tmp_path / "a.jsonl.zst").stat().st_size
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl.zst"]


def test_where_it_cannot_be_compressed_the_plain_one_stays_and_that_is_said(tmp_path: Path) -> None:
    pytest.importorskip("zstandard")
    recorder = Recorder(in_the_middle(), lambda: WALL)
    recorder.start(tmp_path / "a.jsonl.zst", 30 * S)
    (tmp_path / "a.jsonl.zst").write_text("somebody else's")
    closed = recorder.stop("done", 32 * S)
    assert closed is not None
    assert closed.path == str(tmp_path / "a.jsonl")
    assert "already exists" in (closed.fault or "")
    assert (tmp_path / "a.jsonl.zst").read_text() == "somebody else's"
    assert lines_of(tmp_path / "a.jsonl")[-1]["k"] == "end"


def test_a_compressed_recording_that_exists_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    pytest.importorskip("zstandard")
    (tmp_path / "a.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd")
    with pytest.raises(HettopError, match="already exists"):
        Recorder(in_the_middle(), lambda: WALL).start(tmp_path / "a.jsonl.zst", 0)
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl.zst"]


def test_one_that_is_discarded_leaves_nothing_compressed_either(tmp_path: Path) -> None:
    pytest.importorskip("zstandard")
    recorder = Recorder(in_the_middle(), lambda: WALL)
    recorder.start(tmp_path / "a.jsonl.zst", 30 * S)
    recorder.discard()
    assert list(tmp_path.iterdir()) == []


def test_a_recording_begun_later_knows_the_rails_that_were_seen_to_count_before() -> None:
    session = in_the_middle()
    session.fold(events.PowerStatus(t=6 * S, source="powermetrics", state="running", validated=["gpu"]))
    session.fold(events.Power(t=7 * S, source="powermetrics", elapsed_ns=S, mw={"cpu": 0.0, "ane": 900.0}))
    replayed = Session()
    for event in (header(), *opening_events(session, 30 * S)):
        replayed.fold(event)
    (status,) = [event for event in opening_events(session, 30 * S) if isinstance(event, events.PowerStatus)]
    assert status.validated == ["ane", "gpu"]
    replayed.fold(events.Power(t=31 * S, source="powermetrics", elapsed_ns=S, mw={"ane": 0.0}))
    assert replayed.energy.validated == session.energy.validated == {"ane", "gpu"}


def test_a_recording_begun_later_ascribes_no_rail_to_a_source_that_is_but_tried() -> None:
    session = in_the_middle()
    session.fold(events.Power(t=7 * S, source="macmon", elapsed_ns=S, mw={"ane": 900.0}))
    session.fold(events.PowerStatus(t=8 * S, source="powermetrics", state="starting"))
    (status,) = [event for event in opening_events(session, 30 * S) if isinstance(event, events.PowerStatus)]
    assert status.validated == []
