"""Core ML as a user has it, over a stand-in for its native part: loads, switches, a hang, a crash, wrong answers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.coreml.bench import Bench
from tests.end_to_end.terminal import Terminal
from tests.processes.waiting import gone, wait_for

pytestmark = pytest.mark.slow


def _runs(terminal: Terminal, unit: str) -> None:
    row = re.compile(rf"▶[ !]{unit}[ ‹] +[1-9][\d,.kM]* +[\d.]+ +[\d.]+ ")
    terminal.until_so(lambda shown: row.search(shown) is not None, f"{unit} runs")


def test_a_walk_through_all_units_of_a_mac(tmp_path: Path) -> None:
    pytest.importorskip("coremltools", reason="coremltools is not installed")
    from tests.coreml.models import linear

    package = linear(tmp_path / "linear.mlpackage")
    bench = Bench(tmp_path).behave("CPU_ONLY", latency_ms=5, native_ns=1_000_000)
    bench.behave("CPU_AND_GPU", latency_ms=5, hang_in_predict=True, at_call=40)
    bench.behave("CPU_AND_NE", die_in_predict="SIGSEGV").behave("ALL", latency_ms=5, wrong=True)
    environment = bench.environment({"XDG_CACHE_HOME": str(tmp_path / "cache")})
    arguments = [str(package), "--backend", "coreml", "--unit", "CPU_ONLY", "--power", "none"]
    with Terminal(tmp_path, arguments, environment=environment) as terminal:
        terminal.until("LIVE", "linear.mlpackage")
        _runs(terminal, "CPU_ONLY")
        terminal.press("c")
        terminal.until("✗ CPU_AND_GPU", "hung running")
        bench.behave("CPU_AND_GPU", latency_ms=5)
        terminal.press("R")
        _runs(terminal, "CPU_AND_GPU")
        terminal.press("c")
        terminal.until("✗ CPU_AND_NE", "SIGSEGV")
        terminal.press("c")
        terminal.until("!ALL", "✗ CPU_AND_NE")  # whose row stays
        family = terminal.family()
        terminal.press("q")
        terminal.assert_left(0)
        wait_for(lambda: gone(family), "all processes end")
