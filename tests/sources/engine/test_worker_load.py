"""An engine process runs the file that the session names, or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.models.content import content_sha256
from hettop.processes.interruptions import Interruptions
from hettop.sources.engine.backend import Loaded, LoadOptions
from hettop.sources.engine.job import EngineJob, Limits, RunMode, WorkerState
from hettop.sources.engine.worker import _load, _measure
from tests.sources.engine.fakes import ListedOut
from tests.sources.engine.faulty import FaultyBackend as Faulty


def loaded(file: Path, sha256: str | None, backend: Faulty) -> Loaded:
    job = EngineJob(backend="", model=str(file), sha256=sha256)
    return _load(backend, job, "ALL", LoadOptions())


class Whatever(Faulty):
    """Loads any file, or fails as a framework does."""

    def __init__(self, error: Exception | None = None) -> None:
        self._error = error

    def load(self, model: str, unit: str, options: LoadOptions) -> Loaded:
        if self._error is not None:
            raise self._error
        return Loaded(unit, None, 5, (), ())


def test_a_file_that_was_replaced_is_the_reason_why_it_cannot_be_loaded(tmp_path: Path) -> None:
    file = tmp_path / "m.onnx"
    file.write_bytes(b"the model that was named")
    sha256 = content_sha256(file)
    assert loaded(file, sha256, Whatever()).requested == "ALL"
    file.write_bytes(b"another")
    with pytest.raises(HettopError, match=r"m\.onnx: the file changed since hettop read it"):
        loaded(file, sha256, Whatever(RuntimeError("not a model")))
    with pytest.raises(RuntimeError):
        loaded(file, None, Whatever(RuntimeError("not a model")))


def test_a_file_that_was_replaced_and_can_be_loaded_is_not_measured(tmp_path: Path) -> None:
    """It is checked after the first call, whose time it would otherwise be a part of."""
    file = tmp_path / "m.onnx"
    file.write_bytes(b"another")
    job = EngineJob(backend="simulated", model=str(file), unit="CPU_ONLY", sha256="0" * 64, input_sets=0)
    out = ListedOut()
    interruptions = Interruptions(lambda: False, lambda: 0)
    with pytest.raises(HettopError, match="the file changed since hettop read it"):
        _measure(job, WorkerState(RunMode.RUN, Limits(runs=5), "none"), out, interruptions)  # type: ignore[arg-type]
    assert [frame.phase for frame in out.samples] == ["first"]
