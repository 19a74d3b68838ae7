"""What commands that measure without a screen say of power and of turns."""

from __future__ import annotations

import json

import pytest

from hettop.console.measuring import MORE_RUNS, print_turns_problem
from hettop.measurement.headless import Turns
from tests.cli.running import called, hettop
from tests.sources.engine.backends.test_onnx_core_ml import MAC

MS = 1_000_000
SIMULATED = ("bench", "--backend", "simulated", "--units", "CPU_ONLY,CPU_AND_NE", "--warmup", "0")


@pytest.mark.parametrize(
    ("turns", "words"),
    [
        (None, ""),
        (Turns("ALL", 3, 2_000 * MS, by_power=True), ""),
        (Turns("ALL", 3, 250 * MS, by_power=False), ""),
        (
            Turns("ALL", 2, 2_000 * MS, by_power=True),
            "warning: few turns, so drift may confound the comparison: ALL had 2 turns of at most 2 s\n"
            "hint: use --duration 8s, or --power none for shorter turns\n",
        ),
        (
            Turns("ALL", 1, 250 * MS, by_power=False),
            "warning: few turns, so drift may confound the comparison: ALL had 1 turn of at most 0.25 s\n"
            "hint: use --duration 1s\n",
        ),
    ],
)
def test_units_that_had_too_few_turns_are_said_to_have(
    turns: Turns | None, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_turns_problem(turns)
    assert capsys.readouterr().err == words


def test_what_repairs_it_is_what_the_command_takes(capsys: pytest.CaptureFixture[str]) -> None:
    print_turns_problem(Turns("ALL", 1, 2_000 * MS, by_power=True), MORE_RUNS)
    assert "hint: use more --runs, or --power none" in capsys.readouterr().err


def test_power_that_was_named_and_came_too_seldom_is_said_to_have() -> None:
    done = hettop(*SIMULATED, "--runs", "50", "--power", "simulated", "--interleave")
    too_few, hardly, _ = done.stderr.splitlines()
    assert too_few == (
        "warning: --power simulated: insufficient power samples of CPU_ONLY, CPU_AND_NE: "
        "measure longer with --duration 10s"
    )
    assert hardly.startswith(
        "warning: few turns, so drift may confound the comparison: CPU_ONLY had 1 turn of at most 2 s"
    )
    assert "mJ/inf n/a of CPU_ONLY: no power sample lies entirely within its running" in done.stdout


def test_where_power_covers_what_ran_nothing_is_said() -> None:
    done = hettop(*SIMULATED, "--duration", "1500ms", "--power", "simulated", "--json")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "command",
    [
        "bench --runs 5 --warmup 2",
        "decide --runs 5",
        "sweep --loads none --runs 5 --rest 0",
        "sweep --batch 1 --runs 5",
    ],
)
def test_a_mac_without_core_ml_is_warned_of_once_in_every_command_that_would_use_it(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hettop.sources.engine.backends.coreml.this_host", lambda: MAC)
    monkeypatch.setattr("hettop.sources.engine.backends.coreml.find_native", lambda: None)
    name, *options = command.split()
    done = called(name, "mobilenetv2:32x32", "--units", "CPU_ONLY", *options, "--json")
    assert done.returncode == 0
    warning = "ONNX Runtime runs this model instead of Core ML: Core ML needs coremltools: pip install coremltools"
    assert done.stderr.splitlines().count(f"warning: {warning}") == 1
    document = json.loads(done.stdout)
    if name in ("bench", "decide"):
        assert warning in document["host"]["warnings"]


def test_without_a_terminal_the_live_view_warns_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hettop.sources.engine.backends.coreml.this_host", lambda: MAC)
    monkeypatch.setattr("hettop.sources.engine.backends.coreml.find_native", lambda: True)
    monkeypatch.setattr("hettop.cli.live.HEADLESS_NS", 10**8)
    done = called("mobilenetv2:32x32", "--unit", "CPU_ONLY@2")
    assert done.returncode == 0
    assert (
        "warning: ONNX Runtime runs this model instead of Core ML: CPU_ONLY@2 sets a number of threads" in done.stderr
    )
