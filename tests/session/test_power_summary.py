"""What came of power in a session, in a line: why there is none, and what repairs that."""

from __future__ import annotations

import pytest

from hettop import events
from hettop.session.power_summary import power_summary
from tests.report.sessions import session_of
from tests.streams import MS, S, window

ROOT_ONLY = "macOS reports power to root only"


def status(state: str, reason: str = "", fix: str = "", source: str = "none") -> events.PowerStatus:
    return events.PowerStatus(t=0, source=source, state=state, reason=reason, fix=fix)


@pytest.mark.parametrize(
    ("told", "line"),
    [
        (None, "power n/a: none was recorded"),
        (
            status("unavailable", ROOT_ONLY, "run sudo -v in this terminal"),
            "power n/a: macOS reports power to root only; run sudo -v in this terminal",
        ),
        (status("stopped", "disabled (--power none)"), "power n/a: disabled (--power none)"),
        (status("running", "a note", source="rapl"), "power n/a: rapl reported no sample before the end"),
        (status("expired", "power access expired", source="powermetrics"), "power n/a: power access expired"),
        (status("failed", source="macmon"), "power n/a: macmon failed"),
    ],
)
def test_why_there_is_none_and_what_repairs_it(told: events.PowerStatus | None, line: str) -> None:
    session = session_of(window([MS] * 30), *([told] if told is not None else []))
    assert power_summary(session).line == line
    assert power_summary(session).coverage is None


def test_with_power_there_is_no_reason_and_a_coverage() -> None:
    power = events.Power(t=2 * S, source="rapl", elapsed_ns=S, mw={"package": 5000.0})
    session = session_of(status("running", "a note", source="rapl"), window([10 * MS] * 400, gap=0), power)
    summary = power_summary(session)
    assert (summary.source, summary.state, summary.reason, summary.capture) == ("rapl", "running", None, False)
    assert summary.coverage == pytest.approx(0.25)  # 1 of 4 s


def test_a_source_that_was_lost_in_the_middle_says_so() -> None:
    power = events.Power(t=2 * S, source="rapl", elapsed_ns=S, mw={"package": 5000.0})
    session = session_of(window([10 * MS] * 400), power, status("failed", "it stalled", source="rapl"))
    assert power_summary(session).line == "power n/a: it stalled"
