"""Workers of a co-execution that die are reported in the log: once, in each run, and in a lone recording, too."""

from __future__ import annotations

import msgspec

from hettop.events import Header, Study
from hettop.session.log import in_words
from hettop.session.session import Session
from hettop.studies.coexec.result import CoexecResult
from tests.studies.coexecuted import DIED, WELL

S = 10**9
HEADER = Header(t=0, format="hettop", version=(1, 0), id="x")
LINE = "CPU_AND_NE left the co-execution: worker process killed by SIGKILL; 2 of its numbers were done by others"


def told(t: int, elapsed: int, found: CoexecResult | None, state: str = "running") -> Study:
    return Study(
        t=t * S,
        name="coexec",
        state=state,
        elapsed_ns=elapsed * S,
        found=None if found is None else found.line(),
        failures={} if found is None else found.failures(),
    )


def folded(*studies: Study) -> Session:
    session = Session(0)
    session.fold(HEADER)
    for study in studies:
        session.fold(study)
    return session


def log(session: Session) -> list[tuple[str, str]]:
    return [(line.level, line.text) for line in map(in_words, session.log)]


def test_a_death_is_an_error_when_it_is_first_known() -> None:
    session = folded(told(0, 0, None), told(1, 1, WELL), told(2, 2, DIED), told(3, 3, DIED))
    assert log(session) == [("error", LINE)]


def test_in_another_run_it_is_reported_again() -> None:
    again = (told(4, 0, None), told(5, 1, WELL), told(6, 2, DIED))
    session = folded(told(0, 0, None), told(1, 1, DIED), told(2, 2, None, "ended"), *again)
    assert [text for level, text in log(session) if level == "error"] == [LINE, LINE]
    assert ("info", "co-execution ended") in log(session)


def test_a_lone_recording_reports_it_with_its_end() -> None:
    assert log(folded(told(9, 9, DIED, "done"))) == [("error", LINE), ("info", "co-execution done")]


def test_a_session_that_goes_on_from_a_keyframe_does_not_report_it_again() -> None:
    before = folded(told(0, 0, None), told(1, 1, DIED))
    session = Session.restored(HEADER, before.keyframe(2 * S, 0))
    session.fold(told(3, 3, DIED))
    assert log(session) == [("error", LINE)]


def test_another_ones_death_is_another_line() -> None:
    cpu = msgspec.structs.replace(DIED.units[0], error="gone")
    both = msgspec.structs.replace(DIED, units=[cpu, DIED.units[1]])
    session = folded(told(1, 1, DIED), told(2, 2, both))
    assert [text for _, text in log(session)] == [LINE, "CPU_ONLY left the co-execution: gone"]
