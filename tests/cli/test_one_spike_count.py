"""There is one number of spikes: every output of a recording gives it."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

from hettop.record.player import Player
from hettop.report.page import Items, Table
from hettop.report.recording_report import RecordingReport, page_of
from hettop.report.spikes_section import spikes_section
from hettop.report.table import session_blocks
from hettop.session.session import Session
from hettop.session.statistics import statistics
from hettop.session.views.session_view import view
from hettop.session.views.structs import ViewRequest
from tests.cli.running import called, one_document
from tests.processes.waiting import REPOSITORY

RECORDINGS = ("linux-x86-two-cores", "simulated-m2", "simulated-m2-60hz")

Condition = tuple[str, str]


def path_of(name: str) -> Path:
    return REPOSITORY / "recordings" / f"{name}.jsonl"


@pytest.fixture(params=RECORDINGS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def player(name: str) -> Player:
    player = Player(path_of(name))
    player.seek(player.duration_ns)
    return player


@pytest.fixture
def by_condition(player: Player) -> dict[Condition, int]:
    """The fold's own numbers."""
    found = {(key.unit, key.load): condition.spikes for key, condition in player.session.conditions.items()}
    assert sum(found.values()) > 0
    return found


def of_units(by_condition: dict[Condition, int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for (unit, _), n in by_condition.items():
        found[unit] = found.get(unit, 0) + n
    return found


def test_the_json_and_the_csv(name: str, by_condition: dict[Condition, int]) -> None:
    for command in ("replay", "decide"):
        rows = one_document(called(command, str(path_of(name)), "--json").stdout)["conditions"]
        assert {(row["unit"], row["load"]): row["spikes"]["n"] for row in rows} == by_condition
        assert {(row["unit"], row["load"]): row["spikes"]["as_they_came"] for row in rows} == by_condition
    rows = list(csv.DictReader(io.StringIO(called("replay", str(path_of(name)), "--format", "csv").stdout)))
    assert {(row["unit"], row["load"]): int(row["spikes.n"]) for row in rows} == by_condition


def test_the_screen(player: Player, by_condition: dict[Condition, int]) -> None:
    session = player.session
    request = ViewRequest(now_ns=player.position_ns, window_ns=60 * 10**9, spikes=True, log_lines=10_000)
    shown = view(session, request)
    active = {row.unit: row.spikes for row in shown.units.rows if row.n}
    assert active == {unit: n for (unit, load), n in by_condition.items() if load == session.load and unit in active}
    assert shown.spikes is not None
    assert shown.spikes.total == sum(by_condition.values())
    if shown.spikes.unit is not None:
        assert shown.spikes.n == by_condition[shown.spikes.unit, shown.spikes.load]
    assert dict(shown.logged.counts or ())["spike"] == sum(by_condition.values())
    lines: dict[str, int] = {}
    for line in shown.log:
        if line.kind == "spike":
            lines[line.unit] = lines.get(line.unit, 0) + line.n
    assert lines == {unit: n for unit, n in of_units(by_condition).items() if n}


def test_the_tables_and_the_report(player: Player, by_condition: dict[Condition, int]) -> None:
    session = player.session
    rows = statistics(session)
    expected = [str(by_condition[row.unit, row.load]) for row in rows]
    page = page_of([RecordingReport("r", session)])
    for blocks in ([*session_blocks(session)], [block for section in page.sections for block in section.blocks]):
        table = next(block for block in blocks if isinstance(block, Table) and "spikes" in block.heading)
        at = table.heading.index("spikes")
        assert [row[at] for row in table.rows] == expected
    section = spikes_section(session)
    assert section is not None
    (told,) = (block for block in section.blocks if isinstance(block, Items))
    said = [int(found.group(1)) for text in told.texts if (found := re.search(r": (\d+) spikes?,", text))]
    assert sorted(said) == sorted(n for n in by_condition.values() if n)


def test_a_selection_of_all_and_the_keyframes(player: Player, by_condition: dict[Condition, int]) -> None:
    reader = player.select(0, player.duration_ns)
    while not reader.done:
        reader.poll()
    assert {unit.unit: unit.spikes for unit in reader.units} == of_units(by_condition)
    header = player.session.header
    assert header is not None
    keyframe = player.session.keyframe(player.duration_ns, 0)
    again = Session.restored(header, keyframe)
    assert {(key.unit, key.load): each.spikes for key, each in again.conditions.items()} == by_condition
    assert again.log.counts["spike"] == sum(by_condition.values())


def test_going_from_spike_to_spike_passes_all_of_them(player: Player, by_condition: dict[Condition, int]) -> None:
    """A window of samples may hold several."""
    player.seek(0)
    moments = 0
    while player.next_spike(1) is not None:
        moments += 1
    assert 0 < moments <= sum(by_condition.values())
    assert sum(each.spikes for each in player.session.conditions.values()) == sum(by_condition.values())


def test_the_events_panel_says_how_many(player: Player, by_condition: dict[Condition, int]) -> None:
    lines = [line for line in view(player.session, ViewRequest(player.position_ns, 10**9)).log if line.kind == "spike"]
    counted = [int(found.group(1)) if (found := re.match(r"×(\d+) ", line.text)) else 1 for line in lines]
    assert sum(counted) == sum(by_condition.values())
