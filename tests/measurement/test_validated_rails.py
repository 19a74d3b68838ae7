"""Rails that were seen above zero are remembered by machine, system build and source, and by real power alone."""

from __future__ import annotations

import json
import os
import plistlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec.structs import asdict
from msgspec.structs import replace as changed

from hettop import events
from hettop.app.settings.resolve import read_ui_state
from hettop.events import AnyEvent, PowerStatus
from hettop.measurement.power import LivePower, PowerHere
from hettop.measurement.validated_rails import Sighting, ValidatedRails, my_validated_rails, remember_session
from hettop.session.session import Session
from tests.clocks import FakeClock
from tests.processes.waiting import wait_for
from tests.sources.power.machines import mac
from tests.streams import MS, S, header, window

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
ANE = Sighting(
    rail="ane",
    machine="Mac14,2",
    build="24A335",
    source="powermetrics",
    seen="2026-01-31T12:00:00.000Z",
    model="Test model",
    unit="CPU_AND_NE",
    mw=640.0,
)


@pytest.fixture
def rails(tmp_path: Path) -> ValidatedRails:
    return ValidatedRails(tmp_path / "state" / "rails.json", "Mac14,2", "24A335")


def test_what_was_seen_is_known_later_on_the_same_machine_system_and_source_alone(rails: ValidatedRails) -> None:
    rails.remember([ANE])
    assert rails.of("powermetrics") == {"ane": ANE}
    assert rails.of("macmon") == {}
    for other in (replace(rails, machine="Mac15,3"), replace(rails, build="26A5279m")):
        assert other.all() == ()
    assert rails.path is not None
    assert list(rails.path.parent.iterdir()) == [rails.path], "no half-written file is left"


def test_each_machine_and_source_keeps_its_own_and_a_rail_has_one_entry(rails: ValidatedRails) -> None:
    other = replace(rails, build="26A5279m")
    later = changed(ANE, mw=700.0, seen="2026-02-01T00:00:00.000Z")
    for memory, each in ((rails, ANE), (other, changed(ANE, build="26A5279m")), (rails, later)):
        memory.remember([each])
    assert rails.all() == (later,)
    assert [each.mw for each in other.all()] == [640.0]


def test_a_rail_that_read_zero_under_load_is_forgotten(rails: ValidatedRails) -> None:
    rails.remember([ANE, changed(ANE, rail="gpu")])
    rails.forget("macmon", ["ane", "gpu"])
    rails.forget("powermetrics", ["ane"])
    assert list(rails.of("powermetrics")) == ["gpu"]


ENTRY = asdict(ANE)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"[1, 2]",
        b"[" * 50_000,
        json.dumps({"rails": [ENTRY]}).encode(),
        json.dumps({"format": "hettop-validated-rails", "rails": [{**ENTRY, "rail": "cpu"}]}).encode(),
        json.dumps({"format": "hettop-validated-rails", "rails": [{**ENTRY, "mw": 0}]}).encode(),
        json.dumps({"format": "hettop-validated-rails", "rails": [{**ENTRY, "model": "m" * 201}]}).encode(),
    ],
)
def test_a_file_that_is_damaged_or_foreign_is_as_if_nothing_were_remembered(
    rails: ValidatedRails, content: bytes
) -> None:
    assert rails.path is not None
    rails.path.parent.mkdir()
    rails.path.write_bytes(content)
    assert rails.all() == ()
    rails.remember([ANE])
    assert rails.all() == (ANE,)


OTHERS = [{**ENTRY, "rail": "npu", "more": [1]}, {**ENTRY, "rail": "gpu", "model": "m" * 201}, 7]


def test_an_entry_that_is_not_known_hides_no_other_and_stays(rails: ValidatedRails) -> None:
    assert rails.path is not None
    rails.path.parent.mkdir()
    known = {**ENTRY, "more": "of a later version"}
    rails.path.write_text(json.dumps({"format": "hettop-validated-rails", "rails": [OTHERS[0], known, *OTHERS[1:]]}))
    assert rails.all() == (ANE,)
    rails.remember([changed(ANE, source="macmon")])
    written = json.loads(rails.path.read_text())["rails"]
    assert [each for each in written if each in OTHERS] == OTHERS
    assert known in written
    assert [each.source for each in rails.all()] == ["powermetrics", "macmon"]
    rails.forget("powermetrics", ["ane"])
    assert [each.source for each in rails.all()] == ["macmon"]
    assert len(json.loads(rails.path.read_text())["rails"]) == 4


def test_a_model_with_a_long_or_broken_name_is_remembered_by_what_fits(rails: ValidatedRails) -> None:
    rails.remember([ANE, changed(ANE, rail="gpu", model="\udcff" + "m" * 200)])
    assert {each.rail: len(each.model) for each in rails.all()} == {"ane": 10, "gpu": 200}


def test_no_more_is_written_than_is_read(rails: ValidatedRails) -> None:
    many = [changed(ANE, source=f"{n:03}", model="模" * 200, unit="模" * 200, seen=f"{n:03}") for n in range(100)]
    rails.remember(many)
    kept = [each.source for each in rails.all()]
    assert kept == [f"{n:03}" for n in range(100 - len(kept), 100)], "the newest"
    assert 50 < len(kept) < 100


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_in_the_place_of_the_file_is_not_opened(rails: ValidatedRails, monkeypatch: pytest.MonkeyPatch) -> None:
    assert rails.path is not None
    rails.path.parent.mkdir()
    os.mkfifo(rails.path)
    opened = list[Path]()

    def refuse(path: Path, *_: object) -> None:
        opened.append(path)
        raise OSError

    monkeypatch.setattr(Path, "open", refuse)
    assert rails.all() == ()
    assert read_ui_state(rails.path).content == {}
    assert opened == []


@pytest.mark.parametrize(
    "memory",
    [
        ValidatedRails(),
        ValidatedRails(Path(os.devnull) / "rails.json", "Mac14,2", "24A335"),
        ValidatedRails(Path("rails.json"), None, "24A335"),
        ValidatedRails(Path("rails.json"), "Mac14,2", None),
    ],
)
def test_where_nothing_can_be_kept_or_the_machine_is_not_known_nothing_is(
    memory: ValidatedRails, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    memory.remember([ANE])
    memory.forget("powermetrics", ["ane"])
    assert memory.all() == ()
    assert list(tmp_path.iterdir()) == []


def test_a_mac_is_known_by_its_model_and_build_and_other_systems_remember_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    version = tmp_path / "SystemVersion.plist"
    version.write_bytes(plistlib.dumps({"ProductBuildVersion": "24A335"}))

    def sysctl(command: Sequence[str]) -> str:
        assert command[-1] == "hw.model"
        return "Mac14,2\n"

    assert my_validated_rails("darwin", sysctl, version) == ValidatedRails(
        tmp_path / "hettop" / "validated-rails.json", "Mac14,2", "24A335"
    )
    assert my_validated_rails("linux", sysctl, version) == ValidatedRails()


def session_of(*power: AnyEvent, unit: str = "CPU_AND_NE", simulated: bool = False) -> Session:
    """A unit that ran for three seconds, and what was drawn meanwhile."""
    session = Session()
    for event in (header(simulated=simulated), window([10 * MS] * 300, unit=unit, gap=0), *power):
        session.fold(event)
    return session


def drew(ane: float, gpu: float = 0.0, *, source: str = "powermetrics", t: int = 2 * S) -> AnyEvent:
    return events.Power(t=t, source=source, elapsed_ns=S, mw={"cpu": 900.0, "gpu": gpu, "ane": ane})


def test_a_session_remembers_the_rails_that_drew_while_a_unit_ran_that_may_use_them(rails: ValidatedRails) -> None:
    remember_session(session_of(drew(640.0, 30.0)), rails, NOW)
    assert rails.all() == (ANE,), "the GPU drew, too, but CPU_AND_NE does not use it"
    remember_session(session_of(drew(500.0, 30.0), unit="ALL~closed"), rails, NOW)
    assert [(each.rail, each.mw, each.unit) for each in rails.all()] == [
        ("ane", 640.0, "CPU_AND_NE"),  # which was known already
        ("gpu", 30.0, "ALL~closed"),
    ]


@pytest.mark.parametrize(
    "session",
    [
        session_of(drew(640.0), simulated=True),
        session_of(drew(640.0, source="file")),
        session_of(drew(640.0), unit="CPU_ONLY"),
        session_of(drew(640.0, t=S // 2)),  # began before the unit did
        session_of(drew(1.0)),  # one step of the counter
        session_of(drew(500.0, source="macmon"), drew(0.0, t=3 * S)),
        session_of(drew(0.0, source="macmon"), drew(500.0, t=3 * S)),  # the mean would be 250 mW
        session_of(drew(500.0), drew(0.0, source="file", t=3 * S)),
        session_of(),
    ],
    ids=[
        "simulated",
        "capture",
        "another unit",
        "not within its running",
        "no more than a step",
        "another source",
        "two sources",
        "capture afterwards",
        "no power",
    ],
)
def test_what_is_not_this_machines_or_not_this_units_is_not_remembered(session: Session, rails: ValidatedRails) -> None:
    remember_session(session, rails, NOW)
    assert rails.all() == ()


@pytest.mark.parametrize(("source", "validated"), [("powermetrics", ["ane"]), ("macmon", [])])
def test_what_is_remembered_of_a_source_enters_the_stream_when_it_runs(
    rails: ValidatedRails, source: str, validated: list[str]
) -> None:
    rails.remember([ANE])
    clock, told = FakeClock(0), list[PowerStatus]()
    power = LivePower(source, simulated=False, here=PowerHere(mac().machine, rails), now=clock.now, origin_ns=0)
    try:

        def running() -> bool:
            told.extend(event for event in power.drain(clock.now()) if isinstance(event, PowerStatus))
            return power.running

        wait_for(running, f"{source} runs")
    finally:
        power.close()
    assert [(status.state, status.validated) for status in told] == [("starting", []), ("running", validated)]
