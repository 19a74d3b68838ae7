"""What is said of the protocol that a session followed: its name, what was overridden, its figures."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from hettop.report.document import session_document
from hettop.report.notes import followed, protocol_document, protocol_notes
from hettop.session.session import Session
from hettop.session.statistics import statistics
from tests.report.sessions import session_table
from tests.streams import header, window

MS = 1_000_000
EMBENCH = {"name": "embench", "words": "10 + 50", "figures": ["min_ms"], "overridden": {"runs": 3, "rest_ns": MS}}


def session_of(protocol: object, latencies_ms: list[float]) -> Session:
    session = Session()
    session.fold(msgspec.structs.replace(header(), settings={"protocol": protocol}))
    session.fold(window([round(ms * MS) for ms in latencies_ms]))
    return session


def test_the_table_names_the_protocol_what_was_overridden_and_its_figure() -> None:
    table = session_table(session_of(EMBENCH, [3, 2, 5]), 200)
    assert "protocol embench (10 + 50), overridden by --runs 3, --rest 0.001s" in table
    assert "results by embench: CPU_ONLY minimum 2.00 ms" in table


def test_json_has_the_same_for_programs() -> None:
    document = session_document(session_of(EMBENCH, [3, 2, 5]))
    assert document["protocol"] == {
        "name": "embench",
        "figures": ["min_ms"],
        "overridden": {"runs": 3, "rest_ns": MS},
        "results": [{"unit": "CPU_ONLY", "load": "none", "n": 3, "min_ms": 2.0}],
    }


def test_without_a_protocol_nothing_is_said() -> None:
    session = session_of(None, [3, 2, 5])
    assert protocol_notes(session, statistics(session)) == []
    assert "protocol" not in session_document(session)
    assert "protocol" not in session_table(session, 200)


def test_early_stopping_leaves_out_fewer_samples_than_the_percentile() -> None:
    # Of 100 samples three could be over the limit at 99% confidence: the estimate is the 98th of 1 .. 100 ms.
    session = session_of(
        {"name": "mlperf", "figures": ["p90_ms", "p90_early_stopping_ms"]}, [37 * k % 101 for k in range(1, 101)]
    )
    found = protocol_document(session, statistics(session))
    assert found is not None
    (result,) = found["results"]
    assert result["p90_ms"] == pytest.approx(90.1)
    assert result["p90_early_stopping_ms"] == 98.0


def test_below_64_samples_early_stopping_gives_no_figure() -> None:
    session = session_of({"name": "mlperf", "figures": ["p90_early_stopping_ms"]}, [1.0] * 63)
    assert "P90 by early stopping n/a ms" in " ".join(protocol_notes(session, statistics(session)))


def test_what_a_file_says_of_a_protocol_is_taken_for_what_it_is() -> None:
    odd: list[Any] = [7, [], {"name": 3}, {"name": "x\x1b[2Jy", "figures": ["unit", 5], "overridden": [1]}]
    notes = [protocol_notes(session_of(each, [1.0]), []) for each in odd]
    assert notes[:3] == [[], [], []]
    assert "\x1b" not in "".join(notes[3])
    protocol = followed(session_of(odd[3], [1.0]))
    assert protocol is not None
    assert (protocol.figures, protocol.overridden) == ((), {})
