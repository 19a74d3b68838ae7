"""Core ML's devices are asked for in a process that may be lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from hettop.app.doctor import ASKER, ask_devices
from tests.cli.running import plain_environment
from tests.processes.workers import answering, failing, running


@pytest.mark.parametrize(
    ("argv", "names", "why"),
    [
        (answering(["CPU", "GPU"]), ("CPU", "GPU"), ""),
        (answering([]), None, "not reported by this system"),
        (failing("load", "no framework"), None, "no framework"),
        (running("print('coremltools says hello')"), None, "the Core ML query answered what makes no sense"),
        (running("import os; os.abort()"), None, "the Core ML query killed by SIGABRT"),
    ],
)
def test_the_answer_or_why_there_is_none(argv: list[str], names: tuple[str, ...] | None, why: str) -> None:
    found = ask_devices(plain_environment(), argv)
    assert (found.names, found.why) == (names, why)


def test_a_framework_that_hangs_is_not_waited_for() -> None:
    found = ask_devices(plain_environment(), running("import time; time.sleep(60)"), patience_s=0.2)
    assert (found.names, found.why) == (None, "the Core ML query did not answer within 0.2 s")


def test_what_cannot_be_started_is_said() -> None:
    assert ask_devices({}, ("/nowhere/python",)).why.startswith("no Core ML query could be started")


@pytest.mark.parametrize("devices", [("cpu", "gpu", "ne"), ("cpu", "gpu")])
def test_coremltools_itself_is_asked(devices: tuple[str, ...], tmp_path: Path) -> None:
    pytest.importorskip("coremltools", reason="coremltools is not installed")
    from tests.coreml.bench import Bench

    environment = Bench(tmp_path).set(devices=devices).environment(plain_environment())
    words = {"cpu": "CPU", "gpu": "GPU", "ne": "Neural Engine"}
    assert ask_devices(environment, ASKER, patience_s=60).names == tuple(words[name] for name in devices)
