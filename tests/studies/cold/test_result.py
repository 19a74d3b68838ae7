"""What a study of start-up found, as a document and as a line of a recording."""

from __future__ import annotations

import msgspec
import pytest

from hettop import events
from hettop.events import Study
from hettop.studies.cold.result import MOST_PAIRS, MOST_ROWS, MOST_STARTS, ColdResult
from hettop.studies.registry import read_document, result_of
from tests.studies import started

LINE = 16_384
EVERY = [started.WELL, started.CACHED, started.IN_SIMULATION, started.UNSTEADY, started.ALL_FAILED, started.NOTHING]


def study(found: ColdResult) -> Study:
    return Study(t=1, name="cold", state="done", elapsed_ns=1, found=found.line())


@pytest.mark.parametrize("found", EVERY)
def test_a_document_and_a_line_are_read_as_they_were_written(found: ColdResult) -> None:
    document = msgspec.json.decode(msgspec.json.encode({"hettop": "1", "model": {}, **found.document()}))
    assert read_document("cold", document) == found
    line = events.decode(events.encode(study(found)))
    assert isinstance(line, Study)
    again = result_of(line)
    assert isinstance(again, ColdResult)
    assert [row.ready_ms for row in again.rows] == [row.ready_ms for row in found.rows]
    assert again.break_even == found.break_even
    assert again.failures() == found.failures()


def test_a_line_leaves_out_the_log_of_a_failure() -> None:
    again = result_of(study(started.ALL_FAILED))
    assert isinstance(again, ColdResult)
    error = again.rows[0].error
    assert error is not None
    assert (error.kind, error.message, error.hint) == (started.KILLED.kind, started.KILLED.message, started.KILLED.hint)
    assert error.log == []


def test_a_line_is_short_however_much_was_found() -> None:
    line = events.encode(study(started.FULL))
    assert len(line) < LINE
    again = result_of(study(started.FULL))
    assert isinstance(again, ColdResult)
    assert (len(again.rows), len(again.break_even), again.rest_n) == (MOST_ROWS, MOST_PAIRS, 39 - MOST_ROWS)
    assert {len(row.ready_each_ms) for row in again.rows} == {MOST_STARTS}
    assert again.rows[0].ready_each_ms[0] == 1_234.57


def test_a_result_of_another_study_is_none_of_start_up() -> None:
    assert result_of(Study(t=1, name="cold", state="done", elapsed_ns=1, found={"of": "sweep"})) is None
    assert result_of(Study(t=1, name="cold", state="done", elapsed_ns=1, found={"of": "cold", "rows": 5})) is None
