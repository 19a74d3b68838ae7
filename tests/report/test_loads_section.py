"""The section on competing load: changes against no load, and what an offline estimate is worth."""

from __future__ import annotations

from hettop.report.conditions import loads_section
from hettop.report.page import Table
from hettop.session.session import Session
from hettop.session.statistics import Statistics, statistics
from tests.streams import MS, S, header, window


def rows_of(*loads: tuple[str, int]) -> list[Statistics]:
    session = Session()
    session.fold(header())
    for i, (load, latency_ms) in enumerate(loads):
        session.fold(window([latency_ms * MS] * 100, t0=i * 10 * S, load=load))
    return statistics(session)


def test_each_load_is_a_column_with_its_change_and_the_estimate_is_judged_by_both_definitions() -> None:
    section = loads_section(rows_of(("none", 4), ("cpu:2", 10)))
    assert section is not None
    matrix, errors = (block for block in section.blocks if isinstance(block, Table))
    assert matrix.heading == ("P90 in ms", "none", "cpu:2")
    assert matrix.rows == [("CPU_ONLY", "4.00", "10.0 (+150%)")]
    # offline 4 ms, runtime 10 ms: (10 - 4) / 4 = 150%, |4 - 10| / 10 = 60%
    assert errors.rows == [("CPU_ONLY", "cpu:2", "4.00", "10.0", "+150%", "60%")]


def test_one_load_needs_no_section() -> None:
    assert loads_section(rows_of(("cpu:2", 10))) is None
    assert loads_section([]) is None


def test_without_a_measurement_on_the_idle_machine_it_says_so() -> None:
    section = loads_section(rows_of(("cpu:1", 4), ("cpu:2", 10)))
    assert section is not None
    assert any("changes are unknown" in getattr(block, "text", "") for block in section.blocks)
    assert len([block for block in section.blocks if isinstance(block, Table)]) == 1
