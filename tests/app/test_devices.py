"""Core ML's devices are asked for in a process that may be lost."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hettop.app.devices import ASKER, ask_devices
from tests.cli.running import plain_environment


def saying(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


@pytest.mark.parametrize(
    ("code", "names", "why"),
    [
        ('print(\'["CPU", "GPU"]\')', ("CPU", "GPU"), ""),
        ("print('[]')", None, "this system does not tell"),
        ("print('coremltools says hello')", None, "the process that asked ended without an answer (status 0)"),
        ("import os; os.abort()", None, "the process that asked ended without an answer (status -6)"),
    ],
)
def test_the_answer_or_why_there_is_none(code: str, names: tuple[str, ...] | None, why: str) -> None:
    found = ask_devices(plain_environment(), saying(code))
    assert (found.names, found.why) == (names, why)


def test_a_framework_that_hangs_is_not_waited_for() -> None:
    found = ask_devices(plain_environment(), saying("import time; time.sleep(60)"), patience_s=0.2)
    assert (found.names, found.why) == (None, "Core ML did not answer within 0.2 s")


def test_what_cannot_be_started_is_said() -> None:
    assert ask_devices({}, ("/nowhere/python",)).why.startswith("no process could be started to ask")


@pytest.mark.parametrize("devices", [("cpu", "gpu", "ne"), ("cpu", "gpu")])
def test_coremltools_itself_is_asked(devices: tuple[str, ...], tmp_path: Path) -> None:
    pytest.importorskip("coremltools", reason="coremltools is not installed")
    from tests.coreml.bench import Bench

    environment = Bench(tmp_path).set(devices=devices).environment(plain_environment())
    words = {"cpu": "CPU", "gpu": "GPU", "ne": "Neural Engine"}
    assert ask_devices(environment, ASKER, patience_s=60).names == tuple(words[name] for name in devices)
