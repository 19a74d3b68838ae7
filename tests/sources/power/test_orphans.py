"""No process is left, however hettop ends: it is killed while its sources run."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes.waiting import environment, gone, wait_for

PARENT = """
import sys, time
from dataclasses import replace
from hettop.processes.reaper import Reaper
from hettop.sources.power.choice import Choice
from hettop.sources.power.feed import PowerFeed
from hettop.sources.power.macmon import MacmonSource
from hettop.sources.power.powermetrics import PowermetricsSource
from tests.sources.power.machines import mac

way, pids = sys.argv[1:]
program, mode = way.split()
machine = replace(mac(**{program: mode, "pids": pids, "interval": "0.02"}).machine, guard=Reaper)
source = {"macmon": MacmonSource, "powermetrics": PowermetricsSource}[program](machine)
feed = PowerFeed(lambda known: Choice(source))
while not any(hasattr(event, "mw") for event in feed.drain(1)):
    time.sleep(0.01)
print("measuring", flush=True)
time.sleep(3600)
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize(
    "way", ["powermetrics steady", "powermetrics chatty", "macmon new", "macmon stuck", "macmon deaf"]
)
def test_killing_hettop_ends_what_measures(way: str, end: signal.Signals, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    command = [sys.executable, "-c", PARENT, way, str(pids)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(), text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "measuring\n"
        started = [int(pid) for pid in pids.read_text().split()]
        assert len(started) == (2 if way.startswith("powermetrics") else 1)
        assert not gone(started)
        parent.send_signal(end)
        wait_for(lambda: gone(started), "they end")
