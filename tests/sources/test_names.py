"""A new power source, or a new backend, is one module and one line: all that names them reads one table."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from hettop.sources.engine.backends.simulated import SimulatedBackend
from hettop.sources.power.sample import PowerSample, make_sample
from hettop.sources.power.source import Availability, Machine
from tests.cli.running import plain_environment

WITH_BOTH = """
import sys
from hettop.sources.engine.names import BACKENDS, BackendEntry
from hettop.sources.power.names import SOURCES, SourceEntry
SOURCES["wattmeter"] = SourceEntry("tests.sources.test_names:Wattmeter", "a plug")
BACKENDS["abacus"] = BackendEntry("tests.sources.test_names:Abacus", "by hand")
from hettop.cli.main import run
sys.exit(run(sys.argv[1:]))
"""


class Wattmeter:
    """A source that any machine has."""

    name = "wattmeter"
    resolution_mj: float | None = None
    note = ""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine

    def granted_ns(self, asked_ns: int) -> int:
        return asked_ns

    def probe(self) -> Availability:
        return Availability(True)

    def samples(self, interval_ns: int) -> Iterator[PowerSample]:
        while True:
            yield make_sample(self.name, interval_ns, {"cpu": 1_000.0})

    def stop(self) -> None:
        pass


class Abacus(SimulatedBackend):
    """Runs anywhere."""


def run(*arguments: str, **variables: str) -> str:
    environment = plain_environment(**variables)
    argv = [sys.executable, "-c", WITH_BOTH, *arguments]
    done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout + done.stderr


def test_shells_complete_it_wherever_it_may_stand() -> None:
    script = run("completions", "bash")
    assert "accelerators wattmeter none'" in script  # --power
    assert "server abacus'" in script


@pytest.mark.parametrize(
    ("command", "words"),
    [("power", "wattmeter (a plug)"), ("bench", "accelerators, wattmeter, file:PATH"), ("bench", "abacus (by hand)")],
)
def test_the_help_of_a_command_names_it(command: str, words: str) -> None:
    assert words in " ".join(run(command, "--help").split())


def test_a_setting_may_name_it() -> None:
    environment = {"HETTOP_POWER": "wattmeter"}
    assert "wattmeter" in run("config", "--json", **environment)
    assert "wattmeter, none, best" in run("config", HETTOP_POWER="voltmeter")


def test_doctor_looks_at_it() -> None:
    document: dict[str, Any] = json.loads(run("doctor", "--json"))
    text = json.dumps(document)
    assert '"wattmeter"' in text
    assert "abacus: CPU_ONLY" in text


def test_it_gives_power() -> None:
    document = json.loads(run("power", "--source", "wattmeter", "--duration", "1s", "--json"))
    assert (document["source"], document["samples"][0]["mw"]["cpu"]) == ("wattmeter", 1_000.0)


def test_it_runs_a_model() -> None:
    options = ("--backend", "abacus", "--units", "CPU_ONLY", "--runs", "3", "--warmup", "0", "--json")
    assert "abacus" in run("bench", *options)
