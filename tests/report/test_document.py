"""The JSON document: its keys, and that what is unknown is null."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hettop import __version__, events
from hettop.report.document import session_document, to_json
from hettop.session.session import Session
from tests.report.sessions import failure, four_units, session_of
from tests.streams import MS, window

# The contract with programs that read it: fields may be added, none may go or change.
STATISTICS = {
    *("unit", "load", "thermal", "backend", "placed", "simulated", "n", "exact"),
    *("mean_ms", "std_ms", "min_ms", "p50_ms", "p90_ms", "p99_ms", "p999_ms", "max_ms", "p90_ci_ms"),
    *(
        "p90_effective_n",
        "p90_early_stopping_ms",
        "p90_needs",
        "p99_needs",
        "throughput_per_s",
        "tokens_per_call",
        "tokens_per_s",
        "spikes",
        "spike_causes",
        "modes",
        "modes_tentative",
        "drift",
        "steady_from",
    ),
    *("compile_ms", "cached", "load_ms", "first_ms", "warmup_ms", "warmup_steady"),
    *("native_mean_ms", "native_p90_ms", "binding_overhead_ms"),
    *("deadline_misses", "response_p50_ms", "response_p90_ms", "idle_gap", "variant", "model"),
    *("energy_mj_per_inference", "energy_net_mj_per_inference", "energy_coverage", "energy_by_rail_mj"),
    *("energy_rails", "energy_uncertainty", "energy_ci_mj", "energy_windows", "inferences_per_joule", "power_mean_mw"),
    *(
        "canary_missed",
        "canary_due",
        "output_difference",
        "output_top1",
        "output_top5",
        "output_not_finite",
        "output_reference",
    ),
    *("energy_reason", "evidence", "plan_reason"),
    *("plan", "provider_nodes", "peak_memory_mb", "qos", "error"),
}
ALWAYS_KNOWN = {"unit", "load", "simulated", "n", "warmup_ms", "error", "backend", "p90_needs", "p99_needs"}


def document_of(session: Session, skipped: dict[str, int] | None = None) -> dict[str, Any]:
    """The document as a program reads it that accepts JSON and nothing else."""

    def refuse(constant: str) -> None:
        pytest.fail(f"{constant} is not JSON")

    found: dict[str, Any] = json.loads(to_json(session_document(session, skipped)), parse_constant=refuse)
    return found


def test_it_has_the_promised_keys() -> None:
    document = document_of(four_units())
    assert set(document) == {"schema", "hettop", "simulated", "host", "model", "power", "conditions"}
    assert document["schema"] == "hettop.bench/1"
    assert document["hettop"] == __version__
    assert document["simulated"] is True
    assert document["model"]["name"] == "Test model"
    assert document["host"]["chip"] == "Test chip"
    assert document["host"]["power_mode"] is None
    assert [row["unit"] for row in document["conditions"]] == ["CPU_ONLY", "CPU_AND_GPU", "CPU_AND_NE", "ALL"]
    assert all(set(row) == STATISTICS for row in document["conditions"])


def test_a_replay_says_what_it_skipped_even_if_that_is_nothing() -> None:
    assert document_of(four_units(), {})["skipped"] == {}
    assert document_of(four_units(), {"bad-line": 3})["skipped"] == {"bad-line": 3}


def test_the_numbers_are_those_of_the_samples() -> None:
    late = [0] * 98 + [MS, 9 * MS]
    session = session_of(
        events.Control(t=0, action="start", rate_hz=100.0),
        events.Engine(t=0, unit="CPU_ONLY", state="running", load_ns=45 * MS, first_ns=20 * MS, peak_memory_mb=81.5),
        window([7 * MS, 6 * MS], phase="warmup"),
        window([2 * MS] * 99 + [12 * MS], t0=20 * MS, gap=8 * MS, late=late, native=[MS] * 100),
    )
    (row,) = document_of(session)["conditions"]
    assert (row["n"], row["min_ms"], row["p50_ms"], row["max_ms"]) == (100, 2.0, 2.0, 12.0)
    assert row["mean_ms"] == pytest.approx(2.1)
    assert row["std_ms"] == pytest.approx(0.99**0.5)
    assert (row["load_ms"], row["first_ms"], row["warmup_ms"]) == (45.0, 20.0, [7.0, 6.0])
    assert (row["native_mean_ms"], row["peak_memory_mb"]) == (1.0, 81.5)
    assert row["deadline_misses"] == {"n": 1, "limit_ms": 10.0, "unfinished": None}
    assert row["spikes"]["n"] == 1
    # From the end of the warm-up, 6.999 ms before the first start: 100 latencies and 99 pauses of 8 ms.
    assert row["throughput_per_s"] == pytest.approx(100 / (0.006999 + 0.210 + 0.792))
    assert row["exact"] is True
    assert row["error"] is None


def test_a_percentile_with_too_few_samples_is_null_and_says_what_it_needs() -> None:
    (row,) = document_of(session_of(window([MS] * 63)))["conditions"]
    assert (row["p99_ms"], row["p999_ms"], row["p99_needs"], row["p90_needs"]) == (None, None, 662, 64)
    assert row["p90_ms"] == 1.0
    (row,) = document_of(session_of(window([MS] * 662)))["conditions"]
    assert (row["p99_ms"], row["p99_needs"], row["p90_needs"], row["p999_ms"]) == (1.0, None, None, None)


def test_a_unit_that_could_not_be_measured_has_an_error_and_nothing_but_nulls() -> None:
    (row,) = document_of(session_of(failure("ALL", "killed by SIGKILL", "free some memory")))["conditions"]
    assert row["n"] == 0
    assert row["error"] == {"kind": "crashed", "message": "killed by SIGKILL", "hint": "free some memory"}
    assert {name for name, value in row.items() if value is not None} == ALWAYS_KNOWN


def test_what_no_source_reports_is_null_beside_samples_too() -> None:
    (row,) = document_of(session_of(window([MS] * 5)))["conditions"]
    for name in ("energy_mj_per_inference", "energy_coverage", "canary_missed", "output_difference", "peak_memory_mb"):
        assert row[name] is None
    for name in ("native_mean_ms", "deadline_misses", "response_p50_ms", "drift", "load_ms", "first_ms", "placed"):
        assert row[name] is None
