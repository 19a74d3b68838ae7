"""The contention matrix in words."""

from __future__ import annotations

from hettop.report.conditions import conditions_blocks, conditions_document
from hettop.report.terminal.blocks import block_text
from hettop.session.session import Session
from hettop.session.views.session_view import view
from hettop.session.views.structs import ViewRequest
from tests.analysis.material import session_of, stream_of
from tests.report.sessions import failure, widest
from tests.session.test_canary import control, report, running
from tests.session.test_canary import session_of as canary_session
from tests.streams import MS, S, window


def conditions_text(session: Session, failed_loads: dict[str, str], width: int) -> str:
    return block_text(list(conditions_blocks(session, failed_loads)), width)


def test_the_matrix_has_units_as_rows_and_loads_as_columns() -> None:
    session = session_of(
        stream_of({"CPU_ONLY": [2.0] * 70, "ALL": [1.0] * 70}),
        stream_of({"CPU_ONLY": [3.0] * 70}, load="cpu:1", t0=10**10),
        [failure("CPU_AND_NE", "not here")],
    )
    text = conditions_text(session, {"gpu:1": "no such load"}, 120)
    lines = text.splitlines()
    assert lines[0].split() == ["P90", "in", "ms", "none", "cpu:1"]
    assert lines[1].split() == ["CPU_ONLY", "2.00", "3.00", "(+50%)"]
    assert lines[2].split() == ["ALL", "1.00", "n/a"]
    assert ["CPU_ONLY", "cpu:1", "2.00", "3.00", "+50%", "33%"] in [line.split() for line in lines]
    assert "CPU_AND_NE: not here" in text
    assert "load gpu:1: no such load" in text
    assert widest(lines) <= 120
    document = conditions_document(session)
    assert [cell["change"].get("p90_ms") for cell in document["matrix"]] == [None, 0.5, None]
    assert document["estimation_error"][0]["unit"] == "CPU_ONLY"


def test_nothing_measured_is_said() -> None:
    assert conditions_text(session_of([]), {}, 80).startswith("! nothing was measured")


def test_frames_missed_are_said_of_how_many_there_were() -> None:
    session = canary_session(control(0, "A"), running("A", 0), window([MS] * 70, unit="A", t0=S), report(2 * S, 3))
    text = conditions_text(session, {}, 160)
    assert "3 of 60" in text
    (cell,) = conditions_document(session)["matrix"]
    assert (cell["canary_missed"], cell["canary_due"]) == (3, 60)
    (row,) = view(session, ViewRequest(now_ns=2 * S, window_ns=10 * S)).units.rows
    assert "a 60 Hz screen would have missed 3 of 60 frames (5.0%) under this load" in row.details
