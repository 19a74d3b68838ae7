"""Two calls of one unit of Core ML at once: two processes, for a call holds Python's lock from its begin to its end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import hettop_process, one_document
from tests.coreml.bench import Bench
from tests.processes.waiting import REPOSITORY

pytestmark = pytest.mark.slow


def test_a_unit_that_is_named_twice_has_both_its_calls_served_by_core_ml(
    bench: Bench, package: Path, tmp_path: Path
) -> None:
    bench.behave("CPU_AND_NE", latency_ms=5)
    environment: dict[str, Any] = bench.environment(
        {"PYTHONPATH": str(REPOSITORY), "XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)}
    )
    units = ("--backend", "coreml", "--units", "CPU_AND_NE,CPU_AND_NE", "--duration", "2s")
    done = hettop_process("coexec", str(package), *units, "--json", **environment)
    assert done.returncode == 0, done.stderr
    document = one_document(done.stdout)
    assert [unit["unit"] for unit in document["units"]] == ["CPU_AND_NE", "CPU_AND_NE#2"]
    assert all(unit["error"] is None and unit["together_calls"] > 0 for unit in document["units"])
    assert document["gain"] > 0.2, "the stand-in sleeps: two of its calls do not hinder each other"
    assert document["in_order"] is True


def test_a_worker_that_loads_without_the_neural_engine_says_so(bench: Bench, package: Path, tmp_path: Path) -> None:
    bench.behave("CPU_AND_NE", log_at_load=["MILCompilerForANE error: refused", *["more"] * 100])
    environment: dict[str, Any] = bench.environment(
        {"PYTHONPATH": str(REPOSITORY), "XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)}
    )
    units = ("--backend", "coreml", "--units", "CPU_ONLY,CPU_AND_NE", "--duration", "2s")
    done = hettop_process("coexec", str(package), *units, "--json", **environment)
    assert done.returncode == 0, done.stderr
    notes = {unit["unit"]: unit["note"] for unit in one_document(done.stdout)["units"]}
    assert notes["CPU_AND_NE"].startswith("the Neural Engine's compiler failed")
    assert "compiler failed" not in (notes["CPU_ONLY"] or "")
