"""Operations of a Core AI model as its own profiler times them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hettop.errors import HettopError
from hettop.studies.layers.command import _backend
from hettop.studies.layers.core_ai import WORK_NOTE, measure_core_ai
from hettop.studies.layers.job import LayersJob, measure_in_child
from hettop.studies.layers.result import LayersResult
from tests.clocks import FakeClock
from tests.sources.engine.backends.aimodels import authored, files, needs_wheel
from tests.sources.engine.backends.fake_core_ai import Descriptor, FakeCoreAi
from tests.sources.engine.backends.test_coreai import new_backend

OPERATIONS = (
    ("Function Load", "load", 1, 900),
    ("call.Context.alloc", "load", 2, 900),
    ("call.NDArray.alloc_view", "inference", 3, 1_000_000),
    ("call.coreai.conv2d", "inference", 4, 3_000_000),
    ("Function Execute", "inference", 5, 9_000_000),
)


def measured(fake: FakeCoreAi, folder: Path) -> LayersResult:
    model = files(folder / "m.aimodel")
    job = LayersJob(model=model, unit="COREAI:cpu_only", warmup=1, runs=4, roofs=False, backend="coreai")
    return measure_core_ai(job, new_backend(fake), FakeClock())


def test_each_operation_is_a_row_and_nothing_else_is(tmp_path: Path) -> None:
    fake = FakeCoreAi(operations=OPERATIONS)
    found = measured(fake, tmp_path)
    assert [(row.name, row.op, row.ms, row.share) for row in found.layers] == [
        ("NDArray.alloc_view 3", "NDArray.alloc_view", 1.0, 0.25),
        ("coreai.conv2d 4", "coreai.conv2d", 3.0, 0.75),
    ]
    assert (found.total_ms, found.runs, found.estimated, found.shapes) == (4.0, 4, False, ["x 1x1"])
    assert WORK_NOTE in found.notes
    assert fake.calls == 2 * 5  # plain and profiled, warm-up included


def test_what_cannot_be_profiled_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(HettopError, match="reported no times"):
        measured(FakeCoreAi(), tmp_path)
    (tmp_path / "other").mkdir()
    with pytest.raises(HettopError, match="with a state"):
        measured(FakeCoreAi(operations=OPERATIONS, states={"s": Descriptor([1])}), tmp_path / "other")


def test_an_asset_is_profiled_by_core_ai_unless_another_backend_is_named() -> None:
    assert _backend(None, "m.aimodel") == "coreai"
    assert _backend("coreai", "m.aimodel") == "coreai"
    assert _backend(None, "m.onnx") == "onnxruntime"


@needs_wheel
def test_a_real_model_has_its_operations(tmp_path: Path) -> None:
    model = authored(tmp_path / "m.aimodel")
    job = LayersJob(model=model, unit="COREAI:cpu_only", warmup=2, runs=3, roofs=False, backend="coreai")
    found = measure_in_child(job)
    assert {"coreai.conv2d", "coreai.reduce_mean", "coreai.tanh"} <= {row.op for row in found.layers}
    assert sum(row.share for row in found.layers) == pytest.approx(1)
    assert all(row.ms > 0 for row in found.layers)
