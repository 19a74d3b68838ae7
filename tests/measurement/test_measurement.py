"""A measurement that cannot begin leaves nothing behind: no thread, no recording, no process."""

from __future__ import annotations

import threading
from pathlib import Path

import psutil
import pytest

from hettop.errors import HettopError
from hettop.measurement import measurement as module
from hettop.measurement.measurement import Measurement
from hettop.measurement.options import MeasureOptions, ModelOptions
from hettop.measurement.setup import prepare
from hettop.processes.reaper import Reaper
from hettop.sources.load.source import SimulatedLoad
from tests.processes.waiting import wait_for


def without_processes() -> Reaper:
    raise BlockingIOError(11, "Resource temporarily unavailable")


def without_load(self: object, parts: object) -> None:
    raise HettopError("crashed", "no process can be started")


@pytest.mark.parametrize(
    ("missing", "error"), [("reaper", BlockingIOError), ("load", HettopError)], ids=["no process", "no load"]
)
def test_it_leaves_nothing_behind(
    missing: str, error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    setup = prepare(ModelOptions(backend="simulated"), ("ALL",), 2)
    recording = tmp_path / "r.jsonl"
    earlier = b'{"k":"header","t":0,"format":"hettop","version":[1,0]}\n'
    recording.write_bytes(earlier)
    if missing == "reaper":
        monkeypatch.setattr(module, "Reaper", without_processes)
    else:
        monkeypatch.setattr(SimulatedLoad, "set", without_load)
    options = MeasureOptions(record=str(recording), force=True, load="cpu:1", power="simulated")
    threads, processes = set(threading.enumerate()), set(psutil.Process().children())
    with pytest.raises(error):
        Measurement(setup, options, rows=("ALL",), raw_limit=0)
    wait_for(lambda: set(threading.enumerate()) <= threads, "its threads have ended")
    wait_for(lambda: set(psutil.Process().children()) <= processes, "its processes have ended")
    assert recording.read_bytes() == earlier
